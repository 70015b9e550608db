"""SQL of a document's history."""

from typing import Any
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

from app.kit.pagination import Page, PageRequest, paginate

_NONE = literal_column("CAST('{}' AS jsonb)", JSONB())


def page(request: PageRequest, *, entries: Any, acts: Any, claims_of: UUID | None) -> Page:
    """A page of the document's `entries` of the audit log and the `acts` on its label sets.

    With `claims_of` claims by others than this user are left out.
    """
    told = union_all(_of_document(entries, claims_of), _of_label_sets(acts)).subquery("told")
    return paginate(select(told), request, sorts={"at": told.c.at}, unique=told.c.id)


def _actor(kind: Any, identifier: Any, label: Any) -> Any:
    built = func.jsonb_build_object("kind", kind, "id", identifier, "label", label)
    return cast(built, JSONB).label("actor")


def _of_document(entries: Any, claims_of: UUID | None) -> Select[Any]:
    entry = entries.subquery("entry").c
    # Whatever is done with a label set changes its document's state: the act itself is told.
    follows = and_(
        entry.action == "artifacts.update",
        entry.operation.is_distinct_from("update_artifact"),
        entry.changes.op("-")(cast(["status", "claim_user_id"], ARRAY(String))) == _NONE,
    )
    statement = select(
        entry.id,
        entry.at,
        literal("artifact").label("kind"),
        entry.action,
        _actor(entry.actor_kind, entry.actor_id, entry.actor_label),
        cast(null(), Uuid()).label("tag_set_id"),
        cast(null(), String()).label("note"),
        entry.changes,
    ).where(not_(follows))
    if claims_of is not None:
        own = entry.actor_id == claims_of
        claim = cast(entry.changes, JSONB).has_key("claim_user_id")
        statement = statement.where(or_(own, not_(claim)))
    return statement


def _of_label_sets(acts: Any) -> Select[Any]:
    act = acts.subquery("act").c
    return select(
        act.id,
        act.at,
        literal("tag_set").label("kind"),
        (literal("tag_sets.") + act.kind).label("action"),
        _actor(
            case((act.author_id.is_(None), "system"), else_="user"),
            act.author_id,
            func.coalesce(act.author, "system"),
        ),
        act.tag_set_id,
        act.note,
        _NONE.label("changes"),
    )
