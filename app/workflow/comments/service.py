"""The discussion of a label set: whoever may see the label set reads it, labelers and up write."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from app.identity.audit import service as audit
from app.kit import errors, events
from app.kit.ids import uuid7
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.comments import queries
from app.workflow.tag_sets import service as tag_sets


def list_comments(tag_set_id: UUID, *, caller: Caller, page: PageRequest, **filters: Any) -> Page:
    """A page of the comments on a label set. Raises 404, also when it is hidden from the caller."""
    tag_sets.get(tag_set_id, caller=caller)
    return queries.page(page, tag_set_id=tag_set_id, filters=filters)


def create(
    tag_set_id: UUID,
    *,
    caller: Caller,
    body: str,
    field: str | None = None,
    parent_id: UUID | None = None,
    mentions: Sequence[UUID] = (),
) -> Any:
    """Comment on a label set, in a thread of its own or, with `parent_id`, in another comment's.

    A reply is about the field that its thread is about, and opens a resolved thread again. Raises
    404; 400 on `parent_id`, `field`, or `mentions.N` who may not see the label set.
    """
    tag_set = tag_sets.get(tag_set_id, caller=caller)
    comment_id = uuid7()
    thread_id = comment_id
    if parent_id is None:
        _check_field(tag_set, field)
    else:
        thread_id, field = _joined(tag_set_id, parent_id, field)
    values = {
        "id": comment_id,
        "tag_set_id": tag_set_id,
        "thread_id": thread_id,
        "parent_id": parent_id,
        "author_id": caller.user_id,
        "field": field,
        "body": body,
        "mentions": _checked(tag_set, mentions, caller),
    }
    if not queries.count_one_more(tag_set_id):
        raise errors.not_found()
    queries.insert(values)
    if parent_id is not None:
        queries.reopen(thread_id)
    _tell(tag_set.artifact_id, values)
    return queries.get(comment_id)


def _tell(artifact_id: UUID, comment: dict[str, Any]) -> None:
    told = {name: comment[name] for name in ("tag_set_id", "author_id", "mentions")}
    data = {**told, "artifact_id": artifact_id, "comment_id": comment["id"]}
    events.emit("tag_set.commented", data)


def _check_field(tag_set: Any, field: str | None) -> None:
    if field is not None and field not in tag_sets.field_names(tag_set.schema_version_id):
        raise errors.invalid(
            "Must be the key of a field of the label set's schema version, or table.column.",
            "field",
        )


def _joined(tag_set_id: UUID, parent_id: UUID, field: str | None) -> tuple[UUID, str | None]:
    """Thread and field of a reply."""
    parent = queries.place(tag_set_id, parent_id)
    if parent is None:
        raise errors.invalid("Must be a comment on the same label set.", "parent_id")
    if field not in (None, parent.field):
        raise errors.invalid("A reply is about the field that its thread is about.", "field")
    return parent.thread_id, parent.field


def _checked(tag_set: Any, mentions: Sequence[UUID], caller: Caller) -> list[UUID]:
    """Those mentioned, each once."""
    allowed = tag_sets.who_may_see(tag_set, mentions, caller=caller) if mentions else set()
    for position, user_id in enumerate(mentions):
        if user_id not in allowed:
            raise errors.invalid(
                "Must be a member who may see the label set.", f"mentions.{position}"
            )
    return list(dict.fromkeys(mentions))


def acts(artifact_id: UUID, *, caller: Caller) -> Any:
    """A SELECT, for another statement, of what happened to the comments on those label sets of a
    document that the caller may see: the audit log's entries of them (`audit.about`), with
    tag_set_id, field, and the beginning of the body."""
    said = queries.ids(tag_sets.ids_of(artifact_id, caller=caller))
    return queries.acts(audit.about("tag_set_comments", said))


def resolve(tag_set_id: UUID, comment_id: UUID, *, caller: Caller, revision: int | None) -> Any:
    """Mark the thread that a comment began resolved; one that is resolved already stays as it is.

    For its author, the label set's labeler, and reviewers. Raises 404; 403; 409 `conflict` with
    `details.thread_id` on a reply, `stale_precondition`.
    """
    tag_set = tag_sets.get(tag_set_id, caller=caller)
    held = queries.lock(tag_set_id, comment_id)
    if held is None:
        raise errors.not_found()
    concerned = caller.user_id in (held.author_id, tag_set.labeler_id)
    if not (concerned or caller.has(Role.reviewer)):
        raise errors.denied("Its author, the labeler or a reviewer resolves a comment.")
    if held.thread_id != held.id:
        raise errors.conflict("A reply is resolved with its thread.", thread_id=held.thread_id)
    if revision is not None and revision != held.revision:
        raise errors.stale(held.revision)
    if held.resolved_at is None:
        queries.resolve(comment_id, by=caller.user_id)
    return queries.get(comment_id)
