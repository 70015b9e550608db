"""SQL queries that read audit entries, and functions that hide query strings in the entries."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, Select, Uuid, all_, bindparam, cast, func, select

from app.identity.audit.models import AuditEntry
from app.kit import counters, db, tenancy
from app.kit.counters import Cube, Source, build_cubes
from app.kit.counters.spans import DAY, MONTH
from app.kit.pagination import KeyQuery, Page, PageRequest, build_period_conditions, paginate
from app.kit.periods import get_created_bounds, remove_period
from app.kit.prepared_lists import PreparedList
from app.kit.url_queries import build_visible_settings

_ENTRY_FACETS = ("actor_kind", "action", "target_type")
AUDIT = Source(
    "audit",
    (*_ENTRY_FACETS, "actor_id", "at"),
    (
        Cube("audit", _ENTRY_FACETS),
        Cube("audit.actor", _ENTRY_FACETS, key="actor_id"),
        *build_cubes("audit.at", _ENTRY_FACETS, "at", MONTH, DAY),
    ),
)
"""The counters for lists of audit entries."""

_SETTINGS_KEY = "settings"
_SORTS = {"at": AuditEntry.at}
_ENTRIES = select(
    AuditEntry.id,
    AuditEntry.at,
    func.json_build_object(
        "kind",
        AuditEntry.actor_kind,
        "id",
        AuditEntry.actor_id,
        "label",
        AuditEntry.actor_label,
    ).label("actor"),
    AuditEntry.operation,
    AuditEntry.action,
    func.json_build_object(
        "type",
        AuditEntry.target_type,
        "id",
        AuditEntry.target_id,
        "label",
        AuditEntry.target_label,
    ).label("target"),
    AuditEntry.changes,
    AuditEntry.request_id,
    AuditEntry.ip_address,
)

_ALL_ENTRIES = PreparedList(
    "list_audit_entries",
    _ENTRIES.where(AuditEntry.organization_id == bindparam("organization_id")),
    counters.build_prepared_total(AUDIT, {}),
    AuditEntry.at,
    AuditEntry.id,
)


class LogEntry(NamedTuple):
    """All columns of an audit entry."""

    id: UUID
    organization_id: UUID
    at: datetime
    actor_kind: str
    actor_id: UUID | None
    actor_label: str
    operation: str | None
    action: str
    target_type: str
    target_id: UUID | None
    target_label: str | None
    changes: Mapping[str, Any]
    request_id: str | None
    ip_address: str | None


_LOG_COLUMNS = db.build_columns(LogEntry._fields, AuditEntry)


def get_page(request: PageRequest, filters: Mapping[str, Any]) -> Page:
    """Return a page of the current organization's entries that match the filters."""
    if not filters:
        return _ALL_ENTRIES.get_page(request)
    key_queries = _build_key_queries(filters)
    statement = _ENTRIES if key_queries else _ENTRIES.where(*_build_conditions(filters))
    return paginate(
        statement,
        request,
        sort_columns=_SORTS,
        unique=AuditEntry.id,
        total=_build_total(filters),
        key_queries=key_queries,
    )


