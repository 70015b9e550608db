"""Read the marks of raters, document by document, and keep what the coefficients need."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from app.engines.agreement.marks import Mark


@dataclass(frozen=True, slots=True)
class MarkSets:
    """The marks of one span or region field. Use `build_mark_sets`."""

    raters: tuple[str, ...]


def build_mark_sets(
    rows: Iterable[tuple[Hashable, Any, Sequence[Mark]]],
    *,
    lengths: bool = False,
) -> MarkSets:
    """Read rows of (document, rater, marks), of which those of one document follow each other.

    A rater who marked nothing has a row with no marks. With `lengths`, rows are (document, length
    of its text, rater, marks), which the unitizing alpha of spans needs.
    """
    raise NotImplementedError
