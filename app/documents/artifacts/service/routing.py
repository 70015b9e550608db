"""Release documents that wait for the routing rules. Waiting documents cannot be claimed."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from app.documents.artifacts import emitted_events
from app.documents.artifacts.emitted_events import ArtifactPayload
from app.documents.artifacts.queries import routing as queries
from app.documents.artifacts.queries.routing import FinishedArtifact
from app.documents.artifacts.service import ports
from app.kit import events, metrics, tenancy
from app.kit.logging import get_logger

MAX_WAIT = timedelta(minutes=10)
"""The maximum time that a document waits for routing, even if routing fails all this time."""

RELEASED_UNROUTED = metrics.Counter(
    "labeling_artifacts_released_unrouted",
    "Documents that became available before the routing rules had run.",
    ["reason"],
    at_start=[("failed",), ("timeout",)],
)

log = get_logger(__name__)


def is_routing_needed() -> bool:
    """Return whether documents must wait for routing, because a routing rule is enabled."""
    return ports.workflow.get().has_routing_rules()


def request_routing(artifact_ids: Sequence[UUID]) -> None:
    """Emit `artifact.parsed` for each document, so that the routing rules run on it."""
    payloads: list[ArtifactPayload] = [{"artifact_id": artifact_id} for artifact_id in artifact_ids]
    events.emit_many(emitted_events.PARSED, payloads)


def finish_routing(artifact_ids: Sequence[UUID]) -> None:
    """Finish the routing of documents: release waiting documents, ignore all other documents.

    Emits `artifact.ingested` for each released document that was never ready before.
    """
    _emit_ingested(queries.finish_routing(artifact_ids))


def release_unrouted_document(artifact_id: UUID, error: str) -> None:
    """Release a document, as `finish_routing` does, after its routing has failed permanently."""
    artifacts = queries.finish_routing([artifact_id])
    _emit_ingested(artifacts)
    if artifacts:
        RELEASED_UNROUTED.labels("failed").inc()
        log.error("routing.gave_up", artifact_id=str(artifact_id), error=error)


def release_delayed_documents() -> int:
    """Release the documents that have waited for routing longer than MAX_WAIT.

    Releases documents of all organizations, and emits the same event as `finish_routing`. Returns
    how many documents were released, at most 1,000. If routing runs later, it still assigns a
    document unless somebody has started to work on it.
    """
    artifacts = queries.release_delayed_documents(MAX_WAIT)
    for organization_id in sorted({artifact.organization_id for artifact in artifacts}):
        with tenancy.organization(organization_id):
            _emit_ingested([row for row in artifacts if row.organization_id == organization_id])
    if artifacts:
        RELEASED_UNROUTED.labels("timeout").inc(len(artifacts))
        log.error(
            "routing.delayed", released=len(artifacts), minutes=MAX_WAIT.total_seconds() // 60
        )
    return len(artifacts)


def _emit_ingested(artifacts: Sequence[FinishedArtifact]) -> None:
    for artifact in artifacts:
        if artifact.is_first:
            events.emit(emitted_events.INGESTED, artifact.payload)
