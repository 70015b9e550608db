"""Routes for comments on tag sets."""

from typing import Any
from uuid import UUID

from app.kit.api.blueprint import Blueprint, Listing
from app.kit.principal import Caller
from app.workflow.comments import service
from app.workflow.comments.schemas import Comment, CommentFilters, CreateComment

blueprint = Blueprint("comments", tag="tag-sets")


@blueprint.get(
    "/tag-sets/{tag_set_id}/comments",
    permission="comments:read",
    query=Listing(sort_keys=("thread", "created_at"), filters=CommentFilters, has_period=True),
    returns=Comment,
)
def list_tag_set_comments(caller: Caller, tag_set_id: UUID, query: dict[str, Any]) -> object:
    """List comments.

    Returns the comments on a tag set, by default grouped by thread. Each thread is ordered by
    creation time.
    """
    return service.list_comments(tag_set_id, caller=caller, **query)


@blueprint.post(
    "/tag-sets/{tag_set_id}/comments",
    permission="comments:write",
    body=CreateComment,
    returns=Comment,
    status=201,
)
def create_tag_set_comment(caller: Caller, tag_set_id: UUID, body: dict[str, Any]) -> object:
    """Create a comment.

    Adds a comment to a tag set or to one of its fields, or a reply to another comment. Mentioned
    members are notified. A reply reopens a resolved thread.
    """
    return service.create(tag_set_id, caller=caller, **body)


@blueprint.post(
    "/tag-sets/{tag_set_id}/comments/{comment_id}/resolve",
    permission="comments:write",
    returns=Comment,
    revision="optional",
)
def resolve_tag_set_comment(
    caller: Caller, tag_set_id: UUID, comment_id: UUID, revision: int | None
) -> object:
    """Resolve a comment thread.

    Marks the thread as resolved. The comment must be the first in its thread. Only the comment's
    author, the tag set's labeler or a reviewer can do this. A later reply reopens the thread.
    """
    return service.resolve(tag_set_id, comment_id, caller=caller, revision=revision)
