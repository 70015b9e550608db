"""tag-sets: the discussion of a label set."""

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
    query=Listing(sorts=("thread", "created_at"), filters=CommentFilters),
    returns=Comment,
)
def list_tag_set_comments(caller: Caller, tag_set_id: UUID, query: dict[str, Any]) -> Any:
    """List the discussion of a label set, thread by thread, each in the order it was written."""
    return service.list_comments(tag_set_id, caller=caller, **query)


@blueprint.post(
    "/tag-sets/{tag_set_id}/comments",
    permission="comments:write",
    body=CreateComment,
    returns=Comment,
    status=201,
)
def create_tag_set_comment(caller: Caller, tag_set_id: UUID, body: dict[str, Any]) -> Any:
    """Comment on a label set or one of its fields, or reply; members it mentions are notified."""
    return service.create(tag_set_id, caller=caller, **body)


@blueprint.post(
    "/tag-sets/{tag_set_id}/comments/{comment_id}/resolve",
    permission="comments:write",
    returns=Comment,
    revision="optional",
)
def resolve_tag_set_comment(
    caller: Caller, tag_set_id: UUID, comment_id: UUID, revision: int | None
) -> Any:
    """Mark a thread resolved by the comment that began it; a reply opens it again."""
    return service.resolve(tag_set_id, comment_id, caller=caller, revision=revision)
