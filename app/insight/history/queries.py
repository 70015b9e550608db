"""SQL query for a document's history, which combines the entries of several features."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    Uuid,
    and_,
    case,
    cast,
    func,
    literal,
    literal_column,
    not_,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from app.kit.pagination import Page, PageRequest, build_period_conditions, paginate

Columns = ReadOnlyColumnCollection[str, ColumnElement[Any]]

_NO_CHANGES = literal_column("CAST('{}' AS jsonb)", JSONB())
_DEFAULTS: dict[str, ColumnElement[Any]] = {
    "tag_set_id": cast(null(), Uuid()),
    "comment_id": cast(null(), Uuid()),
    "field": cast(null(), String()),
    "rule": cast(null(), JSONB()),
    "note": cast(null(), String()),
    "changes": _NO_CHANGES,
}
"""The optional columns of an entry, with the values for entries that do not set them."""
_REVIEW_PROPERTIES = ("claim_user_id", "assignee_id", "assignee_team_id", "escalated", "flags")
"""The properties of a tag set that belong to its review. Changes of status and tags are in
revisions."""


class HistorySources(NamedTuple):
    """SELECT statements for history entries, built by the services that own the data.

    `document`, `reviews` and `comments` are audit log entries about the document, its tag sets and
    their comments. `reviews` is None if the caller may not see entries about reviews. `actions` are
    recorded actions on the document. `revisions` are revisions of its tag sets, except saves.
    `rules` are the rules that matched the document.

    If `only_claims_by` is set, claims and releases by other users are left out. Changes to the
    document properties in `hidden_properties` are always left out.
    """

    document: Select[Any]
    reviews: Select[Any] | None
    comments: Select[Any]
    actions: Select[Any]
    revisions: Select[Any]
    rules: Select[Any]
    only_claims_by: UUID | None
    hidden_properties: tuple[str, ...] = ()


def list_entries(
    request: PageRequest,
    sources: HistorySources,
    *,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of history entries from all sources, optionally limited to a period."""
    selects = [
        _select_document_entries(
            sources.document, sources.only_claims_by, sources.hidden_properties
        ),
        _select_comment_entries(sources.comments),
        _select_action_entries(sources.actions),
        _select_revision_entries(sources.revisions),
        _select_rule_entries(sources.rules),
    ]
    if sources.reviews is not None:
        selects.append(_select_review_entries(sources.reviews))
    entries = union_all(*selects).subquery("entries")
    statement = select(entries)
    statement = statement.where(
        *build_period_conditions(entries.c.at, created_after, created_before)
    )
    return paginate(statement, request, sort_columns={"at": entries.c.at}, unique=entries.c.id)


def _select_entry(
    *,
    id: ColumnElement[UUID],  # noqa: A002 - the column's name
    at: ColumnElement[datetime],
    kind: str | ColumnElement[str],
    action: ColumnElement[str],
    actor: ColumnElement[Any],
    **optional: ColumnElement[Any],
) -> Select[Any]:
    """Return a SELECT of the columns of an entry; `optional` overrides values of `_DEFAULTS`."""
    columns: dict[str, ColumnElement[Any]] = {
        "id": id,
        "at": at,
        "kind": literal(kind) if isinstance(kind, str) else kind,
        "action": action,
        "actor": actor,
        **_DEFAULTS,
        **optional,
    }
    return select(*(column.label(name) for name, column in columns.items()))


def _build_actor(
    kind: ColumnElement[str], identifier: ColumnElement[Any], label: ColumnElement[str]
) -> ColumnElement[Any]:
    return func.jsonb_build_object("kind", kind, "id", identifier, "label", label, type_=JSONB())


def _build_logged_actor(entry: Columns) -> ColumnElement[Any]:
    return _build_actor(entry.actor_kind, entry.actor_id, entry.actor_label)


def _build_user_actor(
    user_id: ColumnElement[UUID], label: ColumnElement[str]
) -> ColumnElement[Any]:
    kind = case((user_id.is_(None), "system"), else_="user")
    return _build_actor(kind, user_id, func.coalesce(label, "system"))


_SYSTEM = func.jsonb_build_object("kind", "system", "id", null(), "label", "system", type_=JSONB())


def _has_changed(entry: Columns, *names: str) -> ColumnElement[bool]:
    has_any: ColumnElement[bool] = cast(entry.changes, JSONB).has_any(
        cast(list(names), ARRAY(String))
    )
    return has_any


def _has_changed_only(entry: Columns, *names: str) -> ColumnElement[bool]:
    return cast(entry.changes, JSONB).op("-")(cast(list(names), ARRAY(String))) == _NO_CHANGES