def _build_conditions(filters: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    conditions = [AuditEntry.organization_id == tenancy.current_organization_id()]
    conditions += build_period_conditions(AuditEntry.at, *get_created_bounds(filters))
    values = remove_period(filters)
    return [*conditions, *(getattr(AuditEntry, name) == value for name, value in values.items())]


def _build_total(filters: Mapping[str, Any]) -> ColumnElement[int]:
    after, before = get_created_bounds(filters)
    other_filters = remove_period(filters)
    rows = select(AuditEntry.id)
    has_period = after is not None or before is not None
    if "target_id" in filters or (has_period and "actor_id" in filters):
        return counters.count(rows.where(*_build_conditions(filters)))
    rows = rows.where(*_build_conditions(other_filters))
    between = counters.Between("at", AuditEntry.at, after, before, rows)
    return counters.build_total(AUDIT, other_filters, between=between)


def _build_key_queries(filters: Mapping[str, Any]) -> list[KeyQuery]:
    """Build the `KeyQuery` for a page that is filtered by action, actor kind or target type.

    The filters may match few out of many entries. Therefore, the query reads an index range for
    each matching combination of action and actor kind, and merges the ranges. Returns a list with
    this query, or an empty list for other filters.
    """
    facets: dict[str, Any] = {name: filters[name] for name in _ENTRY_FACETS if name in filters}
    if not facets or "actor_id" in filters or "target_id" in filters:
        return []
    columns = ("action", "actor_kind")
    branches = counters.select_combinations(AUDIT, columns, facets)
    keys = select(AuditEntry.at, AuditEntry.id).where(
        AuditEntry.action == branches.c.action,
        AuditEntry.actor_kind == branches.c.actor_kind,
        *_build_conditions(filters),
    )
    return [KeyQuery(keys, branches)]


def select_entries(target_type: str, target_ids: UUID | Select[Any]) -> Select[*tuple[Any, ...]]:
    """Return a SELECT of the current organization's entries, for use in another statement.

    `target_ids` is the id of one record of the type `target_type`, or a SELECT of such ids. The
    selected columns are id, at, actor_kind, actor_id, actor_label, operation, action, target_id
    and changes.
    """
    target = AuditEntry.target_id
    return select(
        AuditEntry.id,
        AuditEntry.at,
        AuditEntry.actor_kind,
        AuditEntry.actor_id,
        AuditEntry.actor_label,
        AuditEntry.operation,
        AuditEntry.action,
        target,
        AuditEntry.changes,
    ).where(
        AuditEntry.organization_id == tenancy.current_organization_id(),
        target == target_ids if isinstance(target_ids, UUID) else target.in_(target_ids),
        AuditEntry.target_type == target_type,
    )


def list_latest_entries(organization_id: UUID, limit: int) -> list[LogEntry]:
    """Return an organization's latest entries, at most `limit`, oldest first."""
    statement = (
        select(*_LOG_COLUMNS)
        .where(AuditEntry.organization_id == organization_id)
        .order_by(AuditEntry.at.desc(), AuditEntry.id.desc())
        .limit(limit)
    )
    rows = db.session().execute(statement).all()
    return [LogEntry._make(row) for row in reversed(rows)]


def list_recent_times(organization_id: UUID, max_age: timedelta) -> dict[UUID, datetime]:
    """Return the times of an organization's entries that are at most `max_age` old, by entry id."""
    statement = select(AuditEntry.id, AuditEntry.at).where(
        *_build_age_conditions(organization_id, max_age)
    )
    return {row.id: row.at for row in db.session().execute(statement)}


def list_unknown_entries(
    organization_id: UUID, max_age: timedelta, known_ids: Collection[UUID], *, limit: int
) -> list[LogEntry]:
    """Return an organization's recent entries whose ids are not in `known_ids`, oldest first.

    Returns at most `limit` entries, which are at most `max_age` old.
    """
    known_id_array = cast([str(entry_id) for entry_id in known_ids], ARRAY(Uuid()))
    statement = (
        select(*_LOG_COLUMNS)
        .where(
            *_build_age_conditions(organization_id, max_age), AuditEntry.id != all_(known_id_array)
        )
        .order_by(AuditEntry.at, AuditEntry.id)
        .limit(limit)
    )
    return [LogEntry._make(row) for row in db.session().execute(statement)]


def _build_age_conditions(organization_id: UUID, max_age: timedelta) -> list[ColumnElement[bool]]:
    is_recent = AuditEntry.at >= func.now() - max_age
    return [AuditEntry.organization_id == organization_id, is_recent]


def hide_url_queries(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry's changes without the query strings of URLs in settings.

    A query string may contain a signature, which must not be shown. Entries never change, so the
    query strings are removed when entries are read.
    """
    if _SETTINGS_KEY not in changes:
        return changes
    return {**changes, _SETTINGS_KEY: [_remove_queries(value) for value in changes[_SETTINGS_KEY]]}


def hide_url_queries_in_page(page: Page) -> Page:
    """Return a page of entries without the query strings of URLs in settings."""
    if not any(_SETTINGS_KEY in row.changes for row in page.items):
        return page
    rows = [row._asdict() for row in page.items]
    return replace(page, items=[{**r, "changes": hide_url_queries(r["changes"])} for r in rows])


def _remove_queries(settings: object) -> object:
    # Settings that did not exist are null. Large settings are recorded by size and digest.
    return build_visible_settings(settings, ()).settings if isinstance(settings, dict) else settings
