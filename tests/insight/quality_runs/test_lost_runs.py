"""A run ends exactly once, even if attempts crash, lose their lease or fail."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from app.insight.quality_runs import jobs
from app.insight.quality_runs.service import runs
from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.orgs import transaction_across_organizations
from tests.factories.progress import OnProgress, install_progress_callback
from tests.insight.quality_runs.conftest import Answers

_TAKE_LEASE = "lease_token = gen_random_uuid(), leased_until = now() + interval '1 hour'"
_REQUEUE = (
    "status = 'queued', due_at = now(), leased_until = NULL, lease_token = NULL, finished_at = NULL"
)


@pytest.fixture
def on_progress(org: Org, monkeypatch: pytest.MonkeyPatch) -> OnProgress:
    """Return a function that installs a callback for each progress report of the organization."""
    return partial(install_progress_callback, monkeypatch, jobs, org)


def test_progress_is_visible_while_a_run_is_running(
    answers: Answers, on_progress: OnProgress
) -> None:
    schema_id = answers.create_labeled_schema("ab", "aa", "bb")
    run_id = answers.start(schema_id, fields=["kind"])
    runs: list[dict[str, Any]] = []
    on_progress(lambda _: runs.append(answers.get(run_id)))
    answers.work()
    assert [run["status"] for run in runs] == ["running"] * 3
    assert [run["progress"]["done"] for run in runs] == [2, 4, 6]
    assert {run["progress"]["total"] for run in runs} == {6}
    assert runs[0]["results"] == []


def test_an_attempt_that_lost_its_lease_writes_nothing(
    answers: Answers, on_progress: OnProgress, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema_id = answers.create_labeled_schema("ab", "aa", "bb")
    run_id = answers.start(schema_id, fields=["kind"])
    reports: list[int] = []

    def lose(done: int) -> None:
        reports.append(done)
        answers.update_run_job(_TAKE_LEASE)

    on_progress(lose)
    answers.work()
    monkeypatch.undo()
    assert reports == [2]
    assert answers.get(run_id)["status"] == "running"
    assert answers.workspace.events("quality_run.completed") == []
    # The other worker crashes; the next attempt starts from the beginning.
    answers.update_run_job("leased_until = now() - interval '1 second'")
    answers.work()
    run = answers.get(run_id)
    assert run["status"] == "completed"
    assert run["progress"]["done"] == 6
    assert len(answers.workspace.events("quality_run.completed")) == 1


def test_a_completed_run_is_not_computed_again(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema("ab")
    run = answers.compute(schema_id, fields=["kind"])
    answers.add_choices(schema_id, "aa")
    answers.update_run_job(_REQUEUE)
    answers.work()
    assert answers.get(run["id"]) == run
    assert len(answers.workspace.events("quality_run.completed")) == 1


def test_a_run_fails_after_all_attempts_have_failed(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema_id = answers.create_schema()
    run_id = answers.start(schema_id)

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("password=hunter2")

    with monkeypatch.context() as patched:
        patched.setattr(jobs, "plan_fields", fail)
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
    overlapping = answers.create_schema(labels_per_artifact=2)
    single = answers.create_schema()
    for schema_id in (overlapping, single):
        answers.add_choices(schema_id, "ab", updated_at=db.utc_now() - timedelta(minutes=1))

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
    schema_id = answers.create_schema(labels_per_artifact=2)
    answers.add_choices(schema_id, "ab", updated_at=db.utc_now() - timedelta(minutes=1))
    answers.compute(schema_id, **narrow)
    _start_outdated(answers)
    daily, _ = answers.read("runs")
    assert (daily["created_by"], daily["fields"], daily["from"]) == (None, [], None)


def _start_outdated(answers: Answers) -> None:
    with transaction_across_organizations(answers.org.app):
        runs.create_runs_for_outdated_schemas()


def test_old_runs_are_deleted(answers: Answers) -> None:
    schema_id = answers.create_schema()
    old, new = answers.start(schema_id), answers.start(schema_id)
    statement = "UPDATE quality_runs SET created_at = now() - interval '401 days' WHERE id = :id"
    answers.workspace.sql(statement, id=old)
    scope = tenancy.across_organizations(reason="the job belongs to no organization")
    with answers.org.app.app_context(), scope:
        jobs.purging.purge("quality_runs", jobs.EXPIRED_CONDITION, db.session().commit)
    assert [run["id"] for run in answers.read("runs")] == [new]
