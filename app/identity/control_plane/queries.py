"""SQL queries for the control plane, across organizations."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import InstrumentedAttribute

from app.identity.organizations import emitted_events
from app.identity.organizations.models import Membership, Organization
from app.identity.users.models import User
from app.kit import db, events

_BATCH_SIZE = 1000
# The memberships are locked so that a concurrent assignment of work to the user is committed before
# the event is emitted.
_ORGANIZATIONS_OF_USER = (
    "SELECT organization_id FROM memberships WHERE user_id = :user_id"
    " ORDER BY organization_id FOR NO KEY UPDATE"
)


RowT = TypeVar("RowT")


class OrganizationSummary(NamedTuple):
    """An organization with the number of its members."""

    slug: str
    name: str
    status: str
    plan: str
    members: int
    created_at: datetime


class ErasureStatus(NamedTuple):
    """The status and the erasure time of an organization."""

    slug: str
    name: str
    status: str
    erase_after: datetime | None


class UserSummary(NamedTuple):
    """An account in the operator's list of accounts."""

    email: str
    name: str
    id: UUID
    email_verified: bool
    disabled: bool
    created_at: datetime


def find_by_slug(slug: str, *, lock: bool = False) -> Organization | None:
    """Return the organization with this slug, or None if there is no such organization.

    If `lock` is true, locks the organization's row until the transaction ends.
    """
    statement = select(Organization).where(Organization.slug == slug)
    if lock:
        statement = statement.with_for_update(key_share=True)
    return db.session().scalars(statement.execution_options(populate_existing=True)).one_or_none()


def list_enabled_owners(organization_id: UUID) -> list[User]:
    """Return those owners of an organization whose accounts are not disabled, sorted by user id."""
    statement = (
        select(User)
        .join(Membership, Membership.user_id == User.id)
        .where(
            Membership.organization_id == organization_id,
            Membership.role == "owner",
            User.disabled_at.is_(None),
        )
        .order_by(User.id)
    )
    return list(db.session().scalars(statement))


def list_organizations(*, status: str | None, plan: str | None) -> Iterator[OrganizationSummary]:
    """Yield organizations with their member counts, sorted by slug, filtered by status and plan."""
    member_count = (
        select(func.count())
        .where(Membership.organization_id == Organization.id)
        .correlate(Organization)
        .scalar_subquery()
    )
    statement = select(
        *db.build_columns(OrganizationSummary._fields, Organization, members=member_count)
    )
    if status is not None:
        statement = statement.where(Organization.status == status)
    if plan is not None:
        statement = statement.where(Organization.plan == plan)
    return _read_in_batches(statement, Organization.slug, OrganizationSummary._make)


def list_users(*, organization_id: UUID | None, disabled: bool | None) -> Iterator[UserSummary]:
    """Yield accounts, sorted by email address. Arguments that are not None are filters."""
    statement = select(
        *db.build_columns(
            UserSummary._fields,
            User,
            email_verified=User.email_verified_at.is_not(None),
            disabled=User.disabled_at.is_not(None),
        )
    )
    if organization_id is not None:
        member_ids = select(Membership.user_id).where(Membership.organization_id == organization_id)
        statement = statement.where(User.id.in_(member_ids))
    if disabled is not None:
        statement = statement.where(User.disabled_at.is_not(None) == disabled)
    return _read_in_batches(statement, User.email, UserSummary._make)


def _read_in_batches(
    statement: Select[*tuple[Any, ...]],
    key: InstrumentedAttribute[str],
    build_row: Callable[[Iterable[Any]], RowT],
) -> Iterator[RowT]:
    """Yield a statement's rows, sorted by a unique column.

    The rows are read in batches, so that no single query takes long. Each batch has a separate
    transaction, because the caller may wait between rows.
    """
    last_key: str | None = None
    while True:
        remaining = statement if last_key is None else statement.where(key > last_key)
        rows = db.session().execute(remaining.order_by(key).limit(_BATCH_SIZE)).all()
        db.checkpoint()
        yield from map(build_row, rows)
        if len(rows) < _BATCH_SIZE:
            return
        last_key = getattr(rows[-1], key.key)


def list_erasure_statuses(organization_ids: Sequence[UUID]) -> list[ErasureStatus]:
    """Return the status and the erasure time of organizations, sorted by slug."""
    statement = (
        select(*db.build_columns(ErasureStatus._fields, Organization))
        .where(Organization.id.in_(organization_ids))
        .order_by(Organization.slug)
    )
    return [ErasureStatus._make(row) for row in db.session().execute(statement)]


def count_members(organization_id: UUID) -> int:
    """Return the number of an organization's members, including disabled accounts."""
    statement = select(func.count()).where(Membership.organization_id == organization_id)
    return db.session().scalars(statement).one()


def list_solely_owned_slugs(user_id: UUID) -> list[str]:
    """Return the slugs of the organizations whose only enabled owner is this user."""
    owned_ids = select(Membership.organization_id).where(
        Membership.user_id == user_id, Membership.role == "owner"
    )
    statement = (
        select(Organization.slug)
        .join(Membership, Membership.organization_id == Organization.id)
        .join(User, User.id == Membership.user_id)
        .where(
            Organization.id.in_(owned_ids), Membership.role == "owner", User.disabled_at.is_(None)
        )
        .group_by(Organization.slug)
        .having(func.count() == 1)
        .order_by(Organization.slug)
    )
    return list(db.session().scalars(statement))


def emit_member_disabled(user_id: UUID) -> None:
    """Emit `member.disabled` in each organization of a user.

    Locks the user's memberships. Call this function within `tenancy.across_organizations`.
    """
    events.emit_for_organizations(
        emitted_events.MEMBER_DISABLED,
        emitted_events.MemberDisabledPayload(user_id=user_id),
        organizations_sql=_ORGANIZATIONS_OF_USER,
        user_id=user_id,
    )
