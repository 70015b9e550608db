"""SQL query of a document's history: the entries of several features as one list."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
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

from app.kit.pagination import Page, PageRequest, paginate, within

_NOTHING = literal_column("CAST('{}' AS jsonb)", JSONB())
_HANDLED = ("claim_user_id", "assignee_id", "assignee_team_id", "escalated", "flags")
"""Members of a tag set that belong to its review. Revisions show changes of its status and tags."""


class Sources(NamedTuple):
    """SELECTs of the history's entries, built by the services that own the data.

    `document`, `reviews` and `comments` are audit log entries about the document, its tag sets
    (None hides them from the caller) and their comments. `acts` and `revisions` are actions on the
    document and on its tag sets. `rules` are the rules that matched the document.

    With `claims_of`, claims of the document by other users are left out. Changes of the document's
    `hidden` members are never shown.
    """

    document: Any
    reviews: Any | None
    comments: Any
    acts: Any
    revisions: Any
    rules: Any
    claims_of: UUID | None
    hidden: tuple[str, ...] = ()


def page(
    request: PageRequest,
    of: Sources,
    *,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of the entries of all sources."""
    parts = [
        _of_document(of.document, of.claims_of, of.hidden),
        _of_comments(of.comments),
        _of_acts(of.acts),
        _of_revisions(of.revisions),
        _of_rules(of.rules),
    ]
    if of.reviews is not None:
        parts.append(_of_reviews(of.reviews))
    told = union_all(*parts).subquery("told")
    statement = select(told)
    statement = statement.where(*within(told.c.at, created_after, created_before))
    return paginate(statement, request, sorts={"at": told.c.at}, unique=told.c.id)


def _told(
    *,
    id: Any,  # noqa: A002 - the column's name
    at: Any,
    kind: str | Any,
    action: Any,
    actor: Any,
    tag_set_id: Any = None,
    comment_id: Any = None,
    field: Any = None,
    rule: Any = None,
    note: Any = None,
    changes: Any = _NOTHING,
) -> Select[Any]:
    def none(kind: Any) -> Any:
        return cast(null(), kind)

    return select(
        id.label("id"),
        at.label("at"),
        (literal(kind) if isinstance(kind, str) else kind).label("kind"),
        action.label("action"),
        actor.label("actor"),
        (none(Uuid()) if tag_set_id is None else tag_set_id).label("tag_set_id"),
        (none(Uuid()) if comment_id is None else comment_id).label("comment_id"),
        (none(String()) if field is None else field).label("field"),
        (none(JSONB()) if rule is None else rule).label("rule"),
        (none(String()) if note is None else note).label("note"),
        changes.label("changes"),
    )


def _actor(kind: Any, identifier: Any, label: Any) -> Any:
    return func.jsonb_build_object("kind", kind, "id", identifier, "label", label, type_=JSONB())


def _logged(entry: Any) -> Any:
    return _actor(entry.actor_kind, entry.actor_id, entry.actor_label)


def _person(user_id: Any, label: Any) -> Any:
    kind = case((user_id.is_(None), "system"), else_="user")
    return _actor(kind, user_id, func.coalesce(label, "system"))


_SYSTEM = func.jsonb_build_object("kind", "system", "id", null(), "label", "system", type_=JSONB())


def _changed(entry: Any, *names: str) -> Any:
    return cast(entry.changes, JSONB).has_any(cast(list(names), ARRAY(String)))


def _nothing_but(entry: Any, *names: str) -> Any:
    return cast(entry.changes, JSONB).op("-")(cast(list(names), ARRAY(String))) == _NOTHING


def _made(*parts: Any) -> Any:
    """Return an id for an entry that has none of its own."""
    key = func.concat_ws("/", *(cast(part, String) for part in parts))
    return cast(func.md5(key), Uuid())


