"""SQL queries that abandon or delete many deliveries in batches.

A delivery is outdated if its webhook was deactivated after the delivery was created or last
redelivered: the generation of the delivery is then lower than that of the webhook. An outdated
delivery is no longer attempted, and is abandoned. Rows that other transactions have locked are
skipped.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import CursorResult, TextClause, text

from app.kit import db, purging
from app.kit.leases import RELEASE_ASSIGNMENTS

BATCH_SIZE = 1_000
MAX_COUNTED = 100_000
"""The maximum number of outdated deliveries to count."""


class OutdatedWebhook(NamedTuple):
    """A webhook that has pending deliveries of an earlier generation."""

    organization_id: UUID
    id: UUID
    generation: int


# This query loops over the webhooks of the organization, not over their deliveries.
_LIST_OUTDATED = text(
    """
    SELECT w.organization_id, w.id, w.generation FROM webhooks w
    WHERE w.organization_id = :organization_id AND w.generation > 0
      AND (CAST(:webhook_id AS uuid) IS NULL OR w.id = :webhook_id)
      AND EXISTS (
        SELECT FROM webhook_deliveries d
        WHERE d.organization_id = w.organization_id AND d.webhook_id = w.id
          AND d.generation < w.generation AND d.next_attempt_at IS NOT NULL AND NOT d.test)
    ORDER BY w.id LIMIT :batch
    """
)
_OUTDATED = """
    FROM webhook_deliveries d
    WHERE d.organization_id = :organization_id AND d.webhook_id = :webhook_id
      AND d.generation < :generation AND d.next_attempt_at IS NOT NULL AND NOT d.test
"""
_ABANDON = text(
    f"""
    WITH outdated AS MATERIALIZED (
        SELECT d.organization_id, d.id {_OUTDATED} LIMIT :batch FOR UPDATE SKIP LOCKED
    )
    UPDATE webhook_deliveries d SET status = 'abandoned', next_attempt_at = NULL,
        {RELEASE_ASSIGNMENTS}, updated_at = clock_timestamp()
    FROM outdated WHERE (d.organization_id, d.id) = (outdated.organization_id, outdated.id)
    """  # noqa: S608 - made of constants
)
_COUNT_OUTDATED = text(
    f"SELECT count(*) FROM (SELECT {_OUTDATED} LIMIT :max_count) AS outdated"  # noqa: S608
)
_BEGIN_GENERATION = text(
    "UPDATE webhooks SET generation = generation + 1 WHERE organization_id = :organization_id"
)
_BELONGS_TO_WEBHOOK = "organization_id = :organization_id AND webhook_id = :webhook_id"
_DELETE_WEBHOOK = text(
    "DELETE FROM webhooks WHERE organization_id = :organization_id AND id = :webhook_id"
    " AND deleted_at IS NOT NULL"
)
_LIST_DELETED = text(
    "SELECT organization_id, id FROM webhooks WHERE deleted_at IS NOT NULL"
    " ORDER BY deleted_at LIMIT :batch"
)


def list_outdated_webhooks(
    organization_id: UUID, webhook_id: UUID | None = None
) -> list[OutdatedWebhook]:
    """Return up to `BATCH_SIZE` webhooks of an organization that have outdated deliveries.

    If `webhook_id` is given, other webhooks are ignored.
    """
    values = {"organization_id": organization_id, "webhook_id": webhook_id, "batch": BATCH_SIZE}
    return [OutdatedWebhook(*row) for row in db.session().execute(_LIST_OUTDATED, values)]


def abandon_batch(webhook: OutdatedWebhook, limit: int = BATCH_SIZE) -> int:
    """Abandon up to `limit` outdated deliveries of a webhook; return how many were abandoned."""
    return _execute(_ABANDON, {**_build_parameters(webhook), "batch": limit})


def count_outdated_deliveries(webhook: OutdatedWebhook) -> int:
    """Return the number of outdated deliveries of a webhook, at most `MAX_COUNTED`."""
    values = {**_build_parameters(webhook), "max_count": MAX_COUNTED}
    return int(db.session().execute(_COUNT_OUTDATED, values).scalar_one())


def begin_generation(organization_id: UUID) -> int:
    """Begin a new generation of all webhooks of an organization; return the number of webhooks.

    The pending deliveries of these webhooks are then outdated.
    """
    return _execute(_BEGIN_GENERATION, {"organization_id": organization_id})


def delete_batch(organization_id: UUID, webhook_id: UUID, limit: int = BATCH_SIZE) -> int:
    """Delete up to `limit` of a webhook's deliveries with their attempts; return how many."""
    values = {"organization_id": organization_id, "webhook_id": webhook_id}
    return purging.delete_batch("webhook_deliveries", _BELONGS_TO_WEBHOOK, values, limit)


def delete_webhook(organization_id: UUID, webhook_id: UUID) -> None:
    """Delete the row of a webhook that users have deleted."""
    values = {"organization_id": organization_id, "webhook_id": webhook_id}
    db.session().execute(_DELETE_WEBHOOK, values)


def list_deleted_webhooks() -> Sequence[tuple[UUID, UUID]]:
    """Return up to `BATCH_SIZE` deleted webhooks, as pairs of organization id and webhook id."""
    rows = db.session().execute(_LIST_DELETED, {"batch": BATCH_SIZE})
    return [(row.organization_id, row.id) for row in rows]


def _build_parameters(webhook: OutdatedWebhook) -> dict[str, Any]:
    return {
        "organization_id": webhook.organization_id,
        "webhook_id": webhook.id,
        "generation": webhook.generation,
    }


def _execute(statement: TextClause, values: dict[str, Any]) -> int:
    """Execute a statement and return the number of rows that it changed."""
    result = db.session().execute(statement, values)
    assert isinstance(result, CursorResult)
    return result.rowcount
