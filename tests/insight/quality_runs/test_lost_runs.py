"""Attempts that die, lose their lease or fail: a run ends once, whatever happens."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from app.insight.quality_runs import jobs
from app.insight.quality_runs.service import creating
from app.kit import db, tenancy
from tests.insight.quality_runs.conftest import Answers

_TAKE = "lease_token = gen_random_uuid(), leased_until = now() + interval '1 hour'"
_AGAIN = (
    "status = 'queued', due_at = now(), leased_until = NULL, lease_token = NULL, finished_at = NULL"
)


def _apart(call: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


@pytest.fixture
def during(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[int], None]], None]:
    """Return a function that installs a callback for each progress report of the organization."""
    report = jobs._report_progress

    def install(call: Callable[[int], None]) -> None:
        def reported(job: Any, run_id: Any, done: int, total: int) -> None:
            report(job, run_id, done, total)
            if job.organization_id == answers.org.id:
                _apart(lambda: call(done))

        monkeypatch.setattr(jobs, "REPORT_SECONDS", 0.0)
        monkeypatch.setattr(jobs, "_report_progress", reported)

    return install


def test_progress_is_seen_while_a_run_is_running(
    answers: Answers, during: Callable[[Callable[[int], None]], None]
) -> None:
    schema_id = answers.schema()
    answers.choices(schema_id, "ab", "aa", "bb")
    run_id = answers.start(schema_id, fields=["kind"])
    seen: list[dict[str, Any]] = []
    during(lambda _: seen.append(answers.get(run_id)))
    answers.work()
    assert [run["status"] for run in seen] == ["running"] * 3
    assert [run["progress"]["done"] for run in seen] == [2, 4, 6]
    assert {run["progress"]["total"] for run in seen} == {6}
    assert seen[0]["results"] == []


def test_an_attempt_that_lost_its_lease_writes_nothing(
    answers: Answers,
    during: Callable[[Callable[[int], None]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema_id = answers.schema()
    answers.choices(schema_id, "ab", "aa", "bb")
    run_id = answers.start(schema_id, fields=["kind"])
    reports: list[int] = []

    def lose(done: int) -> None:
        reports.append(done)
        answers.update_run_job(_TAKE)

    during(lose)
    answers.work()
    monkeypatch.undo()
    assert reports == [2]
    assert answers.get(run_id)["status"] == "running"
    assert answers.workspace.events("quality_run.completed") == []
    # The other worker dies; the next attempt begins from the start.
    answers.update_run_job("leased_until = now() - interval '1 second'")
    answers.work()
    run = answers.get(run_id)
    assert run["status"] == "completed"
    assert run["progress"]["done"] == 6
    assert len(answers.workspace.events("quality_run.completed")) == 1


def test_a_completed_run_is_not_computed_again(answers: Answers) -> None:
    schema_id = answers.schema()
    answers.choices(schema_id, "ab")
    run = answers.compute(schema_id, fields=["kind"])
    answers.choices(schema_id, "aa")
    answers.update_run_job(_AGAIN)
    answers.work()
    assert answers.get(run["id"]) == run
    assert len(answers.workspace.events("quality_run.completed")) == 1


def test_a_run_whose_every_attempt_fails_is_given_up(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema_id = answers.schema()
    run_id = answers.start(schema_id)

    def break_down(*_: Any, **__: Any) -> None:
        raise ValueError("password=hunter2")

    with monkeypatch.context() as patched:
        patched.setattr(jobs.running, "plan", break_down)
        answers.update_run_job("attempts = 4")
        answers.work()
    run = answers.get(run_id)
    assert run["status"] == "failed"
    assert run["error"]["code"] == "internal_error"
    assert "hunter2" not in str(run)
    assert run["finished_at"] is not None
    failed = answers.workspace.events("quality_run.failed")
    assert [event["run_id"] for event in failed] == [run_id]


def test_outdated_schemas_are_computed_daily(answers: Answers) -> None:
    overlapping = answers.schema(labels_per_artifact=2)
    single = answers.schema()
    for schema_id in (overlapping, single):
        answers.choices(schema_id, "ab", updated_at=db.utc_now() - timedelta(minutes=1))

    for _ in range(2):
        _start_outdated(answers)
        (run,) = answers.read("runs")
        assert run["schema_id"] == str(overlapping)
        assert run["created_by"] is None
        answers.work()


@pytest.mark.parametrize(
    "narrow",
    [{"fields": ["kind"]}, {"metrics": ["percent"]}, {"from": "2026-01-01T00:00:00Z"}],
    ids=["fields", "metrics", "period"],
)
def test_a_narrow_run_does_not_replace_the_daily_one(
    answers: Answers, narrow: dict[str, Any]
) -> None:
    schema_id = answers.schema(labels_per_artifact=2)
    answers.choices(schema_id, "ab", updated_at=db.utc_now() - timedelta(minutes=1))
    answers.compute(schema_id, **narrow)
    _start_outdated(answers)
    daily, _ = answers.read("runs")
    assert (daily["created_by"], daily["fields"], daily["from"]) == (None, [], None)


def _start_outdated(answers: Answers) -> None:
    scope = tenancy.across_organizations(reason="the job belongs to no organization")
    with answers.org.app.app_context(), scope, db.transaction():
        creating.create_outdated()


def test_old_runs_are_deleted(answers: Answers) -> None:
    schema_id = answers.schema()
    old, new = answers.start(schema_id), answers.start(schema_id)
    statement = "UPDATE quality_runs SET created_at = now() - interval '401 days' WHERE id = :id"
    answers.workspace.sql(statement, id=old)
    scope = tenancy.across_organizations(reason="the job belongs to no organization")
    with answers.org.app.app_context(), scope:
        jobs.purging.purge("quality_runs", jobs.EXPIRED_CONDITION, db.session().commit)
    assert [run["id"] for run in answers.read("runs")] == [new]
