"""SQL queries for invitations."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, and_, case, func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.identity.invitations.models import Invitation
from app.identity.organizations.models import CLOSED_STATUSES, Organization
from app.identity.users.models import User, build_person
from app.kit import db
from app.kit.pagination import Page, PageRequest, build_period_conditions, paginate
from app.kit.periods import get_created_bounds

_PENDING_CONDITIONS = (Invitation.accepted_at.is_(None), Invitation.revoked_at.is_(None))
_STATUS = case(
    (Invitation.accepted_at.is_not(None), "accepted"),
    (Invitation.revoked_at.is_not(None), "revoked"),
    (Invitation.expires_at <= func.now(), "expired"),
    else_="open",
)
# These conditions use the partial indexes; a condition on `_STATUS` could use no index.
_STATUS_CONDITIONS: Mapping[str, tuple[ColumnElement[bool], ...]] = {
    "open": (*_PENDING_CONDITIONS, Invitation.expires_at > func.now()),
    "expired": (*_PENDING_CONDITIONS, Invitation.expires_at <= func.now()),
    "accepted": (Invitation.accepted_at.is_not(None),),
    "revoked": (Invitation.accepted_at.is_(None), Invitation.revoked_at.is_not(None)),
}


class InvitationDetails(NamedTuple):
    """An invitation with the same columns as in `get_page`.

    `invited_by` is None if the inviter's account was deleted.
    """

    id: UUID
    email: str
    role: str
    team_ids: list[str]
    status: str
    expires_at: datetime
    invited_by: dict[str, str] | None
    created_at: datetime
    updated_at: datetime


_COLUMNS = db.build_columns(
    InvitationDetails._fields, Invitation, status=_STATUS, invited_by=build_person(User)
)
_INVITATIONS = select(*_COLUMNS).outerjoin(User, User.id == Invitation.invited_by)
_SORTS = {"created_at": Invitation.created_at, "email": Invitation.email}


def get_page(request: PageRequest, filters: Mapping[str, Any]) -> Page:
    """Return a page of the organization's invitations that match the filters.

    `filters` must contain `status`, and may contain `created_after` and `created_before`.
    """
    period = build_period_conditions(Invitation.created_at, *get_created_bounds(filters))
    statement = _INVITATIONS.where(*_STATUS_CONDITIONS[filters["status"]], *period)
    return paginate(statement, request, sort_columns=_SORTS, unique=Invitation.id)


def get(invitation_id: UUID) -> InvitationDetails | None:
    """Return the invitation with this id, or None if there is no such invitation."""
    statement = _INVITATIONS.where(Invitation.id == invitation_id)
    return db.find_row(InvitationDetails, statement)


def upsert(values: dict[str, Any]) -> UUID:
    """Insert an invitation or replace the address's pending invitation, and return its id.

    A pending invitation is neither accepted nor revoked; it may have expired.
    """
    insertion = insert(Invitation).values(**values)
    statement = insertion.on_conflict_do_update(
        index_elements=[Invitation.organization_id, Invitation.email_key],
        index_where=and_(*_PENDING_CONDITIONS),
        set_={name: insertion.excluded[name] for name in values},
    ).returning(Invitation.id)
    return db.session().execute(statement).scalar_one()


class EndedInvitation(NamedTuple):
    """An invitation that was accepted or revoked."""

    id: UUID
    role: str
    team_ids: list[str]


def _end_pending_invitations(
    column: Literal["accepted_at", "revoked_at"], *conditions: ColumnElement[bool]
) -> list[EndedInvitation]:
    """Accept or revoke matching pending invitations by setting `column` to now; return them."""
    statement = (
        update(Invitation)
        .where(*conditions, *_PENDING_CONDITIONS)
        .values({column: func.now(), "updated_at": func.now()})
        .returning(Invitation.id, Invitation.role, Invitation.team_ids)
    )
    return [EndedInvitation(*row) for row in db.execute_bulk(statement)]


def revoke_by_inviter(user_id: UUID, roles: Sequence[str]) -> None:
    """Revoke the pending invitations that a user sent and whose role is in `roles`.

    Applies to the current organization. Within `tenancy.across_organizations`, applies to all
    organizations.
    """
    _end_pending_invitations(
        "revoked_at", Invitation.invited_by == user_id, Invitation.role.in_(roles)
    )


def revoke_by_invitee(user_id: UUID) -> None:
    """Revoke the current organization's pending invitation to a user's address, if any.

    Otherwise, an invitation sent before the user's removal could admit the user again.
    """
    email = select(User.email).where(User.id == user_id).scalar_subquery()
    _end_pending_invitations("revoked_at", Invitation.email == email)


def revoke(invitation_id: UUID) -> bool:
    """Revoke a pending invitation; return false if there is no such pending invitation."""
    return bool(_end_pending_invitations("revoked_at", Invitation.id == invitation_id))


class TokenInvitation(NamedTuple):
    """The invitation that a token belongs to, with its current status and the inviter's name."""

    invitation: Invitation
    organization: Organization
    status: str
    inviter_name: str | None


def find_by_token(token_hash: str) -> TokenInvitation | None:
    """Return the invitation that a token belongs to, regardless of its status, or None.

    Call this function within `tenancy.across_organizations`.
    """
    statement = (
        select(Invitation, Organization, _STATUS, User.name)
        .join(Organization, Organization.id == Invitation.organization_id)
        .outerjoin(User, User.id == Invitation.invited_by)
        .where(Invitation.token_hash == token_hash)
    )
    return db.find_row(TokenInvitation, statement)


def accept_by_address(email: str) -> EndedInvitation | None:
    """Accept the open invitation that the current organization sent to an address, if any.

    Single sign-on uses this function: the user does not send the emailed token, which would prove
    that the address is theirs. Therefore, call it only for the verified address of an account. Does
    not accept an invitation with the role owner, which always requires the token.
    """
    is_not_expired = Invitation.expires_at > func.now()
    accepted_invitations = _end_pending_invitations(
        "accepted_at", Invitation.email == email, Invitation.role != "owner", is_not_expired
    )
    return accepted_invitations[0] if accepted_invitations else None


def find_open_address(token_hash: str) -> str | None:
    """Return the address of the open invitation with this token, or None.

    The invitations of a closed organization are not open.
    """
    statement = (
        select(Invitation.email)
        .join(Organization, Organization.id == Invitation.organization_id)
        .where(
            Invitation.token_hash == token_hash,
            *_STATUS_CONDITIONS["open"],
            Organization.status.not_in(CLOSED_STATUSES),
        )
    )
    return db.session().execute(statement).scalar_one_or_none()


def lock_open_invitation(token_hash: str) -> bool:
    """Lock an invitation until the transaction ends; return false if it is not open.

    A concurrent request waits for the lock, and then finds the invitation accepted.
    """
    conditions = (Invitation.token_hash == token_hash, *_STATUS_CONDITIONS["open"])
    statement = select(Invitation.id).where(*conditions).with_for_update()
    return db.session().execute(statement).first() is not None


def mark_accepted(token_hash: str) -> bool:
    """Mark an open invitation as accepted; return false if it is no longer open."""
    conditions = (Invitation.token_hash == token_hash, Invitation.expires_at > func.now())
    return bool(_end_pending_invitations("accepted_at", *conditions))