def _select_document_entries(
    entries: Select[Any], only_claims_by: UUID | None, hidden_properties: tuple[str, ...]
) -> Select[Any]:
    entry = entries.subquery("entry").c
    is_release = entry.action == "artifacts.release"
    # An action on a tag set also changes the status and claim of its document. The action has its
    # own entry, so these changes are left out. A release that changes only the status is left out,
    # too.
    is_side_effect = or_(
        and_(
            entry.action == "artifacts.update",
            entry.operation.is_distinct_from("update_artifact"),
            entry.actor_kind != "system",
            _has_changed_only(entry, "status", "claim_user_id"),
        ),
        and_(is_release, _has_changed_only(entry, "status")),
    )
    statement = _select_entry(
        id=entry.id,
        at=entry.at,
        kind="artifact",
        action=entry.action,
        actor=_build_logged_actor(entry),
        changes=cast(entry.changes, JSONB).op("-")(cast(list(hidden_properties), ARRAY(String))),
    ).where(not_(is_side_effect))
    if hidden_properties:
        is_update = entry.action == "artifacts.update"
        statement = statement.where(
            not_(and_(is_update, _has_changed_only(entry, *hidden_properties)))
        )
    if only_claims_by is not None:
        is_by_user = func.coalesce(entry.actor_id == only_claims_by, False)
        statement = statement.where(
            or_(is_by_user, not_(or_(is_release, _has_changed(entry, "claim_user_id"))))
        )
    return statement


def _select_review_entries(entries: Select[Any]) -> Select[Any]:
    entry = entries.subquery("review").c
    reason = cast(entry.changes, JSONB)["escalation_reason"][1].astext
    action = case(
        (_has_changed_only(entry, "flags"), literal("tag_sets.flag")),
        (_has_changed(entry, "escalation_reason"), literal("tag_sets.escalate")),
        else_=entry.action,
    )
    return _select_entry(
        id=entry.id,
        at=entry.at,
        kind="tag_set",
        action=action,
        actor=_build_logged_actor(entry),
        tag_set_id=entry.target_id,
        note=reason,
        changes=cast(entry.changes, JSONB).op("-")("escalation_reason"),
    ).where(
        # Saves are excluded by name, because they are the most frequent entries, and large.
        entry.action != "tag_sets.replace",
        not_(_has_changed(entry, "status", "tags")),
        _has_changed(entry, *_REVIEW_PROPERTIES),
    )


def _select_comment_entries(entries: Select[Any]) -> Select[Any]:
    entry = entries.subquery("comment").c
    is_written = _has_changed(entry, "body")
    is_resolved = cast(entry.changes, JSONB)["resolved_at"][1].astext.is_not(None)
    action = case(
        (is_written, "comments.create"), (is_resolved, "comments.resolve"), else_="comments.reopen"
    )
    return _select_entry(
        id=entry.id,
        at=entry.at,
        kind="comment",
        action=action,
        actor=_build_logged_actor(entry),
        tag_set_id=entry.tag_set_id,
        comment_id=entry.target_id,
        field=entry.field,
        note=case((is_written, entry.body)),
    )


def _select_action_entries(actions: Select[Any]) -> Select[Any]:
    action = actions.subquery("action").c
    is_discard = action.kind == "discard"
    return _select_entry(
        id=action.id,
        at=action.at,
        kind=case((is_discard, "tag_set"), else_="artifact"),
        action=case((is_discard, "tag_sets.delete"), else_=literal("artifacts.") + action.kind),
        actor=_build_user_actor(action.user_id, action.user),
        tag_set_id=action.tag_set_id,
        note=action.note,
    )


def _select_revision_entries(revisions: Select[Any]) -> Select[Any]:
    revision = revisions.subquery("revision").c
    return _select_entry(
        id=revision.id,
        at=revision.at,
        kind="tag_set",
        action=literal("tag_sets.") + revision.kind,
        actor=_build_user_actor(revision.author_id, revision.author),
        tag_set_id=revision.tag_set_id,
        note=revision.note,
        changes=revision.changes,
    )


def _select_rule_entries(matches: Select[Any]) -> Select[Any]:
    match = matches.subquery("match").c
    # A match has no id.
    key = func.concat_ws("/", cast(match.rule_id, String), cast(match.at, String))
    entry_id = cast(func.md5(key), Uuid())
    return _select_entry(
        id=entry_id,
        at=match.at,
        kind="artifact",
        action=case((match.assigned, "routing_rules.assign"), else_="routing_rules.match"),
        actor=_SYSTEM,
        rule=func.jsonb_build_object("id", match.rule_id, "name", match.rule_name, type_=JSONB()),
        note=match.note,
    )
