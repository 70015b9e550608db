"""A long backlog, and workers that stand still: others are served, and nothing runs twice."""

import contextlib
import signal
import time
from statistics import median
from typing import Any
from uuid import uuid4

import psutil
import pytest
import redis

from app.kit.jobs.claims import LEASE_SECONDS
from app.kit.jobs.queues import GROUPS, QUEUES
from tests.factories.waiting import wait_until
from tests.faults.conftest import Receiver, Service
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

BACKLOG = 10_000
STOPPED = 500
ROUNDS = 5
SLACK_SECONDS = 1.0
"""What the machine may take for itself: the tests run on cores that others use too."""
_FILL = """
INSERT INTO jobs (id, organization_id, queue, function, args)
SELECT gen_random_uuid(), :org, :queue, :function, CAST(:args AS jsonb)
FROM generate_series(1, :count)
"""
_CONTENT = '{"data": {"artifact_id": "none", "sha256": "none"}}'
# Waiting for what the workers have in hand could deadlock with them.
_DELETE = """
DELETE FROM jobs WHERE id IN (
    SELECT id FROM jobs WHERE organization_id = :org AND due_at IS NOT NULL FOR UPDATE SKIP LOCKED
)
"""
_LEFT = "SELECT count(*) FROM jobs WHERE organization_id = :org AND due_at IS NOT NULL"


def _arrival(service: Service, receiver: Receiver) -> float:
    """Seconds from uploading a document to the delivery that tells that it is ready."""
    began = time.monotonic()
    identifier = service.write(f"A document of its own: {uuid4()}")
    assert identifier is not None
    wait_until(lambda: identifier in receiver.artifacts, "the delivery")
    return time.monotonic() - began


@pytest.fixture
def hooked(demo: Service, receiver: Receiver) -> Service:
    """The demo organization, with a webhook."""
    demo.hook(receiver)
    return demo


def test_one_organizations_backlog_delays_no_other(
    place: Site, hooked: Service, receiver: Receiver
) -> None:
    for _ in range(2):
        _arrival(hooked, receiver)
    idle = median(_arrival(hooked, receiver) for _ in range(ROUNDS))
    for queue, function in (
        ("bulk", "webhooks.end"),
        ("documents", "artifacts.parse"),
        ("notifications", "notifications.email"),
        ("routing", "routing_rules.route"),
    ):
        args = f'{{"data": {{"artifact_id": "{uuid4()}", "notification_id": "{uuid4()}"}}}}'
        place.sql(_FILL, queue=queue, function=function, args=args, count=BACKLOG)
    loaded = median(_arrival(hooked, receiver) for _ in range(ROUNDS))
    left = place.one(_LEFT)
    place.sql(_DELETE)
    assert left > 0, "the backlog was there to the end"
    assert loaded <= 2 * idle + SLACK_SECONDS, f"{idle:.2f} s, and {loaded:.2f} s with a backlog"


def test_workers_that_stood_still_go_on_where_they_were(place: Site) -> None:
    """Longer than their leases: none of the jobs that waited runs twice, or waits for a lease."""
    store = redis.Redis.from_url(place.service.environment()["REDIS_URL"])
    workers = place.service.processes("worker.py")
    for worker in workers:
        # A child of theirs may have ended meanwhile.
        with contextlib.suppress(psutil.NoSuchProcess):
            worker.send_signal(signal.SIGSTOP)
    try:
        values = {"queue": "bulk", "function": "webhooks.end", "args": _CONTENT}
        place.sql(_FILL, **values, count=STOPPED)
        stood_until = time.monotonic() + LEASE_SECONDS + 5
        wait_until(lambda: time.monotonic() > stood_until, "the workers to stand still for a while")
    finally:
        for worker in workers:
            # A child of theirs may have ended meanwhile.
            with contextlib.suppress(psutil.NoSuchProcess):
                worker.send_signal(signal.SIGCONT)
    waiting: list[int] = []

    def drained() -> bool:
        waiting.append(max(_messages(store, name) for name in GROUPS))
        return place.one(_LEFT) == 0

    wait_until(drained, "the backlog to be worked off")
    assert max(waiting) <= 1, "one message wakes a queue, however much is due"
    (row,) = place.sql(
        "SELECT count(*) FILTER (WHERE status = 'completed') AS completed,"
        " sum(interruptions) AS interrupted FROM jobs"
        " WHERE organization_id = :org AND function = 'webhooks.end'"
    )
    assert row.completed == STOPPED
    assert row.interrupted <= QUEUES["bulk"].slots, "only what was in hand may run twice"


def _messages(store: Any, group: str) -> int:
    return int(store.llen(f"rq:queue:{group}"))
