"""Measure comparisons of two tag sets. The floor is one pass over all tags of both sets."""

import random
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from app.engines.agreement.comparing import diff_by_content
from app.engines.agreement.measures import has_agreement
from app.engines.agreement.rows import align_rows
from app.engines.agreement.tag_keys import build_field_specs, build_value_key, list_marks
from bench.report import Report
from tests.factories.labels import make_field

_SPANS = 10_000
_TABLE_ROWS = 1_000
_COLUMNS = ("item", "unit", "count", "price", "sum")
_FIELD_SPECS = build_field_specs(
    [
        make_field("names", "span", multiple=True),
        make_field("lines", "table", columns=[make_field(name, "text") for name in _COLUMNS]),
    ]
)
_Tags = list[dict[str, Any]]


def measure(report: Report) -> None:
    """Measure the agreement of spans with little or full overlap, and the changes in tables."""
    neighbors = _build_spans(lambda n, set_index: (6 * n, 6 * n + 4 + set_index))
    _add_row(report, "2 x 10,000 spans, neighbours overlap", neighbors, _check_agreement, 25)
    overlapping_spans = _build_spans(lambda n, set_index: (n, n + 40_000 + set_index))
    _add_row(report, "2 x 10,000 spans, all overlap", overlapping_spans, _check_agreement, 60)
    generator = random.Random(1)
    table = [[f"{generator.randrange(50)}" for _ in _COLUMNS] for _ in range(_TABLE_ROWS)]
    longer_table = [["new"] * len(_COLUMNS), *table[:500], ["x", *table[500][1:]], *table[501:]]
    tag_sets = [_build_table(table), _build_table(longer_table)]
    _add_row(report, "2 x 1,000 rows, one inserted", tag_sets, _check_changes, 60)
    other_table = [[f"{generator.randrange(50)}" for _ in _COLUMNS] for _ in range(_TABLE_ROWS)]
    tag_sets = [_build_table(table), _build_table(other_table)]
    _add_row(report, "2 x 1,000 rows, all different", tag_sets, _check_changes, 100)


def _build_spans(get_offsets: Callable[[int, int], tuple[int, int]]) -> list[_Tags]:
    """Build two tag sets of spans at the offsets that `get_offsets(number, set_index)` returns."""

    def build_span(number: int, set_index: int) -> dict[str, Any]:
        start, end = get_offsets(number, set_index)
        evidence = {"page": None, "box": None, "start": start, "end": end, "text": None}
        return _build_tag("names", "", None, [evidence])

    return [[build_span(number, set_index) for number in range(_SPANS)] for set_index in (0, 1)]


def _build_table(rows: Sequence[Sequence[str]]) -> _Tags:
    return [
        _build_tag(f"lines.{name}", value, number, [])
        for number, row in enumerate(rows)
        for name, value in zip(_COLUMNS, row, strict=True)
    ]


def _build_tag(field: str, value: str, row: int | None, evidence: list[Any]) -> dict[str, Any]:
    properties = {"confidence": None, "source": "human", "evidence": evidence}
    return {"field": field, "value": value, "row": row, **properties}


def _check_agreement(tag_sets: list[_Tags]) -> None:
    assert has_agreement(align_rows(tag_sets, _FIELD_SPECS).tag_sets, _FIELD_SPECS, 0.6) is True


def _check_changes(tag_sets: list[_Tags]) -> None:
    assert diff_by_content(tag_sets[0], tag_sets[1], _FIELD_SPECS).changes


def _read_tags(tag_sets: list[_Tags]) -> None:
    """Read the position and the value of each tag, which every comparison must do."""
    for tags in tag_sets:
        marks_by_value: dict[Any, Any] = {}
        for tag in tags:
            marks = list_marks([tag], _FIELD_SPECS[tag["field"]])
            marks_by_value[tag["field"], tag["row"], build_value_key(tag)] = marks


def _add_row(
    report: Report,
    name: str,
    tag_sets: list[_Tags],
    compare: Callable[[list[_Tags]], None],
    max_ratio: int,
) -> None:
    ours, floor = (_measure_milliseconds(action, tag_sets) for action in (compare, _read_tags))
    report.add_at_most(name, f"{ours:.0f} ms", f"{floor:.0f} ms", ours / floor, max_ratio)


def _measure_milliseconds(action: Callable[[list[_Tags]], None], tag_sets: list[_Tags]) -> float:
    """Call `action(tag_sets)` five times, and return the median processor time in milliseconds."""
    times = []
    for _ in range(5):
        began = time.process_time()
        action(tag_sets)
        times.append(1000 * (time.process_time() - began))
    return median(times)
