"""SQL of keeping house, over all organizations: old deliveries, old secrets, old keys."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.kit import db

RETENTION_DAYS = 30
_PURGE_BATCH = 5000
_SEAL_BATCH = 500


class Sealed(NamedTuple):
    """A webhook's encrypted secrets."""

    organization_id: UUID
    id: UUID
    secret: str
    previous_secret: str | None


_PURGE = text(
    """
    DELETE FROM webhook_deliveries WHERE (organization_id, id) IN (
        SELECT organization_id, id FROM webhook_deliveries
        WHERE next_attempt_at IS NULL AND updated_at < now() - make_interval(days => :days)
        LIMIT :batch FOR UPDATE SKIP LOCKED)
    """
)
_FORGET_SECRETS = text(
    "UPDATE webhooks SET previous_secret = NULL, previous_secret_expires_at = NULL"
    " WHERE previous_secret_expires_at <= now()"
)
_SEALED = text(
    """
    SELECT organization_id, id, secret, previous_secret FROM webhooks
    WHERE (organization_id, id) > (CAST(:organization_id AS uuid), CAST(:id AS uuid))
    ORDER BY organization_id, id LIMIT :batch
    """
)
# Somebody may rotate the secret meanwhile: what is no longer there is not replaced.
_RESEAL = text(
    """
    UPDATE webhooks SET
        secret = CASE WHEN secret = :old THEN :new ELSE secret END,
        previous_secret = CASE WHEN previous_secret = :old THEN :new ELSE previous_secret END
    WHERE organization_id = :organization_id AND id = :id AND :old IN (secret, previous_secret)
    """
)


def purge() -> bool:
    """Delete a batch of deliveries that ended long ago; whether there may be more."""
    deleted = db.session().execute(_PURGE, {"days": RETENTION_DAYS, "batch": _PURGE_BATCH})
    return bool(deleted.rowcount == _PURGE_BATCH)  # type: ignore[attr-defined]


def forget_secrets() -> None:
    """Drop rotated secrets that sign no more."""
    db.session().execute(_FORGET_SECRETS)


def sealed(after: Sealed | None) -> list[Sealed]:
    """The secrets of the webhooks that follow `after`, some at a time."""
    nil = UUID(int=0)
    values = {
        "organization_id": after.organization_id if after else nil,
        "id": after.id if after else nil,
        "batch": _SEAL_BATCH,
    }
    return [Sealed(*row) for row in db.session().execute(_SEALED, values)]


def reseal(webhook: Sealed, old: str, new: str) -> None:
    """Replace an encrypted secret by the same one under another key."""
    values = {"organization_id": webhook.organization_id, "id": webhook.id, "old": old, "new": new}
    db.session().execute(_RESEAL, values)
