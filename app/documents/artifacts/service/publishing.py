"""Publish a document whose content has been read."""

from app.documents.artifacts import emitted_events
from app.documents.artifacts.models import Artifact
from app.documents.artifacts.queries import parsing as queries
from app.documents.artifacts.queries.parsing import DocumentContent
from app.documents.artifacts.service import routing
from app.documents.artifacts.service.ports import get_intake
from app.kit import events


def publish(artifact: Artifact, content: DocumentContent) -> None:
    """Publish a locked document: store its content, and make it ready unless it waits for routing.

    Emits `artifact.ingested` when the document is ready for the first time, or `artifact.parsed` if
    it waits.
    """
    is_first, is_routing = artifact.ingested_at is None, routing.is_needed()
    payload = queries.store_content(artifact, content, routing=is_routing)
    if is_routing:
        routing.request_routing(artifact.id)
    elif is_first:
        events.emit(emitted_events.INGESTED, payload)
    get_intake().request_settling(artifact.id)
