"""Exact counts whose cost does not grow with the number of rows.

Totals and statistics are sums of a few cells. A cell is the number of rows with one combination of
facets. Triggers append the change of each statement to a table of deltas, so that writers never
wait for each other. A job folds deltas into cells; readers add both. To count another list, see
docs/contributors/counters.md.
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
from app.kit.counters.sql import Below, Span
from app.kit.counters.upkeep import fold_backlog

__all__ = [
    "SOURCES",
    "Below",
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
