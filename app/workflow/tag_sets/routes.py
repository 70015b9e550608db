"""tag-sets: the labels of a document, from a draft to a verdict."""

from typing import Any
from uuid import UUID

from app.kit.api.blueprint import MIB, Blueprint, Listing
from app.kit.principal import Caller
from app.workflow.tag_sets import service
from app.workflow.tag_sets.schemas import (
    AcceptTagSet,
    Consensus,
    CreateTagSet,
    Diff,
    DiffQuery,
    MergeTagSets,
    RejectTagSet,
    ReopenTagSet,
    ReplaceTags,
    Revision,
    RevisionFilters,
    TagSet,
    TagSetFilters,
    TagSetListed,
)

artifacts = Blueprint("tag-sets-of-artifacts", tag="artifacts")
blueprint = Blueprint("tag-sets", description="Label sets: what people say is in a document.")


@artifacts.post(
    "/artifacts/{artifact_id}/tag-sets",
    permission="tag_sets:write",
    body=CreateTagSet,
    returns=TagSet,
    status=201,
)
def create_tag_set(caller: Caller, artifact_id: UUID, body: dict[str, Any]) -> Any:
    """Start a label set on the document; takes the document's claim."""
    return service.create(artifact_id, caller=caller, **body)


@artifacts.get(
    "/artifacts/{artifact_id}/consensus", permission="tag_sets:review", returns=Consensus
)
def get_artifact_consensus(caller: Caller, artifact_id: UUID) -> Any:
    """Show a document's label sets side by side: agreement, and the majority value per field."""
    return service.consensus(artifact_id)


@blueprint.get(
    "/tag-sets",
    permission="tag_sets:read",
    query=Listing(sorts=("-created_at", "updated_at"), filters=TagSetFilters),
    returns=TagSetListed,
)
def list_tag_sets(caller: Caller, query: dict[str, Any]) -> Any:
    """List label sets, filtered by document, schema, labeler, reviewer, state and source."""
    return service.list_tag_sets(caller=caller, **query)


@blueprint.get("/tag-sets/{tag_set_id}", permission="tag_sets:read", returns=TagSet)
def get_tag_set(caller: Caller, tag_set_id: UUID) -> Any:
    """Read one label set with its tags."""
    return service.show(tag_set_id, caller=caller)


@blueprint.delete("/tag-sets/{tag_set_id}", permission="tag_sets:write", revision="optional")
def delete_tag_set(caller: Caller, tag_set_id: UUID, revision: int | None) -> Any:
    """Discard one's own draft; one that was sent back only an admin discards."""
    return service.delete(tag_set_id, caller=caller, revision=revision)


@blueprint.put(
    "/tag-sets/{tag_set_id}/tags",
    permission="tag_sets:write",
    body=ReplaceTags,
    max_body=8 * MIB,
    returns=TagSet,
    revision="required",
)
def replace_tags(
    caller: Caller, tag_set_id: UUID, body: dict[str, Any], revision: int | None
) -> Any:
    """Save all tags of a draft over the revision that was read; each save is a revision."""
    return service.replace_tags(tag_set_id, caller=caller, revision=revision, **body)


@blueprint.post(
    "/tag-sets/{tag_set_id}/submit",
    permission="tag_sets:write",
    returns=TagSet,
    revision="optional",
)
def submit_tag_set(caller: Caller, tag_set_id: UUID, revision: int | None) -> Any:
    """Hand a draft to review; every required field must have a value."""
    return service.submit(tag_set_id, caller=caller, revision=revision)


@blueprint.post(
    "/tag-sets/{tag_set_id}/accept",
    permission="tag_sets:review",
    body=AcceptTagSet,
    max_body=8 * MIB,
    returns=TagSet,
    revision="optional",
)
def accept_tag_set(
    caller: Caller, tag_set_id: UUID, body: dict[str, Any], revision: int | None
) -> Any:
    """Accept a submitted label set, with corrections if any; fires tag_set.accepted."""
    return service.accept(tag_set_id, caller=caller, revision=revision, **body)


@blueprint.post(
    "/tag-sets/{tag_set_id}/reject",
    permission="tag_sets:review",
    body=RejectTagSet,
    returns=TagSet,
    revision="optional",
)
def reject_tag_set(
    caller: Caller, tag_set_id: UUID, body: dict[str, Any], revision: int | None
) -> Any:
    """Reject a submitted label set with a reason, back to its labeler or on to another."""
    return service.reject(tag_set_id, caller=caller, revision=revision, **body)


@blueprint.post(
    "/tag-sets/{tag_set_id}/reopen",
    permission="tag_sets:review",
    body=ReopenTagSet,
    returns=TagSet,
    revision="optional",
)
def reopen_tag_set(
    caller: Caller, tag_set_id: UUID, body: dict[str, Any], revision: int | None
) -> Any:
    """Take back the verdict on an accepted or rejected label set."""
    return service.reopen(tag_set_id, caller=caller, revision=revision, **body)


@blueprint.get(
    "/tag-sets/{tag_set_id}/revisions",
    permission="tag_sets:read",
    query=Listing(sorts=("-number",), filters=RevisionFilters),
    returns=Revision,
)
def list_tag_set_revisions(caller: Caller, tag_set_id: UUID, query: dict[str, Any]) -> Any:
    """List every revision of a label set: who, when, and what changed."""
    return service.list_revisions(tag_set_id, caller=caller, **query)


@blueprint.get(
    "/tag-sets/{tag_set_id}/diff", permission="tag_sets:read", query=DiffQuery, returns=Diff
)
def diff_tag_set(caller: Caller, tag_set_id: UUID, query: dict[str, Any]) -> Any:
    """Compare a label set field by field with another one, a revision or the prediction."""
    return service.compare(tag_set_id, caller=caller, **query)


@blueprint.post(
    "/tag-sets/merge",
    permission="tag_sets:review",
    body=MergeTagSets,
    max_body=8 * MIB,
    returns=TagSet,
    status=201,
)
def merge_tag_sets(caller: Caller, body: dict[str, Any]) -> Any:
    """Adjudicate several label sets of one document into one."""
    return service.merge(caller=caller, **body)
