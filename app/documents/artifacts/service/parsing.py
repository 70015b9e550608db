"""Parse the text and pages of a file in a child process, page by page."""

from uuid import UUID

import orjson

from app.documents.artifacts import emitted_events
from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.queries import parsing as queries
from app.documents.artifacts.queries import recognizing
from app.documents.artifacts.queries.parsing import DocumentContent, PageRow
from app.documents.artifacts.service import files, ports, routing
from app.documents.artifacts.statuses import OcrStatus
from app.engines import documents
from app.engines.documents.media import MAIL_TYPES, PAGED_TYPES
from app.engines.documents.model import DEFAULT_LIMITS, Page, ParseFailed
from app.kit import container, events, jobs, tenancy
from app.kit.db import Checkpoint

RECOGNIZE_JOB = "artifacts.recognize"
ATTACH_JOB = "artifacts.attach"
_BATCH_PAGES = 50
_BATCH_CHARS = 1 << 20
"""A batch of pages is full if the JSON of its words has at least this many characters."""


class _PageWriter:
    """Stores pages in batches, so that memory use stays constant.

    Each full batch is committed. `ocr` and `has_text_layer` are the values to store for the
    document, according to the pages that were added. `has_text_layer` is None for a document
    without fixed pages.
    """

    def __init__(self, artifact_id: UUID, checkpoint: Checkpoint, *, with_words: bool) -> None:
        self._artifact_id = artifact_id
        self._checkpoint = checkpoint
        self._with_words = with_words
        self._image_status = OcrStatus.PENDING if container.settings().ocr else OcrStatus.OFF
        self.ocr = OcrStatus.NONE
        self.has_text_layer: bool | None = None
        self._batch: list[PageRow] = []
        self._batch_chars = 0

    def add(self, page: Page) -> None:
        """Add the next page, and write and commit the batch when it is full."""
        words = orjson.dumps(page.words).decode() if self._with_words else None
        is_image = page.is_scan or not (page.has_text_layer or page.is_blank)
        if is_image:
            self.ocr = self._image_status
        if self._with_words or is_image:
            self.has_text_layer = bool(self.has_text_layer) or page.has_text_layer
        is_pending = is_image and self._image_status == OcrStatus.PENDING
        self._batch_chars += len(words or "")
        self._batch.append(
            PageRow(
                page.number,
                page.width,
                page.height,
                page.rotation,
                page.start,
                page.end,
                words,
                OcrStatus.PENDING if is_pending else None,
            )
        )
        if len(self._batch) == _BATCH_PAGES or self._batch_chars >= _BATCH_CHARS:
            self.write()
            self._checkpoint()

    def write(self) -> None:
        """Insert the pages that were added since the last write."""
        if self._batch:
            queries.insert_pages(self._artifact_id, self._batch)
        self._batch, self._batch_chars = [], 0


def parse(artifact_id: UUID, checkpoint: Checkpoint) -> None:
    """Parse a `processing` document; it becomes ready, waits for the routing rules, or fails.

    Emits `artifact.ingested` when the document is ready for the first time, or `artifact.parsed` if
    it waits. If pages must be recognized, the document stays `processing`, and a job recognizes the
    pages. Another job creates documents from the attachments of an email. Does nothing if the
    document was deleted or already parsed. `checkpoint` commits the work so far, or raises if this
    run must stop. Raises NotStored if the file is missing.
    """
    artifact = queries.find_processing_document(artifact_id)
    if artifact is None:
        return
    queries.delete_pages(artifact_id)
    checkpoint()
    pages = _PageWriter(artifact_id, checkpoint, with_words=artifact.media_type in PAGED_TYPES)
    try:
        with files.get_storage().use_local_path(files.build_content_key(artifact.sha256)) as path:
            summary = documents.parse_stream(path, artifact.media_type, DEFAULT_LIMITS, pages.add)
    except ParseFailed as failure:
        mark_failed(artifact_id, failure.code, failure.message)
        return
    artifact = queries.find_processing_document(artifact_id, lock=True)
    if artifact is None:
        return
    pages.write()
    content = DocumentContent(
        summary.text, summary.page_count, summary.language, pages.has_text_layer, pages.ocr
    )
    if pages.ocr == OcrStatus.PENDING:
        _start_recognition(artifact_id, content)
    else:
        finish_parsing(artifact, content)
    if artifact.media_type in MAIL_TYPES:
        _enqueue(ATTACH_JOB, artifact_id)


def _start_recognition(artifact_id: UUID, content: DocumentContent) -> None:
    """Store the content that was read so far, and enqueue the job that recognizes image pages."""
    recognizing.store_page_texts(artifact_id, content.text)
    queries.update_artifact(
        artifact_id,
        page_count=content.page_count,
        language=content.language,
        has_text_layer=content.has_text_layer,
        ocr=content.ocr,
    )
    _enqueue(RECOGNIZE_JOB, artifact_id)


def _enqueue(job_name: str, artifact_id: UUID) -> None:
    organization_id = tenancy.current_organization_id()
    jobs.enqueue(job_name, {"artifact_id": str(artifact_id)}, organization_id=organization_id)


def finish_parsing(artifact: Artifact, content: DocumentContent) -> None:
    """Store the content of a locked document, and make it ready unless it must wait for routing.

    Emits `artifact.ingested` when the document is ready for the first time, or `artifact.parsed` if
    it waits. Jobs that wait for the document then store its outcome.
    """
    is_first, must_wait = artifact.ingested_at is None, routing.is_routing_needed()
    payload = queries.store_content(artifact, content, must_wait=must_wait)
    if must_wait:
        routing.request_routing([artifact.id])
    elif is_first:
        events.emit(emitted_events.INGESTED, payload)
    ports.intake.get().request_outcome_update(artifact.id)


def mark_failed(artifact_id: UUID, code: str, message: str) -> None:
    """Mark a document as failed if its text is being parsed or recognized.

    Stores the reason, deletes the pages, and lets the jobs that wait for the document continue.
    Documents that wait for routing or have another status are not changed.
    """
    artifact = queries.find_processing_document(artifact_id, lock=True)
    if artifact is not None:
        queries.delete_pages(artifact_id)
        queries.set_failed(artifact, code, message)
        ports.intake.get().request_outcome_update(artifact_id)