def _of_document(entries: Any, claims_of: UUID | None, hidden: tuple[str, ...]) -> Select[Any]:
    entry = entries.subquery("entry").c
    released = entry.action == "artifacts.release"
    # An action on a tag set also changes the status and claim of its document. The action has its
    # own entry, so these changes are left out. Of a release, only the change of the claim is shown.
    follows = or_(
        and_(
            entry.action == "artifacts.update",
            entry.operation.is_distinct_from("update_artifact"),
            entry.actor_kind != "system",
            _nothing_but(entry, "status", "claim_user_id"),
        ),
        and_(released, _nothing_but(entry, "status")),
    )
    statement = _told(
        id=entry.id,
        at=entry.at,
        kind="artifact",
        action=entry.action,
        actor=_logged(entry),
        changes=cast(entry.changes, JSONB).op("-")(cast(list(hidden), ARRAY(String))),
    ).where(not_(follows))
    if hidden:
        updated = entry.action == "artifacts.update"
        statement = statement.where(not_(and_(updated, _nothing_but(entry, *hidden))))
    if claims_of is not None:
        own = func.coalesce(entry.actor_id == claims_of, False)
        statement = statement.where(or_(own, not_(or_(released, _changed(entry, "claim_user_id")))))
    return statement


def _of_reviews(entries: Any) -> Select[Any]:
    entry = entries.subquery("review").c
    reason = cast(entry.changes, JSONB)["escalation_reason"][1].astext
    action = case(
        (_nothing_but(entry, "flags"), literal("tag_sets.flag")),
        (_changed(entry, "escalation_reason"), literal("tag_sets.escalate")),
        else_=entry.action,
    )
    return _told(
        id=entry.id,
        at=entry.at,
        kind="tag_set",
        action=action,
        actor=_logged(entry),
        tag_set_id=entry.target_id,
        note=reason,
        changes=cast(entry.changes, JSONB).op("-")("escalation_reason"),
    ).where(
        # Saves are excluded by name: they are the most frequent entries, and large.
        entry.action != "tag_sets.replace",
        not_(_changed(entry, "status", "tags")),
        _changed(entry, *_HANDLED),
    )


def _of_comments(entries: Any) -> Select[Any]:
    entry = entries.subquery("comment").c
    written = _changed(entry, "body")
    resolved = cast(entry.changes, JSONB)["resolved_at"][1].astext.is_not(None)
    action = case(
        (written, "comments.create"), (resolved, "comments.resolve"), else_="comments.reopen"
    )
    return _told(
        id=entry.id,
        at=entry.at,
        kind="comment",
        action=action,
        actor=_logged(entry),
        tag_set_id=entry.tag_set_id,
        comment_id=entry.target_id,
        field=entry.field,
        note=case((written, entry.body)),
    )


def _of_acts(acts: Any) -> Select[Any]:
    act = acts.subquery("act").c
    discarded = act.kind == "discard"
    return _told(
        id=act.id,
        at=act.at,
        kind=case((discarded, "tag_set"), else_="artifact"),
        action=case((discarded, "tag_sets.delete"), else_=literal("artifacts.") + act.kind),
        actor=_person(act.user_id, act.user),
        tag_set_id=act.tag_set_id,
        note=act.note,
    )


def _of_revisions(revisions: Any) -> Select[Any]:
    act = revisions.subquery("revision").c
    return _told(
        id=act.id,
        at=act.at,
        kind="tag_set",
        action=literal("tag_sets.") + act.kind,
        actor=_person(act.author_id, act.author),
        tag_set_id=act.tag_set_id,
        note=act.note,
        changes=act.changes,
    )


def _of_rules(matches: Any) -> Select[Any]:
    match = matches.subquery("match").c
    return _told(
        id=_made(match.rule_id, match.at),
        at=match.at,
        kind="artifact",
        action=case((match.assigned, "routing_rules.assign"), else_="routing_rules.match"),
        actor=_SYSTEM,
        rule=func.jsonb_build_object("id", match.rule_id, "name", match.rule_name, type_=JSONB()),
        note=match.note,
    )
