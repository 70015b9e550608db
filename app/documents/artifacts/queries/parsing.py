"""SQL queries that store the text and pages parsed from a document."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from app.documents.artifacts.emitted_events import (
    INGESTED_COLUMNS,
    IngestedPayload,
    build_ingested_payload,
)
from app.documents.artifacts.models.content import ArtifactPage, ArtifactText
from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.statuses import ArtifactStatus, OcrStatus, is_transition
from app.kit import db, tenancy

_INSERT_PAGES = text(
    """
    INSERT INTO artifact_pages
        (organization_id, artifact_id, number, width, height, rotation, start, "end", words, ocr)
    SELECT :organization_id, :artifact_id, number, width, height, rotation, start, "end",
           CAST(words AS jsonb), ocr
    FROM unnest(CAST(:number AS int[]), CAST(:width AS float8[]), CAST(:height AS float8[]),
                CAST(:rotation AS int[]), CAST(:start AS int[]), CAST(:end AS int[]),
                CAST(:words AS text[]), CAST(:ocr AS text[]))
        AS page (number, width, height, rotation, start, "end", words, ocr)
    """
)


class PageRow(NamedTuple):
    """A page as it is stored.

    `words` is JSON text, or None if the words are laid out from the text. `ocr` is None if the page
    needs no text recognition.
    """

    number: int
    width: float
    height: float
    rotation: int
    start: int
    end: int
    words: str | None
    ocr: OcrStatus | None


class DocumentContent(NamedTuple):
    """The content of a document; `has_text_layer` is None if the document has no fixed pages."""

    text: str
    page_count: int
    language: str | None
    has_text_layer: bool | None
    ocr: OcrStatus


def find_processing_document(artifact_id: UUID, *, lock: bool = False) -> Artifact | None:
    """Return a document whose text is being parsed or recognized, or None for any other document.

    Documents that wait for routing rules are also `processing`, but are not returned. With `lock`,
    the document is locked until the transaction ends.
    """
    statement = select(Artifact).where(
        Artifact.id == artifact_id,
        Artifact.status == ArtifactStatus.PROCESSING,
        Artifact.routing_since.is_(None),
    )
    if lock:
        statement = statement.with_for_update(key_share=True)
    statement = statement.execution_options(populate_existing=True)
    return db.session().execute(statement).scalar_one_or_none()


def delete_pages(artifact_id: UUID) -> None:
    """Delete all stored pages of a document, for example those of an earlier run."""
    db.session().execute(delete(ArtifactPage).where(ArtifactPage.artifact_id == artifact_id))


def insert_pages(artifact_id: UUID, pages: Sequence[PageRow]) -> None:
    """Insert parsed pages of a document in one statement."""
    columns = {name: [getattr(page, name) for page in pages] for name in PageRow._fields}
    key = {"organization_id": tenancy.current_organization_id(), "artifact_id": artifact_id}
    db.session().execute(_INSERT_PAGES, {**key, **columns})


def store_content(
    artifact: Artifact, content: DocumentContent, *, must_wait: bool
) -> IngestedPayload:
    """Store the content of a document, which becomes ready or, if `must_wait`, waits for routing.

    Returns the payload of `artifact.ingested`.
    """
    status = ArtifactStatus.PROCESSING if must_wait else ArtifactStatus.READY
    assert is_transition(artifact.status, status)
    # Update the document first: inserting the text indexes its words in the document's language.
    update_artifact(
        artifact.id,
        status=status,
        routing_since=func.now() if must_wait else None,
        **({} if must_wait else {"ingested_at": func.coalesce(Artifact.ingested_at, func.now())}),
        page_count=content.page_count,
        language=content.language,
        text_length=len(content.text),
        has_text_layer=content.has_text_layer,
        ocr=content.ocr,
        failure=None,
    )
    statement = insert(ArtifactText).values(
        organization_id=tenancy.current_organization_id(),
        artifact_id=artifact.id,
        text=content.text,
    )
    db.session().execute(
        statement.on_conflict_do_update(
            index_elements=["organization_id", "artifact_id"],
            set_={"text": statement.excluded.text},
        )
    )
    columns = {name: getattr(artifact, name) for name in INGESTED_COLUMNS}
    return build_ingested_payload(artifact.id, {**columns, "page_count": content.page_count})


def set_failed(artifact: Artifact, code: str, message: str) -> None:
    """Mark a document as failed, store the reason, and delete any text parsed earlier."""
    assert is_transition(artifact.status, ArtifactStatus.FAILED)
    failure = {"code": code, "message": message}
    update_artifact(
        artifact.id,
        status=ArtifactStatus.FAILED,
        failure=failure,
        page_count=None,
        language=None,
        text_length=0,
        has_text_layer=None,
        ocr=OcrStatus.NONE,
    )
    db.execute_bulk(
        update(ArtifactText)
        .where(ArtifactText.artifact_id == artifact.id, ArtifactText.text != "")
        .values(text="")
    )


def update_artifact(artifact_id: UUID, **values: object) -> None:
    """Set columns and the update time of a document."""
    db.execute_bulk(
        update(Artifact).where(Artifact.id == artifact_id).values(updated_at=func.now(), **values)
    )
