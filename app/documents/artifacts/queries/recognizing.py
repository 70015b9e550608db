"""SQL queries that store recognized pages, and their offsets in the text of the document."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import select, text, update

from app.documents.artifacts.models.content import ArtifactPage
from app.documents.artifacts.statuses import OcrStatus
from app.kit import db, tenancy

_ARTIFACT_CONDITION = "organization_id = :organization_id AND artifact_id = :artifact_id"
_STORE_TEXTS = text(
    f"""
    UPDATE artifact_pages SET text = substr(CAST(:text AS text), start + 1, "end" - start)
    WHERE {_ARTIFACT_CONDITION}
    """  # noqa: S608 - consists of constants
)
_STORE_PAGE = text(
    f"""
    UPDATE artifact_pages SET ocr = :ocr, start = 0, "end" = length(:text), text = :text,
        words = CAST(:words AS jsonb)
    WHERE {_ARTIFACT_CONDITION} AND number = :number
    """  # noqa: S608 - consists of constants
)
_SET_PAGE_STARTS = text(
    f"""
    UPDATE artifact_pages AS page SET
        start = page_start.start, "end" = page_start.start + length(page.text), text = NULL,
        words = CASE WHEN page_start.start = page.start THEN page.words ELSE (
            SELECT coalesce(jsonb_agg(word || jsonb_build_object(
                'start', CAST(word ->> 'start' AS int) + page_start.start - page.start,
                'end', CAST(word ->> 'end' AS int) + page_start.start - page.start
            ) ORDER BY position), '[]')
            FROM jsonb_array_elements(page.words) WITH ORDINALITY AS element (word, position)
        ) END
    FROM unnest(CAST(:numbers AS int[]), CAST(:starts AS int[])) AS page_start (number, start)
    WHERE {_ARTIFACT_CONDITION} AND page.number = page_start.number
    """  # noqa: S608 - consists of constants
)


class PendingPage(NamedTuple):
    """A page to recognize, with its displayed size in points."""

    number: int
    width: float
    height: float


class PageText(NamedTuple):
    """A page of a document that is being recognized, with its text."""

    number: int
    ocr: OcrStatus | None
    text: str


def store_page_texts(artifact_id: UUID, document_text: str) -> None:
    """Store in each page of a document the part of `document_text` that the page spans."""
    db.session().execute(_STORE_TEXTS, {**_build_key(artifact_id), "text": document_text})


def list_pending_pages(artifact_id: UUID) -> list[PendingPage]:
    """Return the pending pages of a document, in page order."""
    columns = (ArtifactPage.number, ArtifactPage.width, ArtifactPage.height)
    statement = select(*columns).where(
        ArtifactPage.artifact_id == artifact_id, ArtifactPage.ocr == OcrStatus.PENDING
    )
    rows = db.session().execute(statement.order_by(ArtifactPage.number))
    return [PendingPage._make(row) for row in rows]


def store_page(artifact_id: UUID, number: int, ocr: OcrStatus, page_text: str, words: str) -> None:
    """Store the text recognition status, the text and the words of a page.

    `words` is JSON, whose offsets refer to the text of the page.
    """
    values = {"number": number, "ocr": ocr, "text": page_text, "words": words}
    db.session().execute(_STORE_PAGE, {**_build_key(artifact_id), **values})


def close_pending_pages(artifact_id: UUID, ocr: OcrStatus | None) -> None:
    """Set the text recognition status to `ocr` on all pages that are still pending.

    None is the status of a page without text recognition.
    """
    statement = update(ArtifactPage).where(
        ArtifactPage.artifact_id == artifact_id, ArtifactPage.ocr == OcrStatus.PENDING
    )
    db.execute_bulk(statement.values(ocr=ocr))


def list_page_texts(artifact_id: UUID) -> list[PageText]:
    """Return the text of each page of a document that is being recognized, in page order."""
    columns = (ArtifactPage.number, ArtifactPage.ocr, ArtifactPage.text)
    statement = select(*columns).where(ArtifactPage.artifact_id == artifact_id)
    rows = db.session().execute(statement.order_by(ArtifactPage.number))
    return [PageText(row.number, row.ocr and OcrStatus(row.ocr), row.text or "") for row in rows]


def set_page_starts(artifact_id: UUID, starts: Sequence[int]) -> None:
    """Set each page's span in the document's text; shift its words' offsets, and clear its text.

    `starts` contains the start of each page, in page order. Call `list_page_texts` first, because
    the texts of the pages are no longer available after this function.
    """
    values = {"numbers": list(range(1, len(starts) + 1)), "starts": list(starts)}
    db.session().execute(_SET_PAGE_STARTS, {**_build_key(artifact_id), **values})


def _build_key(artifact_id: UUID) -> dict[str, UUID]:
    return {
        "organization_id": tenancy.current_organization_id(),
        "artifact_id": artifact_id,
    }
