"""Jobs with several events: the arguments of handlers, and the splitting of failed jobs."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from app.kit import events
from app.kit.events import MAX_GROUP_SIZE
from app.kit.jobs import runs
from app.kit.jobs.claims import FAULTS_BEFORE_ISOLATION
from app.kit.jobs.handlers import Job
from tests.factories import Org, run_jobs_of
from tests.kit.jobs.workshop import SEEN, declare_handler, make_due, rows, sql

NAME = "test.grouped"


@pytest.fixture(scope="module", autouse=True)
def _handlers() -> Iterator[None]:
    def collect(found: list[Job]) -> None:
        numbers = [job.args["data"]["n"] for job in found]
        if "fault" in numbers and not SEEN[found[0].organization_id]["faults"]:
            SEEN[found[0].organization_id]["faults"].append(1)
            raise OperationalError("SELECT", {}, Exception("server closed the connection"))
        if "always a fault" in numbers:
            raise OperationalError("SELECT", {}, Exception("server closed the connection"))
        if "bad" in numbers:
            raise ValueError("a bad event")
        SEEN[found[0].organization_id]["groups"].append(numbers)
        SEEN[found[0].organization_id]["args"] += [job.args for job in found]

    def hear(job: Job) -> None:
        SEEN[job.organization_id]["single"].append(job.args["data"]["n"])

    with (
        declare_handler(NAME, collect, events=("test.grouped",), batch=True, max_attempts=1),
        declare_handler("test.listener", hear, events=("test.grouped",)),
    ):
        yield


def emit(org: Org, numbers: list[Any]) -> None:
    with org.transaction():
        events.set_request_id("r-7")
        events.emit_many("test.grouped", [{"n": number} for number in numbers])


def list_functions(org: Org) -> list[str]:
    return sorted(row.function for row in rows(org) if row.function.startswith(NAME))


def test_events_of_one_call_share_jobs(org: Org, work: Callable[[], None]) -> None:
    emit(org, list(range(MAX_GROUP_SIZE + 20)))
    assert list_functions(org) == [f"{NAME}_many"] * 2
    work()
    work()
    assert sorted(map(len, SEEN[org.id]["groups"])) == [20, MAX_GROUP_SIZE]
    assert sorted(n for group in SEEN[org.id]["groups"] for n in group) == list(
        range(MAX_GROUP_SIZE + 20)
    )
    stored = sql(org, "SELECT id, data FROM outbox_events WHERE organization_id = :org")
    received = {(args["event_id"], args["data"]["n"]) for args in SEEN[org.id]["args"]}
    assert received == {(str(event.id), event.data["n"]) for event in stored}
    assert {args["name"] for args in SEEN[org.id]["args"]} == {"test.grouped"}


def test_other_handlers_get_a_job_for_each_event(org: Org) -> None:
    emit(org, [1, 2, 3])
    run_jobs_of(org)
    assert sorted(SEEN[org.id]["single"]) == [1, 2, 3]


def test_one_event_is_an_ordinary_job(org: Org) -> None:
    emit(org, [1])
    assert list_functions(org) == [NAME]
    run_jobs_of(org)
    assert SEEN[org.id]["groups"] == [[1]]


def test_a_group_that_fails_is_split_so_that_only_the_bad_event_fails(org: Org) -> None:
    emit(org, [1, "bad", 2])
    created = {row.created_at for row in rows(org)}
    run_jobs_of(org)
    for _ in range(4):
        make_due(org)
        run_jobs_of(org)
    assert sorted(n for group in SEEN[org.id]["groups"] for n in group) == [1, 2]
    found = {(row.function, row.status) for row in rows(org) if row.function.startswith(NAME)}
    assert found == {(f"{NAME}_many", "completed"), (NAME, "completed"), (NAME, "failed")}
    (failed,) = [row for row in rows(org) if row.status == "failed"]
    assert failed.args["data"] == {"n": "bad"}
    assert str(failed.event_id) == failed.args["event_id"]
    assert failed.request_id == "r-7"
    assert {row.created_at for row in rows(org)} == created


def test_a_fault_does_not_split_a_group(org: Org) -> None:
    emit(org, [1, "fault"])
    run_jobs_of(org)
    assert list_functions(org) == [f"{NAME}_many"]
    make_due(org)
    run_jobs_of(org)
    assert SEEN[org.id]["groups"] == [[1, "fault"]]


def test_an_event_that_always_ends_in_a_fault_does_not_hold_up_the_others(org: Org) -> None:
    emit(org, [1, "always a fault", 2])
    for _ in range(FAULTS_BEFORE_ISOLATION + 1):
        run_jobs_of(org)
        make_due(org)
    assert sorted(n for group in SEEN[org.id]["groups"] for n in group) == [1, 2]
    (waiting,) = [row for row in rows(org) if row.status == "queued"]
    assert (waiting.function, waiting.attempts) == (NAME, 0)
    assert waiting.args["data"] == {"n": "always a fault"}


def test_a_group_whose_workers_died_is_split(org: Org) -> None:
    emit(org, [1, 2])
    sql(
        org,
        "UPDATE jobs SET interruptions = :most WHERE organization_id = :org AND function = :name",
        most=runs.MAX_INTERRUPTIONS,
        name=f"{NAME}_many",
    )
    run_jobs_of(org)
    run_jobs_of(org)
    assert sorted(n for group in SEEN[org.id]["groups"] for n in group) == [1, 2]
    assert list_functions(org) == [NAME, NAME, f"{NAME}_many"]


def test_a_run_that_lost_its_lease_splits_nothing(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    emit(org, [1, "bad"])
    monkeypatch.setattr("app.kit.jobs.claims.finish", lambda lease: False)
    run_jobs_of(org, "default")
    assert list_functions(org) == [f"{NAME}_many"]
