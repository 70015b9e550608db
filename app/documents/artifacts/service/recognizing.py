"""Recognize the text of pages that are images, one page at a time."""

from itertools import accumulate
from pathlib import Path
from uuid import UUID

import orjson

from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.queries import parsing, recognizing
from app.documents.artifacts.queries.parsing import DocumentContent
from app.documents.artifacts.queries.recognizing import PageText, PendingPage
from app.documents.artifacts.service import files
from app.documents.artifacts.service.parsing import finish_parsing
from app.documents.artifacts.statuses import OcrStatus
from app.engines import ocr
from app.engines.documents.language import detect_language
from app.engines.documents.model import ParseFailed
from app.kit import container
from app.kit.db import Checkpoint
from app.kit.logging import get_logger

log = get_logger(__name__)


def recognize(artifact_id: UUID, checkpoint: Checkpoint) -> None:
    """Recognize the pending pages of a document, which then becomes ready or waits for routing.

    Emits the same events as `parsing.parse`. Does nothing if the document was deleted or is not
    pending. `checkpoint` commits each page, so that a later run continues with the next page, or
    raises if this run must stop.
    """
    artifact = _find_pending_document(artifact_id)
    if artifact is None:
        return
    pages = recognizing.list_pending_pages(artifact_id) if container.settings().ocr else []
    checkpoint()  # No transaction stays open while a page is recognized.
    if pages:
        key, media_type = files.build_content_key(artifact.sha256), artifact.media_type
        with files.get_storage().use_local_path(key) as path:
            for page in pages:
                _recognize_page(artifact_id, path, media_type, page)
                checkpoint()
    finish_recognition(artifact_id, OcrStatus.OFF)


def finish_recognition(artifact_id: UUID, unfinished_status: OcrStatus) -> None:
    """Finish the recognition of a document: compose its text from its pages, and finish parsing.

    `unfinished_status` is the document's text recognition status if a page is still pending. Such a
    page keeps the words that were read from the file, if any. Does nothing if the document was
    deleted or is not pending.
    """
    artifact = _find_pending_document(artifact_id, lock=True)
    if artifact is None:
        return
    pages = recognizing.list_page_texts(artifact_id)
    is_failed = unfinished_status == OcrStatus.FAILED
    recognizing.close_pending_pages(artifact_id, OcrStatus.FAILED if is_failed else None)
    lengths = (len(page.text) + 1 for page in pages[:-1])
    recognizing.set_page_starts(artifact_id, list(accumulate(lengths, initial=0)))
    text = "\f".join(page.text for page in pages)
    content = DocumentContent(
        text=text,
        page_count=len(pages),
        language=artifact.language or detect_language(text),
        has_text_layer=artifact.has_text_layer,
        ocr=_summarize_status(pages, unfinished_status),
    )
    finish_parsing(artifact, content)


def _find_pending_document(artifact_id: UUID, *, lock: bool = False) -> Artifact | None:
    artifact = parsing.find_processing_document(artifact_id, lock=lock)
    return artifact if artifact is not None and artifact.ocr == OcrStatus.PENDING else None


def _summarize_status(pages: list[PageText], unfinished_status: OcrStatus) -> OcrStatus:
    statuses = {page.ocr for page in pages}
    if OcrStatus.PENDING in statuses:
        return unfinished_status
    return OcrStatus.FAILED if OcrStatus.FAILED in statuses else OcrStatus.DONE


def _recognize_page(artifact_id: UUID, path: Path, media_type: str, page: PendingPage) -> None:
    try:
        recognized_page = ocr.recognize_page(
            path, media_type, page.number, width=page.width, height=page.height
        )
    except ParseFailed as failure:
        log.warning(
            "artifact.page_not_recognized",
            artifact=str(artifact_id), page=page.number, code=failure.code,
        )  # fmt: skip
        recognizing.store_page(artifact_id, page.number, OcrStatus.FAILED, "", "[]")
        return
    words = orjson.dumps(recognized_page.words).decode()
    recognizing.store_page(artifact_id, page.number, OcrStatus.DONE, recognized_page.text, words)
