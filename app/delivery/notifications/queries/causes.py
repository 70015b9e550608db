"""SQL of the exports and invitations that notifications are about."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import and_, func, select
from sqlalchemy.orm import aliased

from app.delivery.exports.models import Export
from app.identity.invitations.models import Invitation
from app.identity.organizations.models import Organization
from app.identity.users.models import User
from app.kit import db


class ExportResult(NamedTuple):
    """The result of an export, and the user who requested it; None if an API key did."""

    user_id: UUID | None
    format: str
    row_count: int | None
    expires_at: datetime | None
    error: dict[str, Any] | None


def get_export(export_id: UUID) -> ExportResult | None:
    """Return the result of an export, or None if it no longer exists."""
    statement = select(
        Export.created_by,
        Export.api_key_id,
        Export.format,
        Export.row_count,
        Export.expires_at,
        Export.error,
    ).where(Export.id == export_id)
    row = db.session().execute(statement).first()
    if row is None:
        return None
    user_id = row.created_by if row.api_key_id is None else None
    return ExportResult(user_id, row.format, row.row_count, row.expires_at, row.error)


class InvitedUser(NamedTuple):
    """A user with an account who was invited, and the invitation."""

    locale: str
    time_zone: str
    preferences: dict[str, Any]
    email: str
    role: str
    expires_at: datetime
    organization: str
    inviter: str | None


def get_invited_user(invitation_id: UUID, user_id: UUID) -> InvitedUser | None:
    """Return an invited user, or None if the invitation is not open or the user is disabled."""
    inviter = aliased(User)
    statement = (
        select(
            User.locale,
            User.time_zone,
            User.notification_preferences,
            Invitation.email,
            Invitation.role,
            Invitation.expires_at,
            Organization.name,
            inviter.name,
        )
        .join(Organization, Organization.id == Invitation.organization_id)
        .join(User, and_(User.id == user_id, User.disabled_at.is_(None)))
        .outerjoin(inviter, inviter.id == Invitation.invited_by)
        .where(
            Invitation.id == invitation_id,
            Invitation.accepted_at.is_(None),
            Invitation.revoked_at.is_(None),
            Invitation.expires_at > func.now(),
        )
    )
    row = db.session().execute(statement).first()
    return None if row is None else InvitedUser(*row)
