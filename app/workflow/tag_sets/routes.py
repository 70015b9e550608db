"""Routes for tag sets, from drafts to review decisions."""

from typing import Any
from uuid import UUID

from app.kit.api.blueprint import MIB, Blueprint, Listing
from app.kit.principal import Caller
from app.workflow.tag_sets.schemas.bodies import (
    AcceptTagSet,
    CreateTagSet,
    MergeTagSets,
    RejectTagSet,
    ReopenTagSet,
    ReplaceTags,
)
from app.workflow.tag_sets.schemas.comparing import Consensus, Diff, DiffQuery, Revision
from app.workflow.tag_sets.schemas.records import TagSet, TagSetFilters, TagSetSummary
from app.workflow.tag_sets.service import (
    comparing,
    decisions,
    drafts,
    merging,
    reading,
    reopening,
    submitting,
)

artifacts = Blueprint("tag-sets-of-artifacts", tag="artifacts")
blueprint = Blueprint(
    "tag-sets", description="Tag sets: the tags of an artifact, by a person or a model."
)


@artifacts.post(
    "/artifacts/{artifact_id}/tag-sets",
    permission="tag_sets:write",
    body=CreateTagSet,
    returns=TagSet,
    status=201,
)
def create_tag_set(caller: Caller, artifact_id: UUID, body: dict[str, Any]) -> object:
    """Create a tag set.

    Creates a draft for the artifact. The draft is empty, or has tags copied from a prediction or
    from another tag set. Claims the artifact for the caller unless another user has claimed it.
    """
    return drafts.create(artifact_id, caller=caller, **body)


@artifacts.get(
    "/artifacts/{artifact_id}/consensus", permission="tag_sets:review", returns=Consensus
)
def get_artifact_consensus(caller: Caller, artifact_id: UUID) -> object:
    """Get an artifact's consensus.

    Returns the artifact's tag sets side by side, with their agreement and the majority value of
    each field.
    """
    return comparing.get_consensus(artifact_id)


@blueprint.get(
    "/tag-sets",
    permission="tag_sets:read",
    query=Listing(sort_keys=("-created_at", "updated_at"), filters=TagSetFilters, has_period=True),
    returns=TagSetSummary,
)
def list_tag_sets(caller: Caller, query: dict[str, Any]) -> object:
    """List tag sets.

    Returns the tag sets that the caller may see. The list can be filtered by artifact, schema,
    labeler, reviewer, status, source and creation time.
    """
    return reading.list_tag_sets(caller=caller, **query)


@blueprint.get("/tag-sets/{tag_set_id}", permission="tag_sets:read", returns=TagSet)
def get_tag_set(caller: Caller, tag_set_id: UUID) -> object:
    """Get a tag set.

    Returns the tag set with its tags.
    """
    return reading.get(tag_set_id, caller=caller)


@blueprint.delete("/tag-sets/{tag_set_id}", permission="tag_sets:write", revision="optional")
def delete_tag_set(caller: Caller, tag_set_id: UUID, revision: int | None) -> None:
    """Delete a draft.

    Deletes a draft with its revisions. Only the draft's labeler or an admin can delete a draft. If
    the draft was rejected or reopened, only an admin can delete it.
    """
    drafts.delete(tag_set_id, caller=caller, revision=revision)


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
) -> object:
    """Replace the tags of a draft.

    Saves all tags as a new revision. The client must send the revision that it has read, so that it
    does not overwrite the changes of another client.
    """
    return drafts.replace_tags(tag_set_id, caller=caller, revision=revision, **body)


@blueprint.post(
    "/tag-sets/{tag_set_id}/submit",
    permission="tag_sets:write",
    returns=TagSet,
    revision="optional",
)
def submit_tag_set(caller: Caller, tag_set_id: UUID, revision: int | None) -> object:
    """Submit a tag set.

    Submits a draft for review. Every required field must have a value. The tag set is accepted
    immediately if the schema's policy requires no review.
    """
    return submitting.submit(tag_set_id, caller=caller, revision=revision)


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
) -> object:
    """Accept a tag set.

    Accepts a submitted tag set, optionally with the reviewer's corrections. Emits
    `tag_set.accepted`.
    """
    return decisions.accept(tag_set_id, caller=caller, revision=revision, **body)


@blueprint.post(
    "/tag-sets/{tag_set_id}/reject",
    permission="tag_sets:review",
    body=RejectTagSet,
    returns=TagSet,
    revision="optional",
)
def reject_tag_set(
    caller: Caller, tag_set_id: UUID, body: dict[str, Any], revision: int | None
) -> object:
    """Reject a tag set.

    Rejects a submitted tag set with a reason and sends its artifact to its labeler, to another
    member, or to the pool. Emits `tag_set.rejected`.
    """
    return decisions.reject(tag_set_id, caller=caller, revision=revision, **body)


@blueprint.post(
    "/tag-sets/{tag_set_id}/reopen",
    permission="tag_sets:review",
    body=ReopenTagSet,
    returns=TagSet,
    revision="optional",
)
def reopen_tag_set(
    caller: Caller, tag_set_id: UUID, body: dict[str, Any], revision: int | None
) -> object:
    """Reopen a tag set.

    Reverses the review decision on an accepted or rejected tag set. The tag set is pending review
    again, or returns to its labeler as a draft. Emits `tag_set.reopened`.
    """
    return reopening.reopen(tag_set_id, caller=caller, revision=revision, **body)


@blueprint.get(
    "/tag-sets/{tag_set_id}/revisions",
    permission="tag_sets:read",
    query=Listing(sort_keys=("-number",), has_period=True),
    returns=Revision,
)
def list_tag_set_revisions(caller: Caller, tag_set_id: UUID, query: dict[str, Any]) -> object:
    """List the revisions of a tag set.

    Returns the author, the time and the changes of each revision.
    """
    return comparing.list_revisions(tag_set_id, caller=caller, **query)


@blueprint.get(
    "/tag-sets/{tag_set_id}/diff", permission="tag_sets:read", query=DiffQuery, returns=Diff
)
def diff_tag_set(caller: Caller, tag_set_id: UUID, query: dict[str, Any]) -> object:
    """Compare a tag set.

    Compares a tag set field by field with another tag set of the same artifact, with one of its own
    revisions, or with the latest prediction.
    """
    return comparing.compare(tag_set_id, caller=caller, **query)


@blueprint.post(
    "/tag-sets/merge",
    permission="tag_sets:review",
    body=MergeTagSets,
    max_body=8 * MIB,
    returns=TagSet,
    status=201,
)
def merge_tag_sets(caller: Caller, body: dict[str, Any]) -> object:
    """Merge tag sets.

    Merges several tag sets of one artifact into a new tag set. Emits `tag_set.merged`.
    """
    return merging.merge(caller=caller, **body)
