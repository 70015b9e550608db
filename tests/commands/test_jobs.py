"""`flask jobs`, and what becomes of jobs that were given up."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from flask import Flask

from app.identity.control_plane import jobs as control_plane
from app.kit import container, db, tenancy
from app.kit.jobs import failures
from app.kit.jobs.handlers import Job
from tests.factories import Org, run_jobs_of
from tests.factories.emails import list_emails_to
from tests.factories.scrape import get_metric
from tests.kit.jobs.workshop import SEEN, declare_handler, enqueue, rows, sql


@pytest.fixture(scope="module", autouse=True)
def _handlers() -> Iterator[None]:
    def act(job: Job) -> None:
        if not SEEN[job.organization_id]["mended"]:
            raise RuntimeError("no luck")

    def undo(args: dict[str, Any]) -> None:
        SEEN[tenancy.current_organization_id()]["undone"].append(args["n"])

    with (
        declare_handler("test.given_up", act, max_attempts=1, on_retry=undo),
        declare_handler("test.once_only", act, max_attempts=1, retryable=False),
    ):
        yield


def _create_failed_jobs(org: Org, count: int, function: str = "test.given_up") -> list[UUID]:
    for n in range(count):
        enqueue(org, function, {"n": n})
    run_jobs_of(org, "default")
    return [row.id for row in rows(org) if row.status == "failed"]


def test_giving_up_is_an_error_in_the_log_and_a_metric(
    app: Flask, org: Org, capfd: pytest.CaptureFixture[str]
) -> None:
    metric, labels = "labeling_jobs_given_up_total", {"function": "test.given_up"}
    before = get_metric(app, metric, **labels)
    _create_failed_jobs(org, 2)
    assert get_metric(app, metric, **labels) == before + 2
    lines = [line for line in capfd.readouterr().err.splitlines() if "job.given_up" in line]
    assert len(lines) == 2
    assert all('"level":"error"' in line for line in lines)


def test_given_up_jobs_are_listed(flask: Any, org: Org, other_org: Org) -> None:
    ids = _create_failed_jobs(org, 2)
    _create_failed_jobs(other_org, 1)
    listed_jobs = flask.json("jobs", "list", "--org", org.slug)
    assert {row["id"] for row in listed_jobs} == {str(expected_id) for expected_id in ids}
    assert {row["error"] for row in listed_jobs} == {"RuntimeError: no luck"}
    assert len(flask.json("jobs", "list", "--org", org.slug, "--limit", "1")) == 1
    assert flask.json("jobs", "list", "--org", org.slug, "--function", "test.other") == []
    assert flask.json("jobs", "list", "--org", org.slug, "--queue", "bulk") == []
    assert "test.given_up" in flask.run_ok("jobs", "list", "--org", org.slug).stdout


def test_the_newest_jobs_are_listed_first(flask: Any, org: Org) -> None:
    _create_failed_jobs(org, 3)
    # Jobs of events have random ids, so the ids do not show which job is the newest.
    sql(
        org,
        "UPDATE jobs SET created_at = now() + ((args ->> 'n')::int * 2) % 3 * interval '1 second'"
        " WHERE organization_id = :org",
    )
    newest_first = [str(row.id) for row in sorted(rows(org), key=lambda row: row.created_at)[::-1]]
    listed_jobs = flask.json("jobs", "list", "--org", org.slug)
    assert [row["id"] for row in listed_jobs] == newest_first
    (newest_job,) = flask.json("jobs", "list", "--org", org.slug, "--limit", "1")
    assert newest_job["id"] == newest_first[0]


def test_a_given_up_job_runs_again_with_all_its_attempts(flask: Any, org: Org) -> None:
    ids = _create_failed_jobs(org, 2)
    SEEN[org.id]["mended"].append(True)
    assert flask.json("jobs", "retry", str(ids[0])) == {"queued": 1}
    assert SEEN[org.id]["undone"] == [0]
    run_jobs_of(org, "default")
    assert [(row.status, row.attempts) for row in rows(org)] == [("completed", 0), ("failed", 0)]
    assert flask.json("jobs", "retry", str(ids[0])) == {"queued": 0}


def test_a_selection_runs_again_in_batches(
    flask: Any, org: Org, other_org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "BATCH_SIZE", 2)
    _create_failed_jobs(org, 5)
    _create_failed_jobs(other_org, 1)
    assert flask.json("jobs", "retry", "--all", "--org", org.slug) == {"queued": 5}
    assert {row.status for row in rows(org)} == {"queued"}
    assert {row.status for row in rows(other_org)} == {"failed"}


def test_a_job_that_cannot_be_repeated_says_so(flask: Any, org: Org) -> None:
    (job_id,) = _create_failed_jobs(org, 1, "test.once_only")
    assert "cannot be retried" in flask.get_refusal("jobs", "retry", str(job_id))
    assert [row.status for row in rows(org)] == ["failed"]


def test_jobs_that_cannot_be_repeated_do_not_keep_back_the_others(flask: Any, org: Org) -> None:
    _create_failed_jobs(org, 2, "test.once_only")
    _create_failed_jobs(org, 1)
    result = flask.run_ok("jobs", "retry", "--all", "--org", org.slug)
    assert result.stdout == "queued  1\n"
    assert "Skipped 2 jobs of test.once_only" in result.stderr
    assert [row.status for row in rows(org)] == ["failed", "failed", "queued"]


def test_a_given_up_job_is_discarded(flask: Any, org: Org) -> None:
    ids = _create_failed_jobs(org, 2)
    assert flask.json("jobs", "discard", str(ids[0])) == {"discarded": 1}
    assert [row.status for row in rows(org)] == ["discarded", "failed"]
    assert run_jobs_of(org) == 0


@pytest.mark.parametrize("command", ["retry", "discard"])
def test_jobs_are_named_or_selected_and_not_both(flask: Any, command: str) -> None:
    assert flask.run("jobs", command).exit_code == 2
    assert flask.run("jobs", command, "--all", str(UUID(int=1))).exit_code == 2
    assert flask.run("jobs", command, "no-uuid").exit_code == 2


def test_operators_are_emailed_once(
    app: Flask, org: Org, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    operators = (f"ops-{org.slug}@example.com", f"night-{org.slug}@example.com")
    _report_failures(app)  # what other tests left
    settings = replace(container.settings(), operator_email=operators)
    monkeypatch.setattr(container.current(), "settings", settings)
    _create_failed_jobs(org, 3)
    assert _report_failures(app) >= 3
    _report_failures(app)
    work()
    for address in operators:
        messages = [email for email in list_emails_to(address) if "test.given_up (3)" in email.text]
        assert len(messages) == 1


def test_nobody_is_emailed_without_an_address(app: Flask, org: Org) -> None:
    _create_failed_jobs(org, 1)
    assert _report_failures(app) >= 1
    assert rows(org)[0].reported_at is not None


def _report_failures(app: Flask) -> int:
    everything = tenancy.across_organizations(reason="a test is the job")
    with app.app_context(), everything, db.transaction():
        return control_plane.report_failures()
