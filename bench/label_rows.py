"""Measure saves of large tag sets, listing many revisions, and comparisons of tag sets."""

import json
from collections.abc import Callable
from statistics import median
from typing import Any

from bench import agreement_rows, load
from bench.report import Report
from bench.service import Service
from tests.factories import Org
from tests.factories.labels import make_field
from tests.factories.workspace import Workspace

_COLUMNS = ("item", "amount", "count", "day")
_FIELDS = [
    make_field(
        "lines",
        "table",
        columns=[
            make_field("item", "text"),
            make_field("amount", "money"),
            make_field("count", "number"),
            make_field("day", "date"),
        ],
    )
]
_VALUES: dict[str, Any] = {
    "item": "Northwind Traders",
    "amount": {"amount": "119.00", "currency": "EUR"},
    "count": 12.5,
    "day": "2026-11-21",
}
_SAVES = 300
_TEXT = "119 " * 250


def measure(report: Report, service: Service, org: Org, names: set[str]) -> None:
    """Measure the rows that `names` lists, or all rows if `names` is empty."""
    workspace = Workspace(org)
    schema_id = workspace.schema(fields=_FIELDS)
    if not names or "large" in names:
        drafts = [workspace.draft(workspace.artifact(schema_id, text=_TEXT)) for _ in range(2)]
        _measure_large_saves(report, service, org, drafts)
    if not names or "revisions" in names:
        _measure_revisions(
            report, service, org, workspace.draft(workspace.artifact(schema_id, text=_TEXT))
        )
    if not names or "agreement" in names:
        agreement_rows.measure(report)


def _build_tags(count: int, revision: int = 0) -> list[dict[str, Any]]:
    """Build tags for `count` table cells with evidence; the first value contains `revision`."""
    tags = []
    for number in range(count):
        column = _COLUMNS[number % len(_COLUMNS)]
        at = 4 * number % 900
        evidence = {
            "page": 1,
            "box": [0.1, 0.2, 0.3, 0.4],
            "start": at,
            "end": at + 3,
            "text": "119",
        }
        value = f"Revision {revision}" if number == 0 else _VALUES[column]
        row = number // len(_COLUMNS)
        tags.append(
            {"field": f"lines.{column}", "value": value, "row": row, "evidence": [evidence]}
        )
    return tags


def _build_saver(
    connection: load.Connection, org: Org, draft: dict[str, Any], count: int
) -> Callable[[int], float]:
    """Return a function that saves `count` tags in a draft and returns the time in seconds."""
    headers = org.api("labeler").headers()

    def save(turn: int) -> float:
        body = {"tags": _build_tags(count, turn), "revision": draft["revision"]}
        path = f"/api/v1/tag-sets/{draft['id']}/tags"
        request = load.build_json_request("PUT", path, headers, body)
        seconds, response = connection.measure(request)
        draft["revision"] = json.loads(response)["data"]["revision"]
        return seconds

    return save


def _measure_large_saves(
    report: Report, service: Service, org: Org, drafts: list[dict[str, Any]]
) -> None:
    """Compare the times of large and small saves, which alternate on one connection."""
    connection = load.Connection(service.base)
    small, large = (
        _build_saver(connection, org, draft, count)
        for draft, count in zip(drafts, (4, 200), strict=True)
    )
    times = [(small(turn), large(turn)) for turn in range(_SAVES)][20:]
    floor, ours = (median(column) for column in zip(*times, strict=True))
    report.add_times("save of 200 tags, and of 4", ours, floor, 4, digits=2)


def _measure_revisions(report: Report, service: Service, org: Org, draft: dict[str, Any]) -> None:
    """Measure listing 100 of 1,000 revisions with their changes; each revision has 200 tags."""
    connection = load.Connection(service.base)
    save = _build_saver(connection, org, draft, 200)
    for turn in range(1000):
        save(turn)
    path = f"/api/v1/tag-sets/{draft['id']}/revisions"
    request = load.build_request("GET", path, org.api("labeler").headers())
    times = []
    for _ in range(20):
        seconds, response = connection.measure(request)
        times.append(1000 * seconds)
    assert json.loads(response)["data"][0]["changes"]["changed"] == 1
    ours = median(times)
    name = "100 of 1,000 revisions of 200 tags"
    report.add_without_floor(name, f"{ours:.0f} ms", "<= 500 ms", ours <= 500)
