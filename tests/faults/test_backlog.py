"""Check that a backlog and suspended workers do not delay other work or make jobs run twice."""

import signal
import time
from typing import Any
from uuid import uuid4

import pytest
import redis

from app.kit.jobs.claims import JOB_LEASES, MAX_BATCH_SIZE
from app.kit.jobs.queues import GROUPS, QUEUES
from tests.factories.processes import send_signal
from tests.factories.waiting import wait_until
from tests.faults.conftest import Receiver, Service
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

BACKLOG = 10_000
QUEUED = 500
ROUNDS = 5
_QUEUES = {
    "bulk": "webhooks.end",
    "documents": "artifacts.parse",
    "notifications": "notifications.email",
    "routing": "routing_rules.route",
}
_FILL = """
INSERT INTO jobs (id, organization_id, queue, function, args)
SELECT gen_random_uuid(), :org, :queue, :function, CAST(:args AS jsonb)
FROM generate_series(1, :count)
"""
_CONTENT = '{"data": {"artifact_id": "none", "sha256": "none"}}'
# Skips the jobs that workers have locked, because waiting for them could cause a deadlock.
_DELETE = """
DELETE FROM jobs WHERE id IN (
    SELECT id FROM jobs WHERE organization_id = :org AND due_at IS NOT NULL FOR UPDATE SKIP LOCKED
)
"""
# For each job of the other organization, the number of jobs of the backlog that ended between its
# creation and its end.
_OVERTAKING = """
SELECT other.queue, (
    SELECT count(*) FROM jobs AS own WHERE own.organization_id = :org AND own.queue = other.queue
    AND own.finished_at > other.created_at AND own.finished_at < other.finished_at) AS count
FROM jobs AS other JOIN organizations ON organizations.id = other.organization_id
WHERE organizations.slug = :slug AND other.queue = ANY(:queues) AND other.created_at >= :since
  AND other.finished_at IS NOT NULL
"""
_COUNT_PENDING = "SELECT count(*) FROM jobs WHERE organization_id = :org AND due_at IS NOT NULL"


def _deliver(service: Service, receiver: Receiver) -> None:
    """Create a document, and wait for the delivery of its event."""
    identifier = service.write(f"A document of its own: {uuid4()}")
    assert identifier is not None
    wait_until(lambda: identifier in receiver.artifacts, "the delivery")


@pytest.fixture
def service_with_webhook(demo: Service, receiver: Receiver) -> Service:
    """Return the service, with a webhook in the demo organization."""
    demo.create_webhook(receiver)
    return demo


def test_a_backlog_does_not_delay_other_organizations(
    test_site: Site, service_with_webhook: Service, receiver: Receiver
) -> None:
    _deliver(service_with_webhook, receiver)
    for queue, function in _QUEUES.items():
        args = f'{{"data": {{"artifact_id": "{uuid4()}", "notification_id": "{uuid4()}"}}}}'
        test_site.sql(_FILL, queue=queue, function=function, args=args, count=BACKLOG)
    since = test_site.get_value("SELECT now()")
    for _ in range(ROUNDS):
        _deliver(service_with_webhook, receiver)
    values = {"slug": "demo", "since": since, "queues": list(_QUEUES)}

    def find_overtaking() -> list[Any] | None:
        rows = test_site.sql(_OVERTAKING, **values)
        return rows if sum(row.queue == "routing" for row in rows) == ROUNDS else None

    overtaking = wait_until(find_overtaking, "the routing of the documents")
    pending_count = test_site.get_value(_COUNT_PENDING)
    test_site.sql(_DELETE)
    assert pending_count > 0, "the backlog lasted until the end"
    for queue, count in overtaking:
        # The jobs that are running, and one batch when it is the turn of the backlog.
        assert count <= 2 * QUEUES[queue].slots * MAX_BATCH_SIZE, queue


def test_suspended_workers_continue_after_they_are_resumed(test_site: Site) -> None:
    """Suspend workers for longer than their leases; no job runs twice or waits for a lease."""
    store = redis.Redis.from_url(test_site.service.environment()["REDIS_URL"])
    workers = test_site.service.processes("worker.py")
    for worker in workers:
        send_signal(worker, signal.SIGSTOP)
    try:
        values = {"queue": "bulk", "function": "webhooks.end", "args": _CONTENT}
        test_site.sql(_FILL, **values, count=QUEUED)
        suspended_until = time.monotonic() + JOB_LEASES.lease_seconds + 5
        wait_until(lambda: time.monotonic() > suspended_until, "the leases to expire")
    finally:
        for worker in workers:
            send_signal(worker, signal.SIGCONT)
    waiting: list[int] = []

    def is_drained() -> bool:
        waiting.append(max(store.llen(f"rq:queue:{name}") for name in GROUPS))
        return test_site.get_value(_COUNT_PENDING) == 0

    wait_until(is_drained, "the backlog to be processed")
    assert max(waiting) <= 1, "one message is enough to wake a queue"
    (row,) = test_site.sql(
        "SELECT count(*) FILTER (WHERE status = 'completed') AS completed,"
        " sum(interruptions) AS interrupted FROM jobs"
        " WHERE organization_id = :org AND function = 'webhooks.end'"
    )
    assert row.completed == QUEUED
    assert row.interrupted <= QUEUES["bulk"].slots, "only jobs that were running may run twice"
