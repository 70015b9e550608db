"""Routes for assigning and claiming artifacts."""

from typing import Any
from uuid import UUID

from app.documents.artifacts.schemas.documents import Artifact
from app.kit.api.blueprint import Blueprint
from app.kit.api.bulk import BulkResult
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.assignment.schemas import (
    AssignArtifact,
    BulkAssignArtifacts,
    NextArtifact,
    ReleaseArtifact,
)
from app.workflow.assignment.service import assigning, claims

blueprint = Blueprint("distribution", tag="artifacts")


@blueprint.post(
    "/artifacts/{artifact_id}/assign",
    permission="artifacts:assign",
    body=AssignArtifact,
    returns=Artifact,
    revision="optional",
)
def assign_artifact(
    caller: Caller, artifact_id: UUID, body: dict[str, Any], revision: int | None
) -> object:
    """Assign an artifact.

    Replaces the assignees with users or a team. An empty list of users unassigns the artifact.
    """
    return assigning.assign(artifact_id, by=caller.user_id, revision=revision, **body)


@blueprint.post("/artifacts/{artifact_id}/claim", permission="artifacts:claim", returns=Artifact)
def claim_artifact(caller: Caller, artifact_id: UUID) -> object:
    """Claim an artifact for labeling, or renew the claim.

    The claim expires after the organization's `claim_minutes`.
    """
    return claims.claim(artifact_id, caller=caller)


@blueprint.post(
    "/artifacts/{artifact_id}/release",
    permission="artifacts:claim",
    body=ReleaseArtifact,
    returns=Artifact,
)
def release_artifact(caller: Caller, artifact_id: UUID, body: dict[str, Any]) -> object:
    """Release a claimed artifact.

    A caller who releases their own claim with a reason skips the artifact: it is not offered to the
    caller again until it is assigned directly or returned to the caller, or until the caller claims
    it. An admin may release an artifact that another user has claimed.
    """
    return claims.release(artifact_id, caller.user_id, as_admin=caller.has_role(Role.admin), **body)


@blueprint.post(
    "/artifacts/next",
    permission="artifacts:claim",
    body=NextArtifact,
    returns=Artifact,
    nullable=True,
    idempotent=True,
)
def claim_next_artifact(caller: Caller, body: dict[str, Any]) -> object:
    """Claim the next artifact.

    Claims and returns the caller's next artifact, or returns null if no artifact matches. Artifacts
    that the caller has claimed come first, then artifacts for which the caller has a draft,
    artifacts assigned to the caller, artifacts assigned to the caller's teams, and unassigned
    artifacts. In each group, the most urgent artifact comes first.
    """
    return claims.claim_next(caller=caller, **body)


@blueprint.post(
    "/artifacts/bulk-assign",
    permission="artifacts:assign",
    limit="artifact_actions",
    body=BulkAssignArtifacts,
    returns=BulkResult,
)
def bulk_assign_artifacts(caller: Caller, body: dict[str, Any]) -> object:
    """Assign many artifacts.

    Artifacts are selected by id or by filter. Each artifact is assigned to all assignees, or the
    artifacts are distributed among the assignees.
    """
    return assigning.bulk_assign(by=caller.user_id, **body)
