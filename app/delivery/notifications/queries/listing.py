"""SQL queries that list a person's notifications in all of their organizations.

Callers must use `tenancy.across_organizations`. Every statement filters by person and
organizations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    Boolean,
    ColumnElement,
    String,
    TableValuedAlias,
    Uuid,
    any_,
    cast,
    column,
    func,
    select,
    text,
    true,
)

from app.delivery.notifications.counters import NOTIFICATIONS
from app.delivery.notifications.models import Notification
from app.identity.organizations.models import CLOSED_STATUSES
from app.kit import counters, db
from app.kit.pagination import (
    CreatedFilters,
    KeyQuery,
    Page,
    PageRequest,
    build_period_conditions,
    paginate,
)
from app.kit.periods import get_created_bounds

_LIST_ORGANIZATIONS = text(
    """
    SELECT organizations.id, organizations.slug, organizations.name
    FROM memberships JOIN organizations ON organizations.id = memberships.organization_id
    WHERE memberships.user_id = :user_id
      AND organizations.status <> ALL (CAST(:closed AS text[]))
      AND organizations.id = coalesce(CAST(:organization_id AS uuid), organizations.id)
    ORDER BY organizations.id
    """
)


Period = tuple[datetime | None, datetime | None]
"""The inclusive start and exclusive end of a period; None means no bound."""


class NotificationFilters(CreatedFilters, total=False):
    """Filters for the list of a user's notifications.

    The filter `kind` is a property of `NotificationScope`.
    """

    unread: bool


class VisibleOrganization(NamedTuple):
    """An organization whose notifications a person can see."""

    id: UUID
    slug: str
    name: str


class NotificationRow(NamedTuple):
    """A notification, with its organization. `event_count` is the number of its events."""

    organization: VisibleOrganization
    id: UUID
    kind: str
    title: str
    body: str
    link: str | None
    event_count: int
    read_at: datetime | None
    created_at: datetime
    updated_at: datetime


COLUMNS = (
    Notification.organization_id,
    *db.build_columns(NotificationRow._fields[1:], Notification, event_count=Notification.count),
)


class NotificationScope(NamedTuple):
    """Selects a person's notifications by organization, and by type if `kind` is not None.

    `organizations` maps the ids of the organizations to the organizations.
    """

    user_id: UUID
    organizations: Mapping[UUID, VisibleOrganization]
    kind: str | None

    @property
    def organization_ids(self) -> list[UUID]:
        """Return the ids of the organizations."""
        return list(self.organizations)

    def build_row(self, row: Sequence[Any]) -> NotificationRow:
        """Build a notification from a row that begins with `COLUMNS`."""
        organization_id, *values = row[: len(COLUMNS)]
        return NotificationRow._make([self.organizations[organization_id], *values])

    def build_conditions(self) -> list[ColumnElement[bool]]:
        """Build the conditions for notifications in the scope that the application shows."""
        conditions: list[ColumnElement[bool]] = [
            Notification.organization_id.in_(self.organization_ids),
            Notification.user_id == self.user_id,
            Notification.in_app == true(),
        ]
        return [*conditions, Notification.kind == self.kind] if self.kind else conditions


def list_organizations(user_id: UUID, *, organization_id: UUID | None) -> list[VisibleOrganization]:
    """Return the organizations that a person is a member of, except closed organizations.

    If `organization_id` is not None, other organizations are excluded as well.
    """
    values = {"user_id": user_id, "organization_id": organization_id}
    rows = db.session().execute(_LIST_ORGANIZATIONS, {**values, "closed": list(CLOSED_STATUSES)})
    return [VisibleOrganization(*row) for row in rows]


def list_notifications(
    page: PageRequest, scope: NotificationScope, filters: NotificationFilters
) -> Page:
    """Return a page of the notifications in a scope, as `NotificationRow`s."""
    period = get_created_bounds(filters)
    unread = filters.get("unread")
    row_page = paginate(
        select(*COLUMNS).where(Notification.organization_id.in_(scope.organization_ids)),
        page,
        sort_columns={"created_at": Notification.created_at},
        unique=Notification.id,
        total=_build_total(scope, period, unread=unread),
        key_queries=[_build_keys(scope, period, unread=unread)],
    )
    return replace(row_page, items=list(map(scope.build_row, row_page.items)))


def _build_total(
    scope: NotificationScope, period: Period, *, unread: bool | None
) -> ColumnElement[int]:
    facets: dict[str, Any] = {"user_id": scope.user_id}
    unread_flags = [True, False] if unread is None else [unread]
    # The condition names the flags even if both are allowed. In the index, the time follows the
    # flag `read_at IS NULL`, so the index can find the period only if the flag is given.
    rows = select(Notification.id).where(
        *scope.build_conditions(),
        Notification.read_at.is_(None) == any_(cast(unread_flags, ARRAY(Boolean))),
    )
    if scope.kind is not None:
        facets["kind"] = scope.kind
    if unread is not None:
        facets["unread"] = unread
    between = counters.Between("created", Notification.created_at, *period, rows)
    return counters.build_total(
        NOTIFICATIONS, facets, between=between, organization_ids=scope.organization_ids
    )


def _build_keys(scope: NotificationScope, period: Period, *, unread: bool | None) -> KeyQuery:
    """Build the query for a page's keys: an index scan for each organization and `unread` flag."""
    unread_flags = [True, False] if unread is None else [unread]
    pairs = [(str(id_), flag) for id_ in scope.organization_ids for flag in unread_flags]
    ids = cast([id_ for id_, _ in pairs], ARRAY(String))
    branches = build_branches(
        cast(ids, ARRAY(Uuid)), cast([flag for _, flag in pairs], ARRAY(Boolean))
    )
    statement = select(Notification.created_at, Notification.id).where(
        Notification.organization_id == branches.c.organization_id,
        Notification.user_id == scope.user_id,
        Notification.in_app,
        Notification.read_at.is_(None) == branches.c.unread,
        *build_period_conditions(Notification.created_at, *period),
    )
    if scope.kind is not None:
        statement = statement.where(Notification.kind == scope.kind)
    return KeyQuery(statement, branches)


def build_branches(ids: ColumnElement[Any], unread_flags: ColumnElement[Any]) -> TableValuedAlias:
    """Build the SQL table `branches`: each row pairs an organization id with an `unread` flag."""
    return (
        func.unnest(ids, unread_flags)
        .table_valued(column("organization_id", Uuid), column("unread", Boolean), name="branches")
        .render_derived()
    )
