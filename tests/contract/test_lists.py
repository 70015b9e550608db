"""Every list is narrowed by the time of its records: a period includes its start, not its end."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.kit.api.declarations import Operation
from tests.contract.conftest import OPERATIONS, find_operation, name_operation
from tests.contract.seeds import Seeds, create_seeds
from tests.factories import make_org
from tests.factories.work import drain

BOUNDS = {"created_after", "created_before"}
TIMELESS = {
    "get_labeler_quality": "sums of a period, which has parameters of its own",
    "get_reviewer_quality": "sums of a period, which has parameters of its own",
    "list_artifact_pages": "pages come with their document",
    "list_connector_types": "a catalogue of the service",
    "list_disagreements": "what is current, by how much labelers disagree",
    "list_export_formats": "a catalogue of the service",
    "list_feedback_models": "a model is in use for a time, from `first_date` to `last_date`",
    "list_my_assignments": "what is to do, by when it is due",
    "list_plans": "a catalogue of the service",
    "list_schema_templates": "a catalogue of the service",
    "list_webhook_events": "a catalogue of the service",
}
"""Lists of what has no time of its own, and why."""
TIMES = ("joined_at", "at", "created_at")
"""What the bounds go by: the first of these that a record has."""
MOMENT = timedelta(microseconds=1)

LISTS = [op for op in OPERATIONS if op.listing and op.name not in TIMELESS]


def _parameters(description: dict[str, Any], op: Operation) -> set[str]:
    parameters = find_operation(description, op).get("parameters", ())
    return {parameter["name"] for parameter in parameters if parameter["in"] == "query"}


def test_every_list_in_pages_takes_both_bounds_or_has_no_time(description: dict[str, Any]) -> None:
    offered = {op.name: _parameters(description, op) for op in OPERATIONS}
    paged = {name: parameters for name, parameters in offered.items() if "cursor" in parameters}
    assert paged.keys() == {op.name for op in LISTS} | TIMELESS.keys()
    assert {
        name for name, parameters in paged.items() if not parameters >= BOUNDS
    } == TIMELESS.keys()


@pytest.fixture(scope="module")
def seeds(app: Flask) -> Iterator[Seeds]:
    seeds_by_name = create_seeds(make_org(app))
    drain(app)
    yield seeds_by_name
    drain(app)


@pytest.mark.parametrize("op", LISTS, ids=name_operation)
def test_a_period_includes_its_start_and_excludes_its_end(op: Operation, seeds: Seeds) -> None:
    path = re.sub(r"{(\w+)}", lambda name: str(seeds.find_ids(op.path, name[1])[0]), op.path)

    def list_between(**bounds: datetime) -> Any:
        query = {name: at.isoformat() for name, at in bounds.items()}
        answer = seeds.org.api("owner").get(path, query_string=query)
        assert answer.status_code == 200, answer.json
        return answer.json

    record = list_between()["data"][0]
    at = datetime.fromisoformat(next(record[name] for name in TIMES if name in record))
    assert list_between(created_after=at - MOMENT, created_before=at + MOMENT)["meta"]["total"] >= 1
    assert list_between(created_after=at, created_before=at + MOMENT)["meta"]["total"] >= 1
    assert list_between(created_after=at + MOMENT, created_before=at + 2 * MOMENT)["data"] == []
    assert list_between(created_after=at - MOMENT, created_before=at)["meta"]["total"] == 0


@pytest.mark.parametrize("op", LISTS, ids=name_operation)
def test_a_period_may_begin_at_the_end_of_the_calendar(op: Operation, seeds: Seeds) -> None:
    path = re.sub(r"{(\w+)}", lambda name: str(seeds.find_ids(op.path, name[1])[0]), op.path)
    for day in ("02", "05", "31"):
        query = {"created_after": f"9999-12-{day}T09:30:00Z"}
        answer = seeds.org.api("owner").get(path, query_string=query)
        assert answer.status_code == 200, answer.json
        assert (answer.json["data"], answer.json["meta"]["total"]) == ([], 0)
