"""Columns of running text, as opposed to the columns of a table.

A candidate is a left edge that several lines have in common. The strip left of it is the gutter.
Lines that cross the gutter, as headings do, end the columns. What is left and right of it must
read like running text: lines of several words, of which many begin in lower case. Short cells and
numbers belong to a table or a form, which is read row by row.
"""

from collections.abc import Sequence
from itertools import chain, pairwise
from statistics import median

from app.engines.documents.readers.tokens import Token

_MAX_CANDIDATES = 12
_EDGE = 0.5  # of a line's height, by which the left edges of a column may differ
_CUT_COST = 3  # words that a better edge must bring for each segment that it cuts
_LEAST_GUTTER = 0.45  # of a line's height
_WIDER = 1.6  # than the usual gap of a line
_LEAST_LINES = 3
_LEAST_LINES_OF_CAPITALS = 5
_LEAST_WORDS = 3
_FLOWING = 0.25  # share of lines that begin in lower case
_LETTERS = 0.7  # share of letters among the characters of a column
_SAME_LINE = 0.1  # of a line's height
_ALIGNED = 0.5  # share of lines with another one beside them


class Segment:
    """Words side by side on one line, from left to right."""

    __slots__ = ("bottom", "tokens", "top", "x0", "x1")

    def __init__(self, token: Token) -> None:
        self.tokens = [token]
        self.x0, self.x1 = token.x0, token.x1
        self.top, self.bottom = token.top, token.bottom

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @classmethod
    def of(cls, tokens: Sequence[Token]) -> "Segment":
        segment = cls(tokens[0])
        for token in tokens[1:]:
            segment.add(token)
        return segment

    def add(self, token: Token) -> None:
        self.tokens.append(token)
        self.x1 = max(self.x1, token.x1)
        if token.height > self.height:  # a superscript does not move the line
            self.top, self.bottom = token.top, token.bottom


Columns = tuple[list[Segment], list[Segment]]
Band = list[Segment] | Columns


def find_columns(segments: list[Segment]) -> list[Band] | None:
    """Return bands from top to bottom, at least one of them columns; None where there are none."""
    if len(segments) < 2 * _LEAST_LINES:
        return None
    best: list[Band] | None = None
    most = 0
    ordered = sorted(segments, key=lambda one: (one.middle, one.x0))
    for edge in _left_edges(segments):
        bands = _bands(ordered, edge)
        gain = sum(
            len(one.tokens) for band in bands if isinstance(band, tuple) for one in chain(*band)
        )
        cuts = sum(len(band) if isinstance(band, list) else sum(map(len, band)) for band in bands)
        gain -= _CUT_COST * (cuts - len(segments))
        if gain > most:
            best, most = bands, gain
    return best


def _left_edges(segments: list[Segment]) -> list[float]:
    """Return the left edges that most segments have in common, the leftmost first."""
    reach = _EDGE * median(one.height for one in segments)
    clusters: list[list[float]] = []
    for x0 in sorted(x0 for one in segments for x0 in _starts(one)):
        if clusters and x0 - clusters[-1][0] <= reach:
            clusters[-1].append(x0)
        else:
            clusters.append([x0])
    common = [one for one in clusters[1:] if len(one) >= _LEAST_LINES]
    common.sort(key=len, reverse=True)
    return sorted(one[0] for one in common[:_MAX_CANDIDATES])


def _starts(segment: Segment) -> list[float]:
    """Return where a segment begins, and where it goes on after a gap that may be a gutter."""
    tokens = segment.tokens
    return [segment.x0, *(tokens[index].x0 for index in _wide_gaps(segment))]


def _wide_gaps(segment: Segment) -> list[int]:
    """Return the indexes of the words after gaps that are wider than the line's usual ones."""
    gaps = [token.x0 - last.x1 for last, token in pairwise(segment.tokens)]
    if not gaps or max(gaps) < _LEAST_GUTTER * segment.height:
        return []
    wide = max(_LEAST_GUTTER * segment.height, _WIDER * median(gaps))
    return [index for index, gap in enumerate(gaps, start=1) if gap >= wide]


def _cut(segment: Segment, edge: float) -> list[Segment]:
    """Cut a segment at the gutter left of `edge`, unless it has words there."""
    reach = _EDGE * segment.height
    if not segment.x0 < edge - reach < segment.x1:
        return [segment]
    for index in _wide_gaps(segment):
        if edge - reach / 2 <= segment.tokens[index].x0 <= edge + reach:
            return [Segment.of(segment.tokens[:index]), Segment.of(segment.tokens[index:])]
    return [segment]


