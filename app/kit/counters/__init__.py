"""Exact counts that do not grow with what they count.

A list's total, and statistics, are sums of a few cells: how many rows there are of each combination
of facets. Triggers append to a table of deltas what each statement changes, so that no two writers
wait for each other; a job folds deltas into cells; readers add up both. How to count another list
is told in docs/contributors/counters.md.
"""

from app.kit.counters.reading import (
    Between,
    cells,
    cells_between,
    count,
    prepared_cells,
    prepared_total,
    total,
)
from app.kit.counters.sources import SOURCES, Cube, Source
from app.kit.counters.sql import Span
from app.kit.counters.upkeep import fold_backlog

__all__ = [
    "SOURCES",
    "Between",
    "Cube",
    "Source",
    "Span",
    "cells",
    "cells_between",
    "count",
    "fold_backlog",
    "prepared_cells",
    "prepared_total",
    "total",
]
