"""artifacts: who is to label what."""

from typing import Any
from uuid import UUID

from app.documents.artifacts.schemas import Artifact
from app.kit.api.blueprint import Blueprint
from app.kit.api.bulk import BulkResult
from app.kit.principal import Caller
from app.workflow.assignment import service
from app.workflow.assignment.schemas import AssignArtifact, BulkAssignArtifacts, NextArtifact

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
) -> Any:
    """Assign a document to users or a team, in the place of whoever had it; to nobody, with no
    users."""
    return service.assign(artifact_id, by=caller.user_id, revision=revision, **body)


@blueprint.post(
    "/artifacts/next",
    permission="artifacts:claim",
    body=NextArtifact,
    returns=Artifact,
    nullable=True,
    idempotent=True,
)
def claim_next_artifact(caller: Caller, body: dict[str, Any]) -> Any:
    """Claim the next document that the caller should label; null when there is none for them."""
    return service.claim_next(caller=caller, **body)


@blueprint.post(
    "/artifacts/bulk-assign",
    permission="artifacts:assign",
    limit="artifact_actions",
    body=BulkAssignArtifacts,
    returns=BulkResult,
)
def bulk_assign_artifacts(caller: Caller, body: dict[str, Any]) -> Any:
    """Assign many documents, by id or by filter, to all of the assignees or spread over them."""
    return service.bulk_assign(by=caller.user_id, **body)
