"""Comments on tag sets. Users can read the comments on tag sets that they may see."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select

from app.identity.audit import service as audit
from app.kit import errors, events
from app.kit.ids import uuid7
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.comments import emitted_events, queries
from app.workflow.comments.models import TagSetComment
from app.workflow.comments.queries import CommentRow
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import reading as tag_sets


def list_comments(
    tag_set_id: UUID, *, caller: Caller, page: PageRequest, **filters: object
) -> Page:
    """Return a page of the comments on a tag set.

    Raises 404 if the tag set does not exist or is hidden from the caller.
    """
    tag_sets.get(tag_set_id, caller=caller)
    return queries.get_page(page, tag_set_id=tag_set_id, filters=filters)


def create(
    tag_set_id: UUID,
    *,
    caller: Caller,
    body: str,
    field: str | None = None,
    parent_id: UUID | None = None,
    mentions: Sequence[UUID] = (),
) -> CommentRow:
    """Create a comment that starts a new thread or, if `parent_id` is set, replies to a comment.

    A reply has the same field as its thread, and reopens a resolved thread. Emits
    `tag_set.commented`. Raises 404 if the tag set is missing or hidden from the caller, and 400 for
    an invalid `parent_id` or `field`, or for a user in `mentions` who may not see the tag set.
    """
    tag_set = tag_sets.get(tag_set_id, caller=caller)
    comment_id = uuid7()
    thread_id = comment_id
    if parent_id is None:
        _check_field(tag_set, field)
    else:
        thread_id, field = _get_thread(tag_set_id, parent_id, field)
    comment = TagSetComment(
        id=comment_id,
        tag_set_id=tag_set_id,
        thread_id=thread_id,
        parent_id=parent_id,
        author_id=caller.user_id,
        field=field,
        body=body,
        mentions=_check_mentions(tag_set, mentions, caller),
    )
    if not queries.increment_comment_count(tag_set_id):
        raise errors.not_found()
    queries.insert(comment)
    if parent_id is not None:
        queries.reopen(thread_id)
    _emit_commented(tag_set.artifact_id, comment)
    return queries.get(comment_id)


def _emit_commented(artifact_id: UUID, comment: TagSetComment) -> None:
    payload: emitted_events.CommentedPayload = {
        "tag_set_id": comment.tag_set_id,
        "artifact_id": artifact_id,
        "comment_id": comment.id,
        "author_id": comment.author_id,
        "mentions": comment.mentions,
    }
    events.emit(emitted_events.COMMENTED, payload)


def _check_field(tag_set: TagSetRow, field: str | None) -> None:
    if field is not None and field not in tag_sets.list_field_names(tag_set.schema_version_id):
        raise errors.invalid(
            "Must be the key of a field in the tag set's schema version, or `key.column` for a"
            " column of a table field.",
            "field",
        )


def _get_thread(tag_set_id: UUID, parent_id: UUID, field: str | None) -> tuple[UUID, str | None]:
    """Return the thread id and the field for a reply.

    Raises 400 if the parent is not a comment on the tag set, or has another field than `field`.
    """
    parent = queries.find_parent(tag_set_id, parent_id)
    if parent is None:
        raise errors.invalid("Must be the id of a comment on the same tag set.", "parent_id")
    if field not in (None, parent.field):
        raise errors.invalid(
            "Must be the same field as in the parent comment. Omit `field` in a reply.", "field"
        )
    return parent.thread_id, parent.field


def _check_mentions(tag_set: TagSetRow, mentions: Sequence[UUID], caller: Caller) -> list[UUID]:
    """Return the ids of the mentioned users without duplicates.

    Raises 400 on the field `mentions.N` if a user may not see the tag set.
    """
    viewer_ids = tag_sets.find_viewer_ids(tag_set, mentions, caller=caller) if mentions else set()
    for position, user_id in enumerate(mentions):
        if user_id not in viewer_ids:
            raise errors.invalid(
                "Must be the id of a member who may see the tag set.", f"mentions.{position}"
            )
    return list(dict.fromkeys(mentions))


def select_actions(artifact_id: UUID, *, caller: Caller) -> Select[Any]:
    """Return a SELECT for the audit entries about comments on an artifact's tag sets.

    Only tag sets that the caller may see are included. The columns are those of
    `audit.select_entries`, plus tag_set_id, field, and the beginning of the body.
    """
    comment_ids = queries.select_ids(tag_sets.select_ids(artifact_id, caller=caller))
    return queries.select_actions(audit.select_entries("tag_set_comments", comment_ids))


def resolve(
    tag_set_id: UUID, comment_id: UUID, *, caller: Caller, revision: int | None
) -> CommentRow:
    """Mark a thread as resolved; do nothing if it is already resolved.

    `comment_id` is the id of the first comment in the thread. The comment's author, the labeler of
    the tag set, and any reviewer may resolve a thread; other users get 403. Raises 404; 409
    `stale_precondition`; 409 `conflict` with `details.thread_id` if the comment is a reply.
    """
    tag_set = tag_sets.get(tag_set_id, caller=caller)
    comment = errors.require_found(queries.lock(tag_set_id, comment_id))
    is_participant = caller.user_id in (comment.author_id, tag_set.labeler_id)
    if not (is_participant or caller.has_role(Role.reviewer)):
        raise errors.denied(
            "Only the comment's author, the labeler or a reviewer can resolve a thread."
        )
    if comment.thread_id != comment.id:
        raise errors.conflict(
            "A reply cannot be resolved; resolve the first comment of its thread.",
            thread_id=comment.thread_id,
        )
    errors.check_revision(revision, comment.revision)
    if comment.resolved_at is None:
        queries.resolve(comment_id, by=caller.user_id)
    return queries.get(comment_id)
