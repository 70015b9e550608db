"""Prepared statements for the newest notifications and the unread count, which clients poll.

Callers must use `tenancy.across_organizations`. Both statements filter by person and
organizations.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    Boolean,
    ColumnElement,
    FromClause,
    Select,
    Subquery,
    TableValuedAlias,
    Uuid,
    and_,
    bindparam,
    select,
    true,
)

from app.delivery.notifications.counters import NOTIFICATIONS
from app.delivery.notifications.models import Notification
from app.delivery.notifications.queries.listing import (
    COLUMNS,
    NotificationRow,
    NotificationScope,
    build_branches,
)
from app.kit import counters
from app.kit.counters.sql import Parameter
from app.kit.pagination import Page, PageRequest, PageStart, paginate_rows
from app.kit.periods import Column
from app.kit.prepared import Prepared

SORT = "-created_at"
"""The only sort order of `list_newest`."""
_TOTAL_PARAMETERS = {"organization_ids": "uuid[]", "user_texts": "text[]", "unread": "text[]"}


def _build_total() -> ColumnElement[int]:
    facets = {"user_id": Parameter("user_texts"), "unread": Parameter("unread")}
    return counters.build_prepared_total(NOTIFICATIONS, facets, many_organizations=True)


def _select_branch(branches: TableValuedAlias) -> FromClause:
    """Select the keys of the newest notifications for each row of `branches`, using an index."""
    keys = select(Notification.organization_id, Notification.created_at, Notification.id).where(
        Notification.organization_id == branches.c.organization_id,
        Notification.user_id == bindparam("user_id"),
        Notification.in_app,
        Notification.read_at.is_(None) == branches.c.unread,
    )
    return _limit_to_newest(keys, Notification.created_at, Notification.id).lateral("branch")


def _select_keys() -> Subquery:
    ids = bindparam("branch_ids", type_=ARRAY(Uuid))
    branches = build_branches(ids, bindparam("branch_unread_flags", type_=ARRAY(Boolean)))
    branch = _select_branch(branches)
    merged_keys = select(*branch.c).select_from(branches.join(branch, true()))
    return _limit_to_newest(merged_keys, branch.c.created_at, branch.c.id).subquery("page_keys")


def _limit_to_newest(
    keys: Select[*tuple[Any, ...]], created_at: Column, id_: Column
) -> Select[*tuple[Any, ...]]:
    return keys.order_by(created_at.desc(), id_.desc()).limit(bindparam("page_limit"))


def _build_list_query() -> Select[Any]:
    keys = _select_keys()
    is_same_notification = and_(
        keys.c.organization_id == Notification.organization_id, keys.c.id == Notification.id
    )
    return (
        select(*COLUMNS, _build_total().label("page_total"))
        .join_from(keys, Notification, is_same_notification)
        .order_by(keys.c.created_at.desc(), keys.c.id.desc())
    )


_LIST = Prepared.from_select(
    "list_newest_notifications",
    _build_list_query(),
    **_TOTAL_PARAMETERS,
    user_id="uuid",
    branch_ids="uuid[]",
    branch_unread_flags="boolean[]",
    page_limit="int",
)
_COUNT = Prepared.from_select(
    "count_notifications", select(_build_total().label("total")), **_TOTAL_PARAMETERS
)


def list_newest(page: PageRequest, scope: NotificationScope, *, unread: bool | None = None) -> Page:
    """Return the first page of the notifications in a scope, as `NotificationRow`s.

    The prepared statement does not filter by type, so `scope.kind` must be None.
    """
    unread_flags = [True, False] if unread is None else [unread]
    branches = [(id_, flag) for id_ in scope.organization_ids for flag in unread_flags]

    def fetch(start: PageStart) -> tuple[list[NotificationRow], int]:
        rows = _LIST.all(
            *_build_parameters(scope, unread_flags),
            str(scope.user_id),
            _to_array([str(id_) for id_, _ in branches]),
            _to_array([str(flag).lower() for _, flag in branches]),
            start.limit,
        )
        # The page and the total are from the same snapshot, so an empty page means a total of 0.
        return list(map(scope.build_row, rows)), int(rows[0].page_total) if rows else 0

    return paginate_rows(page, {"created_at": datetime, "id": UUID}, fetch)


def count_unread(scope: NotificationScope) -> int:
    """Return the number of unread notifications in a scope.

    The prepared statement does not filter by type, so `scope.kind` must be None.
    """
    return int(_COUNT.first(*_build_parameters(scope, [True])).total)


def _build_parameters(scope: NotificationScope, flags: Sequence[bool]) -> tuple[str, str, str]:
    return (
        _to_array([str(id_) for id_ in scope.organization_ids]),
        _to_array([str(scope.user_id)]),
        _to_array([str(flag).lower() for flag in flags]),
    )


def _to_array(values: Sequence[str]) -> str:
    """Return ids or booleans as a PostgreSQL array literal."""
    return f"{{{','.join(values)}}}"