def _bands(ordered: list[Segment], edge: float) -> list[Band]:
    """Cut at the segments that cross the gutter left of `edge`."""
    bands: list[Band] = []
    rest: list[Segment] = []
    left: list[Segment] = []
    right: list[Segment] = []

    def close() -> None:
        nonlocal rest, left, right
        above, columns, below = _split(left, right)
        rest += above
        if columns is not None:
            bands.extend([rest, columns] if rest else [columns])
            rest = []
        rest += below
        left, right = [], []

    for segment in chain.from_iterable(_cut(one, edge) for one in ordered):
        slack = 0.1 * segment.height
        if segment.x0 >= edge - 2 * slack:
            right.append(segment)
        elif segment.x1 <= edge + slack:
            left.append(segment)
        else:
            close()
            rest.append(segment)
    close()
    if rest:
        bands.append(rest)
    return bands


def _split(
    left: list[Segment], right: list[Segment]
) -> tuple[list[Segment], Columns | None, list[Segment]]:
    """Return what is above two columns, the columns, and what is below them."""
    if min(len(left), len(right)) < _LEAST_LINES:
        return [*left, *right], None, []
    above, body, below = _split_margins([*left, *right])
    in_body = set(map(id, body))
    columns = (
        [one for one in left if id(one) in in_body],
        [one for one in right if id(one) in in_body],
    )
    if not _are_columns(*columns):
        return [*left, *right], None, []
    return above, columns, below


def _split_margins(
    segments: list[Segment],
) -> tuple[list[Segment], list[Segment], list[Segment]]:
    """Split off headers and footers: single rows at a distance from the rest."""
    chunks: list[list[Segment]] = []
    bottom = 0.0
    for segment in sorted(segments, key=lambda one: one.top):
        if not chunks or segment.top > bottom + segment.height:
            chunks.append([])
            bottom = segment.bottom
        chunks[-1].append(segment)
        bottom = max(bottom, segment.bottom)
    above: list[Segment] = []
    below: list[Segment] = []
    while len(chunks) > 1 and _is_one_row(chunks[0]):
        above += chunks.pop(0)
    while len(chunks) > 1 and _is_one_row(chunks[-1]):
        below = chunks.pop() + below
    return above, [one for chunk in chunks for one in chunk], below


def _is_one_row(chunk: list[Segment]) -> bool:
    extent = max(one.bottom for one in chunk) - min(one.top for one in chunk)
    return extent < 1.8 * max(one.height for one in chunk)


def _are_columns(left: list[Segment], right: list[Segment]) -> bool:
    """Return whether two groups of lines are running text side by side."""
    if min(len(left), len(right)) < _LEAST_LINES or not _overlap(left, right):
        return False
    lines = _lines(left), _lines(right)
    flows = _flow(lines[0]), _flow(lines[1])
    prose = _is_prose(lines[0]), _is_prose(lines[1])
    if all(prose) and min(flows) >= _FLOWING:
        return True
    if max(flows) >= _FLOWING and any(prose) and _aligned(left, right) < _ALIGNED:
        return True  # beside a margin: its lines have baselines of their own
    # Lines that all begin with a capital: two lists, or cells. Cells are short here and there.
    fewest = min(len(left), len(right))
    words = [len(one.tokens) for one in (*left, *right)]
    prose = _is_prose(left), _is_prose(right)
    return all(prose) and fewest >= _LEAST_LINES_OF_CAPITALS and min(words) >= _LEAST_WORDS


def _lines(segments: Sequence[Segment]) -> list[Segment]:
    """Join the segments of one line, which the wide spaces of justified text part."""
    lines: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda one: (one.middle, one.x0)):
        if lines and abs(lines[-1][0].middle - segment.middle) <= _SAME_LINE * segment.height:
            lines[-1].append(segment)
        else:
            lines.append([segment])
    found = []
    for line in lines:
        line.sort(key=lambda one: one.x0)
        found.append(Segment.of([token for one in line for token in one.tokens]))
    return found


def _overlap(left: list[Segment], right: list[Segment]) -> bool:
    """Return whether the groups are beside one another for the height of several lines."""
    top = max(min(one.top for one in group) for group in (left, right))
    bottom = min(max(one.bottom for one in group) for group in (left, right))
    height = median(one.height for one in (*left, *right))
    return bottom - top >= (_LEAST_LINES - 1) * height


def _flow(lines: Sequence[Segment]) -> float:
    """Return the share of lines that begin in lower case, or in a script that has none."""
    first = [one.tokens[0].text[0] for one in lines]
    return sum(char.isalpha() and not char.isupper() for char in first) / len(first)


def _is_prose(lines: Sequence[Segment]) -> bool:
    """Return whether most lines have several words, and most characters are letters."""
    if median(len(one.tokens) for one in lines) < _LEAST_WORDS:
        return False
    text = "".join(token.text for one in lines for token in one.tokens)
    return sum(map(str.isalpha, text)) >= _LETTERS * len(text)


def _aligned(left: Sequence[Segment], right: Sequence[Segment]) -> float:
    """Return the share of lines of the smaller group with a line of the other beside them."""
    fewer, more = sorted((left, right), key=len)
    middles = sorted(one.middle for one in more)
    beside = 0
    for one in fewer:
        reach = _SAME_LINE * one.height
        beside += any(abs(one.middle - middle) <= reach for middle in middles)
    return beside / len(fewer)
