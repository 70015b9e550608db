"""SQL queries for the exports and invitations that notifications report on."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select

from app.delivery.exports.models import Export
from app.identity.invitations.models import Invitation
from app.identity.organizations.models import Organization
from app.kit import db


class ExportResult(NamedTuple):
    """The result of an export.

    `user_id` is the user who requested the export, or None if an API key requested it.
    """

    user_id: UUID | None
    format: str
    row_count: int | None
    expires_at: datetime | None
    error: dict[str, Any] | None


def get_export_result(export_id: UUID) -> ExportResult | None:
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


class InvitationResult(NamedTuple):
    """An invitation: the user who sent it, the invited address, and the organization's slug."""

    invited_by: UUID
    email: str
    slug: str


def get_invitation_result(invitation_id: UUID) -> InvitationResult | None:
    """Return an invitation, or None if the invitation or its sender no longer exists."""
    row = (
        db.session()
        .execute(
            select(Invitation.invited_by, Invitation.email, Organization.slug)
            .join(Organization, Organization.id == Invitation.organization_id)
            .where(Invitation.id == invitation_id)
        )
        .first()
    )
    if row is None or row.invited_by is None:
        return None
    return InvitationResult(row.invited_by, row.email, row.slug)
