"""SQL queries of invitations."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, case, func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.identity.invitations.models import Invitation
from app.identity.organizations.models import Membership, Organization
from app.identity.users.models import User
from app.kit import db
from app.kit.pagination import Page, PageRequest, paginate, within

_PENDING = (Invitation.accepted_at.is_(None), Invitation.revoked_at.is_(None))
_STATUS = case(
    (Invitation.accepted_at.is_not(None), "accepted"),
    (Invitation.revoked_at.is_not(None), "revoked"),
    (Invitation.expires_at <= func.now(), "expired"),
    else_="open",
).label("status")
_INVITER = case(
    (
        User.id.is_not(None),
        func.jsonb_build_object("id", User.id, "email", User.email, "name", User.name),
    )
).label("invited_by")
_COLUMNS: tuple[Any, ...] = (
    Invitation.id,
    Invitation.email,
    Invitation.role,
    Invitation.team_ids,
    _STATUS,
    Invitation.expires_at,
    _INVITER,
    Invitation.created_at,
    Invitation.updated_at,
)
_INVITATIONS = select(*_COLUMNS).outerjoin(User, User.id == Invitation.invited_by)
_SORTS = {"created_at": Invitation.created_at, "email": Invitation.email}
_NO_SYNC = {"synchronize_session": False}


def page(request: PageRequest, filters: Mapping[str, Any]) -> Page:
    """Return a page of the organization's invitations."""
    statement = _INVITATIONS.where(filters["status"] == _STATUS)
    period = within(
        Invitation.created_at, filters.get("created_after"), filters.get("created_before")
    )
    statement = statement.where(*period)
    return paginate(statement, request, sorts=_SORTS, unique=Invitation.id)


def get(invitation_id: UUID) -> Row[Any] | None:
    """Return an invitation with the same columns as `page`, or None."""
    row: Row[Any] | None
    statement = _INVITATIONS.where(Invitation.id == invitation_id)
    row = db.session().execute(statement).one_or_none()
    return row


def upsert(values: dict[str, Any]) -> UUID:
    """Insert an invitation, or replace the address's pending one; return its id.

    A pending invitation is neither accepted nor revoked; it may have expired.
    """
    changed = ("email", "role", "team_ids", "token_hash", "expires_at", "invited_by", "updated_at")
    insertion = insert(Invitation).values(**values)
    statement = insertion.on_conflict_do_update(
        index_elements=[Invitation.organization_id, Invitation.email_key],
        index_where=Invitation.accepted_at.is_(None) & Invitation.revoked_at.is_(None),
        set_={name: insertion.excluded[name] for name in changed},
    ).returning(Invitation.id)
    return db.session().execute(statement).scalar_one()


def is_member(user_id: UUID) -> bool:
    """Return true if a user is a member of the organization."""
    statement = select(Membership.user_id).where(Membership.user_id == user_id)
    return db.session().execute(statement).first() is not None


def revoke_by_inviter(user_id: UUID, roles: Sequence[str]) -> None:
    """Revoke the pending invitations to `roles` that a user sent, in all bound organizations."""
    _revoke_where(Invitation.invited_by == user_id, Invitation.role.in_(roles))


def revoke_by_address(user_id: UUID) -> None:
    """Revoke the pending invitation of a user's address."""
    _revoke_where(
        Invitation.email == select(User.email).where(User.id == user_id).scalar_subquery()
    )


def _revoke_where(*conditions: ColumnElement[bool]) -> None:
    db.session().execute(
        update(Invitation)
        .where(*conditions, *_PENDING)
        .values(revoked_at=func.now(), updated_at=func.now())
        .execution_options(**_NO_SYNC)
    )


def revoke(invitation_id: UUID) -> bool:
    """Revoke a pending invitation, and return false if there is no such invitation."""
    statement = (
        update(Invitation)
        .where(Invitation.id == invitation_id, *_PENDING)
        .values(revoked_at=func.now(), updated_at=func.now())
        .returning(Invitation.id)
        .execution_options(**_NO_SYNC)
    )
    return db.session().execute(statement).first() is not None


def find_by_token(token_hash: str) -> Row[Any] | None:
    """Return the invitation of a token with its organization, whatever its status, or None.

    The caller must have bound all organizations.
    """
    columns: tuple[Any, ...] = (
        *_COLUMNS,
        Invitation.organization_id,
        User.name.label("inviter_name"),
        Organization.slug,
        Organization.name,
        Organization.settings,
        Organization.status.label("organization_status"),
    )
    row: Row[Any] | None
    row = (
        db.session()
        .execute(
            select(*columns)
            .join(Organization, Organization.id == Invitation.organization_id)
            .outerjoin(User, User.id == Invitation.invited_by)
            .where(Invitation.token_hash == token_hash)
        )
        .one_or_none()
    )
    return row


def accept_by_address(email: str) -> Row[Any] | None:
    """Accept the open invitation of an address, unless its role is owner.

    Returns (id, role, team_ids), or None if there is no such invitation.
    """
    statement = (
        update(Invitation)
        .where(
            Invitation.email == email,
            Invitation.role != "owner",
            Invitation.expires_at > func.now(),
            *_PENDING,
        )
        .values(accepted_at=func.now(), updated_at=func.now())
        .returning(Invitation.id, Invitation.role, Invitation.team_ids)
        .execution_options(**_NO_SYNC)
    )
    row: Row[Any] | None = db.session().execute(statement).one_or_none()
    return row


def lock_open(token_hash: str) -> bool:
    """Lock an open invitation, and return false if it is not open.

    A concurrent request waits, and then finds the invitation accepted.
    """
    statement = (
        select(Invitation.id)
        .where(Invitation.token_hash == token_hash, Invitation.expires_at > func.now(), *_PENDING)
        .with_for_update()
    )
    return db.session().execute(statement).first() is not None


def mark_accepted(token_hash: str) -> bool:
    """Mark an open invitation as accepted, and return false if it is not open any more."""
    statement = (
        update(Invitation)
        .where(Invitation.token_hash == token_hash, Invitation.expires_at > func.now(), *_PENDING)
        .values(accepted_at=func.now(), updated_at=func.now())
        .returning(Invitation.id)
        .execution_options(**_NO_SYNC)
    )
    return db.session().execute(statement).first() is not None
