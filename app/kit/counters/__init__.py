"""Exact counts whose cost does not grow with the number of rows.

Totals and statistics are sums of a few cells. A cell is the number of rows with one combination of
facets. Triggers append the changes that each statement makes to a table of deltas, so that writers
never wait for each other. A job folds the deltas into the cells. Readers add the cells and the
remaining deltas. To count another list, see docs/contributors/counters.md.
"""

from app.kit.counters.reading import (
    Between,
    build_between,
    build_prepared_total,
    build_total,
    count,
    select_cells,
    select_cells_between,
    select_combinations,
    select_prepared_cells,
)
from app.kit.counters.sources import SOURCES, Cube, Source
from app.kit.counters.sql import (
    BucketSpan,
    Parameter,
    PreparedSpan,
    UpperBound,
    list_bound_names,
    list_bound_values,
)
from app.kit.counters.upkeep import fold_backlog

__all__ = [
    "SOURCES",
    "Between",
    "BucketSpan",
    "Cube",
    "Parameter",
    "PreparedSpan",
    "Source",
    "UpperBound",
    "build_between",
    "build_prepared_total",
    "build_total",
    "count",
    "fold_backlog",
    "list_bound_names",
    "list_bound_values",
    "select_cells",
    "select_cells_between",
    "select_combinations",
    "select_prepared_cells",
]
