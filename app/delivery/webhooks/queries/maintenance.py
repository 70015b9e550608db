"""SQL queries for maintenance in all organizations: old deliveries, and secrets to re-encrypt."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.kit import db

RETENTION_DAYS = 30
OLD_DELIVERIES = (
    f"next_attempt_at IS NULL AND updated_at < now() - interval '{RETENTION_DAYS} days'"
)
"""The SQL condition for the deliveries to delete, which ended more than RETENTION_DAYS days ago."""
_BATCH_SIZE = 500


class EncryptedSecrets(NamedTuple):
    """The encrypted secrets of a webhook; `id` is the id of the webhook."""

    organization_id: UUID
    id: UUID
    secret: str
    previous_secret: str | None


_DELETE_EXPIRED_SECRETS = text(
    "UPDATE webhooks SET previous_secret = NULL, previous_secret_expires_at = NULL"
    " WHERE previous_secret_expires_at <= now()"
)
_LIST_SECRETS = text(
    """
    SELECT organization_id, id, secret, previous_secret FROM webhooks
    WHERE (organization_id, id) > (CAST(:organization_id AS uuid), CAST(:id AS uuid))
    ORDER BY organization_id, id LIMIT :batch
    """
)
# The secret may have been rotated meanwhile; a value that is no longer stored is not replaced.
_REPLACE_SECRET = text(
    """
    UPDATE webhooks SET
        secret = CASE WHEN secret = :old THEN :new ELSE secret END,
        previous_secret = CASE WHEN previous_secret = :old THEN :new ELSE previous_secret END
    WHERE organization_id = :organization_id AND id = :id AND :old IN (secret, previous_secret)
    """
)


def delete_expired_secrets() -> None:
    """Delete previous secrets that no longer sign deliveries."""
    db.session().execute(_DELETE_EXPIRED_SECRETS)


def list_secrets(after: EncryptedSecrets | None) -> list[EncryptedSecrets]:
    """Return the encrypted secrets of the next batch of webhooks.

    `after` is the last webhook of the previous batch, or None for the first batch.
    """
    nil = UUID(int=0)
    values = {
        "organization_id": after.organization_id if after else nil,
        "id": after.id if after else nil,
        "batch": _BATCH_SIZE,
    }
    return [EncryptedSecrets(*row) for row in db.session().execute(_LIST_SECRETS, values)]


def replace_secret(webhook: EncryptedSecrets, old_secret: str, new_secret: str) -> None:
    """Replace an encrypted secret with the same secret encrypted with another key."""
    key = {"organization_id": webhook.organization_id, "id": webhook.id}
    db.session().execute(_REPLACE_SECRET, {**key, "old": old_secret, "new": new_secret})
