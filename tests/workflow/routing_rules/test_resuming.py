"""Applying the rules to all unassigned documents: once each, whatever interrupts the job."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from app.kit import db
from app.kit.jobs.handlers import Job
from app.workflow.routing_rules.service import routing
from app.workflow.routing_rules.service.progress import ApplyProgress
from tests.factories import run_jobs_of
from tests.factories.routing import Router, where


def _count_routings(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """Return a list to which each document is appended when the rules are applied to it."""
    routed: list[UUID] = []
    find_matches = routing.find_matches

    def record(ids: list[UUID], rules: Any) -> Any:
        routed.extend(ids)
        return find_matches(ids, rules)

    monkeypatch.setattr(routing, "find_matches", record)
    return routed


def _yield_after_each_batch(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    remaining = iter(range(times))
    monkeypatch.setattr(Job, "_must_yield", lambda _: next(remaining, None) is not None)


def _jobs(router: Router) -> list[Any]:
    return router.workspace.sql(
        "SELECT status, attempts FROM jobs WHERE organization_id = :org AND function = :function",
        org=str(router.org.id),
        function="routing_rules.apply",
    )


def test_a_job_that_yields_goes_on_where_it_stopped(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "BATCH_SIZE", 2)
    ids = [router.workspace.artifact() for _ in range(7)]
    routed = _count_routings(monkeypatch)
    _yield_after_each_batch(monkeypatch, 5)
    router.rule(due_in_hours=48, apply=True)
    before = [router.artifact(item_id)["revision"] for item_id in ids]
    run_jobs_of(router.org)
    assert routed == ids
    assert [router.artifact(item_id)["revision"] for item_id in ids] == [one + 1 for one in before]
    assert [tuple(row) for row in _jobs(router)] == [("completed", 0)]


def test_requests_make_one_job(router: Router, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [router.workspace.artifact() for _ in range(3)]
    routed = _count_routings(monkeypatch)
    for priority in (10, 20):
        router.rule(priority=priority, stop=False, apply=True)
    order = [rule["id"] for rule in reversed(router.rules())]
    body = {"rule_ids": order, "apply": True}
    assert router.org.api("admin").post("/routing-rules/reorder", json=body).status_code == 200
    assert len(_jobs(router)) == 1
    run_jobs_of(router.org)
    assert routed == ids
    assert {router.artifact(item_id)["priority"] for item_id in ids} == {10}
    assert len(router.workspace.events("routing.requested")) == 3
    # After it has finished, a request makes a new job.
    router.rule(where("name", "equals", "never"), priority=1, apply=True)
    run_jobs_of(router.org)
    assert [row.status for row in _jobs(router)] == ["completed"] * 2


@pytest.mark.parametrize("batches", [1, 3])
def test_a_request_while_the_job_runs_starts_it_over(
    router: Router, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    monkeypatch.setattr(routing, "BATCH_SIZE", 2)
    rule = router.rule(priority=10, apply=True)
    ids = [router.workspace.artifact() for _ in range(6)]
    checkpoint, commits = Job.checkpoint, []

    def request(job: Job) -> None:
        checkpoint(job)
        commits.append(1)
        if len(commits) == batches:
            path, body = f"/routing-rules/{rule['id']}", {"action": {"priority": 20}, "apply": True}
            with ThreadPoolExecutor(1) as pool:
                answer = pool.submit(lambda: router.org.api("admin").patch(path, json=body))
                assert answer.result().status_code == 200

    monkeypatch.setattr(Job, "checkpoint", request)
    run_jobs_of(router.org)
    assert {router.artifact(item_id)["priority"] for item_id in ids} == {20}
    assert [tuple(row) for row in _jobs(router)] == [("completed", 0)]


def test_documents_that_come_in_later_are_not_part_of_it(router: Router) -> None:
    router.rule(priority=90)
    before = router.workspace.artifact()
    with router.workspace.transaction():
        progress = ApplyProgress()
    later = router.workspace.artifact()
    with router.workspace.transaction():
        assert routing.route_unassigned(db.checkpoint, progress=progress) == 1
    assert [router.artifact(one)["priority"] for one in (before, later)] == [90, 50]
