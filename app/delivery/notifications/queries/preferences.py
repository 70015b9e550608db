"""SQL queries for users' email delivery preferences."""

from datetime import time
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import select, text

from app.delivery.notifications.models import DeliveryPreferences
from app.identity.users.models import User
from app.kit import db

# A single statement ensures that only one of two writers with the same revision succeeds.
_WRITE = text(
    """
    INSERT INTO notification_delivery_preferences AS stored
        (user_id, email_frequency, quiet_from, quiet_to, updated_at, revision)
    SELECT :user_id, :email_frequency, CAST(:quiet_from AS time), CAST(:quiet_to AS time), now(), 1
    WHERE coalesce(CAST(:revision AS int), 0) = 0 OR EXISTS (
        SELECT FROM notification_delivery_preferences WHERE user_id = :user_id)
    ON CONFLICT (user_id) DO UPDATE SET email_frequency = excluded.email_frequency,
        quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to,
        updated_at = excluded.updated_at, revision = stored.revision + 1
    WHERE CAST(:revision AS int) IS NULL OR stored.revision = :revision
    RETURNING revision
    """
)
# The next run of the email job computes the send time from the new preferences.
_MAKE_DUE = text(
    """
    UPDATE notifications SET open_until = now()
    WHERE user_id = :user_id AND open_until > now() AND by_mail
      AND organization_id IN (SELECT organization_id FROM memberships WHERE user_id = :user_id)
    """
)


class StoredPreferences(NamedTuple):
    """The preferences of a user; all values except `time_zone` are None if none were ever set."""

    email_frequency: str | None
    quiet_from: time | None
    quiet_to: time | None
    revision: int | None
    time_zone: str


def get(user_id: UUID) -> StoredPreferences | None:
    """Return the preferences of a user, or None if the user does not exist."""
    stored = DeliveryPreferences
    columns = (stored.email_frequency, stored.quiet_from, stored.quiet_to, stored.revision)
    statement = (
        select(*columns, User.time_zone)
        .outerjoin_from(User, stored, stored.user_id == User.id)
        .where(User.id == user_id)
    )
    return db.find_row(StoredPreferences, statement)


def write(
    user_id: UUID,
    *,
    email_frequency: str,
    quiet_from: time | None,
    quiet_to: time | None,
    revision: int | None,
) -> bool:
    """Write a user's preferences, unless `revision` is outdated; return whether they were written.

    If `revision` is None, the stored revision is not checked. If `revision` is 0, the preferences
    are written only if the user has no stored preferences yet.
    """
    values = {
        "user_id": user_id,
        "email_frequency": email_frequency,
        "quiet_from": quiet_from,
        "quiet_to": quiet_to,
        "revision": revision,
    }
    return db.session().execute(_WRITE, values).first() is not None


def make_emails_due(user_id: UUID) -> None:
    """Make a user's pending emails due now. Callers must use `tenancy.across_organizations`."""
    db.session().execute(_MAKE_DUE, {"user_id": user_id})
