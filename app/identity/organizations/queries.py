"""SQL queries for organizations and memberships."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Select, SQLColumnExpression, bindparam, delete, literal, select
from sqlalchemy.dialects.postgresql import insert

from app.identity.organizations.models import (
    CLOSED_STATUSES,
    Membership,
    Organization,
    RemovedMember,
)
from app.kit import db, tenancy
from app.kit.pagination import Page, PageRequest, build_period_conditions, paginate
from app.kit.periods import get_created_bounds


class OrganizationRole(NamedTuple):
    """An organization of a user, with the user's role."""

    slug: str
    name: str
    role: str


class OrganizationDetails(NamedTuple):
    """An organization, with its settings and the caller's role."""

    id: UUID
    slug: str
    name: str
    settings: dict[str, Any]
    ai_provider_key: str | None
    role: str
    plan: str
    status: str
    closed_at: datetime | None
    erase_after: datetime | None
    created_at: datetime
    updated_at: datetime
    revision: int


def _select_details(role: SQLColumnExpression[str]) -> Select[Any]:
    columns = db.build_columns(OrganizationDetails._fields, Organization, role=role)
    return select(*columns).select_from(Organization)


_SELECT_FOR_USER = (
    _select_details(Membership.role)
    .join(Membership, Membership.organization_id == Organization.id)
    .where(Membership.user_id == bindparam("user_id"), Organization.status.not_in(CLOSED_STATUSES))
)
_SORTS = {"name": Organization.name, "created_at": Organization.created_at}
_BY_NAME = _SELECT_FOR_USER.order_by(Organization.name, Organization.id)


def list_for_user(
    user_id: UUID, *, only_organization_id: UUID | None = None
) -> list[OrganizationRole]:
    """Return the slug, name and role for each open organization of a user, sorted by name.

    If `only_organization_id` is not None, other organizations are omitted.
    """
    statement = _BY_NAME
    if only_organization_id is not None:
        statement = statement.where(Organization.id == only_organization_id)
    rows = db.session().execute(statement, {"user_id": user_id})
    return [OrganizationRole(row.slug, row.name, row.role) for row in rows]


def get_page_for_user(
    user_id: UUID,
    page: PageRequest,
    *,
    only_organization_id: UUID | None = None,
    **period: datetime | None,
) -> Page:
    """Return a page of a user's open organizations, as `OrganizationDetails`.

    If `only_organization_id` is not None, other organizations are omitted. `period` may contain
    `created_after` and `created_before`.
    """
    statement = _SELECT_FOR_USER.params(user_id=user_id)
    if only_organization_id is not None:
        statement = statement.where(Organization.id == only_organization_id)
    return _paginate(statement, page, period)


def has_other_memberships(user_id: UUID, organization_id: UUID) -> bool:
    """Return whether a user is a member of any organization other than `organization_id`.

    Includes closed organizations, because the operator can reopen them. Call this function within
    `tenancy.across_organizations`.
    """
    statement = select(Membership.user_id).where(
        Membership.user_id == user_id, Membership.organization_id != organization_id
    )
    return db.session().execute(statement.limit(1)).first() is not None


def get_page_for_api_key(
    organization_id: UUID, role: str, page: PageRequest, **period: datetime | None
) -> Page:
    """Return a page that contains only the organization of an API key, with the key's role.

    The page is empty if the organization is closed or does not match the filters.
    """
    statement = _select_details(literal(role)).where(
        Organization.id == organization_id, Organization.status.not_in(CLOSED_STATUSES)
    )
    return _paginate(statement, page, period)


def _paginate(
    statement: Select[Any], page: PageRequest, period: Mapping[str, datetime | None]
) -> Page:
    statement = statement.where(
        *build_period_conditions(Organization.created_at, *get_created_bounds(period))
    )
    row_page = paginate(statement, page, sort_columns=_SORTS, unique=Organization.id)
    return replace(row_page, items=list(map(OrganizationDetails._make, row_page.items)))


def get_name(organization_id: UUID) -> str:
    """Return the display name of an organization, which must exist."""
    statement = select(Organization.name).where(Organization.id == organization_id)
    return db.session().execute(statement).scalar_one()


