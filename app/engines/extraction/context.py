"""Find the nearest keywords of a token: to its left in the same row, and above it."""

from app.engines.extraction.analysis import Analysis

_MAX_ROWS_ABOVE = 3


class KeywordContexts:
    """Finds the nearest keyword to the left of a token, and the nearest keyword above a token.

    `left_indexes` contains, for each token, the index of the last token of the keyword to its left,
    or -1. `extra_keywords` contains additional keywords, which only affect `left_indexes`: it maps
    the index of the last token of each keyword to the index of its first token.
    """

    def __init__(self, analysis: Analysis, extra_keywords: dict[int, int] | None = None) -> None:
        self._analysis = analysis
        self._above: dict[int, int] = {}
        ends = {**analysis.keywords.ends, **(extra_keywords or {})}
        self.left_indexes = [-1] * len(analysis.tokens)
        for first, last in analysis.layout.rows:
            nearest = -1
            for index in range(first, last + 1):
                self.left_indexes[index] = nearest
                if index in ends:
                    nearest = index

    def find_keyword_above(self, index: int) -> int:
        """Return the index of the nearest keyword token above token `index`, or -1.

        The keyword token overlaps the token horizontally, is on the same page, and is at most
        _MAX_ROWS_ABOVE rows above it; of several in a row, the leftmost is used. Caches the result.
        """
        if index not in self._above:
            self._above[index] = _find_keyword_above(self._analysis, index)
        return self._above[index]


def _find_keyword_above(analysis: Analysis, index: int) -> int:
    layout = analysis.layout
    token = layout.tokens[index]
    for row in range(token.row - 1, max(token.row - 1 - _MAX_ROWS_ABOVE, -1), -1):
        first, last = layout.rows[row]
        if layout.tokens[first].page != token.page:
            break
        for above_index in range(first, last + 1):
            box = layout.tokens[above_index].box
            overlaps = box[0] < token.box[2] and token.box[0] < box[2]
            if overlaps and analysis.keywords.concepts[above_index]:
                return above_index
    return -1
