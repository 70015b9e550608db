"""Create a million finished deliveries, and run all statements of delivery on a few others."""

from typing import Any
from uuid import UUID

from flask import Flask
from sqlalchemy import text

from app.delivery.webhooks import abandoning, fanout, recorder, replaying, service
from app.delivery.webhooks.models import Webhook
from app.delivery.webhooks.queries import backlog, due, leases
from app.delivery.webhooks.queries.leases import BeginLimit
from app.delivery.webhooks.queries.outcomes import AttemptResult
from app.kit import container, db, jobs, tenancy
from app.kit.ids import uuid7
from app.kit.pagination import PageRequest

PENDING = 2
FILL = {
    "webhooks": """
        INSERT INTO webhooks (organization_id, id, url, events, description, active,
                              consecutive_failures, secret, created_at, updated_at, revision)
        SELECT md5('org' || 1 + n %% %(organizations)s)::uuid, md5('hook' || n)::uuid,
               'https://hooks.example', '{artifact.ingested}', '', true, 0, %(secret)s,
               now(), now(), 1
        FROM generate_series(1, 4 * %(organizations)s) AS n
        """,
    "webhook_deliveries": """
        INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_id, event, body,
            status, test, generation, round, attempts_in_round, attempt_count, attempted_at,
            next_attempt_at, delivered_at, created_at, updated_at)
        SELECT w.organization_id, lpad(to_hex(n), 32, '0')::uuid, w.id,
               lpad(to_hex(n), 32, '0')::uuid,
               'artifact.ingested', '{}', 'delivered', false, 0, 1, 1, 1, now(), NULL, now(),
               now() - n * interval '1 millisecond', now() - n * interval '1 millisecond'
        FROM generate_series(1, %(rows)s) AS n
        JOIN webhooks w ON w.id = md5('hook' || 1 + n %% (4 * %(organizations)s))::uuid
        """,
    "webhook_attempts": """
        INSERT INTO webhook_attempts (organization_id, delivery_id, number, at, status_code,
                                      duration_ms)
        SELECT organization_id, id, 1, now(), 200, 10 FROM webhook_deliveries
        """,
}
"""The statements that fill the tables, in the order of their foreign keys."""
SEEN = (
    "WITH RECURSIVE organization",
    "gen_random_uuid()",
    "attempt_count = attempt_count - 1",
    "SET leased_until = now() + make_interval",
    "consecutive_failures = counter.failures",
    "'delivered' WHEN fatal",
    "delivered_at = clock_timestamp(), updated_at",
    "INSERT INTO webhook_attempts",
    "status = 'abandoned'",
    "replayed = true",
    "min(matching.updated_at)",
    "max(created_at) + interval",
    "DELETE FROM webhook_deliveries",
    "DELETE FROM webhooks",
    "previous_secret_expires_at <= now()",
)
"""A part of each statement."""


def act(app: Flask) -> None:
    """Deliver, record, abandon and delete, and run the maintenance job."""
    with tenancy.across_organizations(reason="finds webhooks"):
        rows = db.session().execute(
            text("SELECT organization_id, id FROM webhooks ORDER BY organization_id, id LIMIT 12")
        )
        limits = [BeginLimit(row.organization_id, row.id, PENDING) for row in rows]
        db.session().rollback()
    for organization_id in {limit.organization_id for limit in limits}:
        with tenancy.organization(organization_id), db.transaction():
            _fan_out()
    _run_queries()
    _deliver(limits)
    _run_queries()
    for limit in limits[:4]:
        with tenancy.organization(limit.organization_id):
            _deactivate(limit.organization_id, limit.webhook_id)
    with tenancy.across_organizations(reason="as the job does"), db.transaction():
        jobs.enqueue("webhooks.tidy", {}, organization_id=None)


def _fan_out() -> None:
    now = db.utc_now()
    payload: dict[str, Any] = {"artifact_id": str(uuid7())}
    fanout.fan_out(
        [
            fanout.Event(str(uuid7()), "artifact.ingested", payload, None, now)
            for _ in range(2 * PENDING)
        ]
    )


def _run_queries() -> None:
    """Run the queries of the relay and the metrics."""
    with tenancy.across_organizations(reason="as the relay does"), db.transaction():
        due.DueWebhookFinder().search_once()
        due.measure_backlog()
        backlog.list_deleted_webhooks()


def _deliver(limits: list[BeginLimit]) -> None:
    """Begin attempts at working and failing webhooks, and end them in every way."""
    for failing in (False, True):
        with tenancy.across_organizations(reason="as the deliverer does"), db.transaction():
            begun = leases.begin_attempts(limits, max_attempts=4, include_failing=failing)
            leases.DELIVERY_LEASES.renew([attempt.lease for attempt in begun])
            leases.requeue(begun[: 2 * PENDING])
        remaining_attempts = begun[2 * PENDING :]
        assert remaining_attempts or failing
        with tenancy.across_organizations(reason="as the recorder does"), db.transaction():
            recorder.write(
                [
                    AttemptResult(attempt, ok=number % 3 == 0, fatal=number % 7 == 1)
                    for number, attempt in enumerate(remaining_attempts)
                ]
            )
            # These leases are lost; the failures include the tenth of the first webhook.
            recorder.write([AttemptResult(attempt, ok=True) for attempt in begun[:PENDING]])
            recorder.write([AttemptResult(attempt, ok=False) for attempt in begun[:PENDING]])


def _deactivate(organization_id: UUID, webhook_id: UUID) -> None:
    """Deactivate a webhook, abandon the organization's deliveries, and delete the webhook."""
    with db.transaction():
        db.session().execute(
            text("UPDATE webhooks SET active = true WHERE id = :id"), {"id": webhook_id}
        )
        service.deactivate(webhook_id, revision=None)
        _fan_out()
        service.activate(webhook_id, revision=None, replay={})
        _fan_out()
        replay = service.get(webhook_id).replay
    assert replay is not None
    with db.transaction():
        commit = db.session().commit
        replaying.run_replay(organization_id, webhook_id, replay["id"], commit)
        service.list_webhooks(page=PageRequest(None, 100, "-created_at", b""))
    with db.transaction():
        backlog.begin_generation(organization_id)
    with db.transaction():
        abandoning.abandon_all(organization_id, db.session().commit)
    with db.transaction():
        backlog.delete_batch(organization_id, webhook_id, PENDING)
        abandoning.enqueue_purge(organization_id, webhook_id)
        backlog.delete_webhook(organization_id, webhook_id)


def secret() -> str:
    """Return an encrypted webhook secret that the service can decrypt."""
    assert Webhook.secret is not None
    return container.keyring().encrypt("0" * 64)
