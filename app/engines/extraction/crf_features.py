"""Build the attributes that describe tokens for the conditional random field."""

from app.engines.extraction.analysis import Analysis
from app.engines.extraction.layout import Token


def list_token_attributes(analysis: Analysis) -> list[list[str]]:
    """Return a list of crfsuite attributes for each token, such as "w=total" or "row=3"."""
    word_attributes = [_list_word_attributes(token) for token in analysis.tokens]
    types = _find_token_types(analysis)
    attribute_lists = []
    row_count = len(analysis.layout.rows)
    for row, (first, last) in enumerate(analysis.layout.rows):
        row_attributes = _list_row_attributes(analysis, first, last)
        neighbor_row_attributes = _list_neighbor_row_attributes(analysis, row)
        for index in range(first, last + 1):
            token = analysis.tokens[index]
            attributes = ["bias", *word_attributes[index], *row_attributes]
            attributes += neighbor_row_attributes
            attributes += _list_position_attributes(analysis, index, row, row_count)
            attributes += [f"t={types[index]}", f"k={analysis.keywords.concepts[index]}"]
            for step in (-2, -1, 1, 2):
                neighbor_index = index + step
                if not 0 <= neighbor_index < len(word_attributes):
                    attributes.append(f"{step}end")
                    continue
                is_same_row = analysis.tokens[neighbor_index].row == token.row
                prefix = f"{step}" if is_same_row else f"{step}r"
                attributes += [
                    f"{prefix}{word_attributes[neighbor_index][0]}",
                    f"{prefix}{word_attributes[neighbor_index][1]}",
                ]
                attributes += [
                    f"{prefix}t={types[neighbor_index]}",
                    f"{prefix}k={analysis.keywords.concepts[neighbor_index]}",
                ]
            attribute_lists.append(attributes)
    return attribute_lists


def _list_word_attributes(token: Token) -> list[str]:
    """List a token's attributes: its compact text, shape, beginning, ending, punctuation, length.

    The compact text (`w=`) and the shape (`s=`) come first, because neighboring tokens use them.
    """
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
    """Build the shape of a word, such as `AA-99` for `INV-2024`."""
    shape: list[str] = []
    for char in text[:24]:
        mark = "9" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else char
        if len(shape) < 2 or mark != shape[-1] or mark != shape[-2]:  # noqa: PLR2004 - keep two equal marks
            shape.append(mark)
    return "".join(shape)


def _find_token_types(analysis: Analysis) -> list[str]:
    """Return the type of each token, such as "date" or "cents" (with decimals); "-" for others."""
    types = ["-"] * len(analysis.tokens)
    for typed_text in analysis.amounts:
        kind = "cents" if "." in typed_text.value else "int"
        types[typed_text.first : typed_text.last + 1] = [kind] * (
            typed_text.last + 1 - typed_text.first
        )
    for kind, typed_texts in (("time", analysis.times), ("date", analysis.dates)):
        for typed_text in typed_texts:
            types[typed_text.first : typed_text.last + 1] = [kind] * (
                typed_text.last + 1 - typed_text.first
            )
    largest = max((float(a.value) for a in analysis.amounts if "." in a.value), default=0.0)
    for typed_text in analysis.amounts:
        if "." in typed_text.value and float(typed_text.value) == largest:
            types[typed_text.first : typed_text.last + 1] = ["max"] * (
                typed_text.last + 1 - typed_text.first
            )
    for index in analysis.currencies:
        types[index] = "sign"
    return types


def _list_row_attributes(analysis: Analysis, first: int, last: int) -> list[str]:
    words = [token.compact for token in analysis.tokens[first : last + 1]]
    row_words = [word for word in words if word and not word.isdigit()][:6]
    concepts = sorted({c for c in analysis.keywords.concepts[first : last + 1] if c})
    return [f"r={word}" for word in row_words] + [f"rk={concept}" for concept in concepts]


def _list_neighbor_row_attributes(analysis: Analysis, row: int) -> list[str]:
    attributes = []
    for step in (-1, 1):
        neighbor_row = row + step
        if not 0 <= neighbor_row < len(analysis.layout.rows):
            attributes.append(f"{step}edge")
            continue
        first, last = analysis.layout.rows[neighbor_row]
        concepts = sorted({c for c in analysis.keywords.concepts[first : last + 1] if c})
        attributes.append(f"{step}w={analysis.tokens[first].compact}")
        attributes += [f"{step}rk={concept}" for concept in concepts]
    return attributes


def _list_position_attributes(
    analysis: Analysis, index: int, row: int, row_count: int
) -> list[str]:
    token = analysis.tokens[index]
    first, last = analysis.layout.rows[row]
    segment = analysis.layout.segments[token.segment]
    relative_height = (token.box[3] - token.box[1]) / analysis.layout.word_height
    return [
        f"row={min(row, 12)}",
        f"up={min(row_count - row, 8)}",
        f"y={int(10 * row / row_count)}",
        f"x={int(5 * token.box[0])}",
        f"h={min(int(2 * relative_height), 6)}",
        f"at={min(index - first, 4)}",
        f"left={min(last - index, 4)}",
        f"seg={int(index == segment.first)}{int(index == segment.last)}",
        f"page={min(token.page, 3)}",
        f"row={min(row, 12)} at={min(index - first, 2)}",
    ]
