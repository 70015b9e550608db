"""Find the keyword that a place of a document belongs to: left of it in its row, or above it."""

from dataclasses import dataclass, field

from app.engines.extraction.analysis import Analysis

_ROWS_ABOVE = 3


@dataclass(slots=True)
class Contexts:
    """The keywords near each token, by the index of their last token; -1 without one."""

    analysis: Analysis
    left: list[int]
    above_cache: dict[int, int] = field(default_factory=dict)

    def above(self, index: int) -> int:
        """Return the nearest keyword above token `index` that overlaps it, or -1."""
        known = self.above_cache.get(index)
        if known is None:
            known = self.above_cache[index] = _find_above(self.analysis, index)
        return known


def build_contexts(analysis: Analysis, extra: dict[int, int] | None = None) -> Contexts:
    """Return the contexts of a document's tokens. `extra` has further keywords, last to first."""
    ends = {**analysis.keywords.ends, **(extra or {})}
    left = [-1] * len(analysis.tokens)
    for first, last in analysis.layout.rows:
        nearest = -1
        for index in range(first, last + 1):
            left[index] = nearest
            if index in ends:
                nearest = index
    return Contexts(analysis, left)


def _find_above(analysis: Analysis, index: int) -> int:
    layout = analysis.layout
    token = layout.tokens[index]
    for row in range(token.row - 1, max(token.row - 1 - _ROWS_ABOVE, -1), -1):
        first, last = layout.rows[row]
        if layout.tokens[first].page != token.page:
            break
        for other in range(first, last + 1):
            box = layout.tokens[other].box
            overlaps = box[0] < token.box[2] and token.box[0] < box[2]
            if overlaps and analysis.keywords.concepts[other]:
                return other
    return -1
