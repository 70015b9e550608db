"""Describe tokens for the conditional random field."""

from app.engines.extraction.analysis import Analysis
from app.engines.extraction.layout import Token


def describe_tokens(analysis: Analysis) -> list[list[str]]:
    """Return the attributes of each token, in a fixed order."""
    own = [_describe_token(token) for token in analysis.tokens]
    types = _find_types(analysis)
    described = []
    rows = len(analysis.layout.rows)
    for number, (first, last) in enumerate(analysis.layout.rows):
        row_words = _describe_row(analysis, first, last)
        above = _describe_above(analysis, number)
        for index in range(first, last + 1):
            token = analysis.tokens[index]
            attributes = ["bias", *own[index], *row_words, *above]
            attributes += _describe_place(analysis, index, number, rows)
            attributes += [f"t={types[index]}", f"k={analysis.keywords.concepts[index]}"]
            for step in (-2, -1, 1, 2):
                other = index + step
                if not 0 <= other < len(own):
                    attributes.append(f"{step}end")
                    continue
                near = analysis.tokens[other].row == token.row
                side = f"{step}" if near else f"{step}r"
                attributes += [f"{side}{own[other][0]}", f"{side}{own[other][1]}"]
                attributes += [
                    f"{side}t={types[other]}",
                    f"{side}k={analysis.keywords.concepts[other]}",
                ]
            described.append(attributes)
    return described


def _describe_token(token: Token) -> list[str]:
    text, word = token.text, token.compact
    digits = "".join("0" if char.isdigit() else char for char in word)
    return [
        f"w={digits}",
        f"s={_build_shape(text)}",
        f"p2={digits[:2]}",
        f"p3={digits[:3]}",
        f"x2={digits[-2:]}",
        f"x3={digits[-3:]}",
        f"e={text[-1:] if not text[-1:].isalnum() else ''}",
        f"n={min(len(text), 12)}",
    ]


def _build_shape(text: str) -> str:
    shape: list[str] = []
    for char in text[:24]:
        mark = "9" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else char
        if len(shape) < 2 or mark != shape[-1] or mark != shape[-2]:  # noqa: PLR2004 - two alike at most
            shape.append(mark)
    return "".join(shape)


def _find_types(analysis: Analysis) -> list[str]:
    types = ["-"] * len(analysis.tokens)
    for typed in analysis.amounts:
        kind = "cents" if "." in typed.value else "int"
        types[typed.first : typed.last + 1] = [kind] * (typed.last + 1 - typed.first)
    for kind, found in (("time", analysis.times), ("date", analysis.dates)):
        for typed in found:
            types[typed.first : typed.last + 1] = [kind] * (typed.last + 1 - typed.first)
    largest = max((float(a.value) for a in analysis.amounts if "." in a.value), default=0.0)
    for typed in analysis.amounts:
        if "." in typed.value and float(typed.value) == largest:
            types[typed.first : typed.last + 1] = ["max"] * (typed.last + 1 - typed.first)
    for index in analysis.currencies:
        types[index] = "sign"
    return types


def _describe_row(analysis: Analysis, first: int, last: int) -> list[str]:
    words = [token.compact for token in analysis.tokens[first : last + 1]]
    kept = [word for word in words if word and not word.isdigit()][:6]
    concepts = sorted({c for c in analysis.keywords.concepts[first : last + 1] if c})
    return [f"r={word}" for word in kept] + [f"rk={concept}" for concept in concepts]


def _describe_above(analysis: Analysis, row: int) -> list[str]:
    attributes = []
    for step in (-1, 1):
        other = row + step
        if not 0 <= other < len(analysis.layout.rows):
            attributes.append(f"{step}edge")
            continue
        first, last = analysis.layout.rows[other]
        concepts = sorted({c for c in analysis.keywords.concepts[first : last + 1] if c})
        attributes.append(f"{step}w={analysis.tokens[first].compact}")
        attributes += [f"{step}rk={concept}" for concept in concepts]
    return attributes


def _describe_place(analysis: Analysis, index: int, row: int, rows: int) -> list[str]:
    token = analysis.tokens[index]
    first, last = analysis.layout.rows[row]
    segment = analysis.layout.segments[token.segment]
    tall = (token.box[3] - token.box[1]) / analysis.layout.height
    return [
        f"row={min(row, 12)}",
        f"up={min(rows - row, 8)}",
        f"y={int(10 * row / rows)}",
        f"x={int(5 * token.box[0])}",
        f"h={min(int(2 * tall), 6)}",
        f"at={min(index - first, 4)}",
        f"left={min(last - index, 4)}",
        f"seg={int(index == segment.first)}{int(index == segment.last)}",
        f"page={min(token.page, 3)}",
        f"row={min(row, 12)} at={min(index - first, 2)}",
    ]