def get_time_zone(organization_id: UUID) -> str | None:
    """Return the time zone in an organization's settings, or None if it is not set."""
    statement = select(Organization.settings["time_zone"].astext)
    return db.session().scalar(statement.where(Organization.id == organization_id))


def list_retention_days(only_organization_id: UUID | None = None) -> list[tuple[UUID, int]]:
    """Return the ids and retention periods (in days) of the open organizations.

    Organizations without a retention period are omitted. If `only_organization_id` is not None, all
    other organizations are omitted, too.
    """
    days = Organization.settings["retention_days"].as_integer()
    statement = select(Organization.id, days).where(
        days.is_not(None), Organization.status.not_in(CLOSED_STATUSES)
    )
    if only_organization_id is not None:
        statement = statement.where(Organization.id == only_organization_id)
    return [(row[0], row[1]) for row in db.session().execute(statement)]


def lock(organization_id: UUID, *, for_erasure: bool = False) -> Organization:
    """Lock an organization's row until the transaction ends, and return the organization.

    Every change to an organization takes this lock. Role changes and removals of members through
    the API take the lock, too, so that concurrent requests cannot remove the last owner. With
    `for_erasure`, no row that references the organization can be inserted.
    """
    statement = (
        select(Organization)
        .where(Organization.id == organization_id)
        .with_for_update(key_share=not for_erasure)
        .execution_options(populate_existing=True)
    )
    return db.session().execute(statement).scalar_one()


def lock_settings(organization_id: UUID) -> dict[str, Any]:
    """Lock an organization in share mode until the transaction ends, and return its settings."""
    statement = select(Organization.settings).where(Organization.id == organization_id)
    settings: dict[str, Any] = db.session().scalars(statement.with_for_update(read=True)).one()
    return settings


def insert_organization(slug: str, values: dict[str, Any]) -> Organization | None:
    """Insert an organization and return it, or return None if the slug is taken."""
    statement = (
        insert(Organization)
        .values(slug=slug, **values)
        .on_conflict_do_nothing(index_elements=[Organization.slug])
        .returning(Organization)
    )
    return db.session().execute(statement).scalar_one_or_none()


def insert_membership(user_id: UUID, role: str) -> bool:
    """Insert a membership in the current organization; return false if it already exists."""
    statement = (
        insert(Membership)
        .values(
            organization_id=tenancy.current_organization_id(),
            user_id=user_id,
            role=role,
            created_at=db.utc_now(),
        )
        .on_conflict_do_nothing()
        .returning(Membership.user_id)
    )
    return db.session().execute(statement).first() is not None


def get_role(user_id: UUID) -> str | None:
    """Return a user's role in the current organization, or None if they are not a member."""
    statement = select(Membership.role).where(Membership.user_id == user_id)
    return db.session().execute(statement).scalar_one_or_none()


def lock_role(user_id: UUID) -> str | None:
    """Lock a user's membership in share mode until the transaction ends; return the current role.

    Returns None if the user is not a member of the current organization.
    """
    statement = select(Membership.role).where(Membership.user_id == user_id)
    return db.session().scalar(statement.with_for_update(read=True))


def record_removed_member(user_id: UUID) -> None:
    """Record that a person ended the user's membership in the current organization.

    Does nothing if the removal is already recorded.
    """
    statement = insert(RemovedMember).values(
        organization_id=tenancy.current_organization_id(), user_id=user_id, removed_at=db.utc_now()
    )
    db.session().execute(statement.on_conflict_do_nothing())


def delete_removed_member(user_id: UUID) -> None:
    """Delete the record of the user's earlier removal from the organization, if there is one."""
    db.execute_bulk(delete(RemovedMember).where(RemovedMember.user_id == user_id))


def is_removed_member(user_id: UUID) -> bool:
    """Return whether a person ended the user's membership and the user has not joined again."""
    statement = select(RemovedMember.user_id).where(RemovedMember.user_id == user_id)
    return db.session().execute(statement).first() is not None
