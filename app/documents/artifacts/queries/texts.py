"""SQL queries that read the text of documents and the words of pages."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Text, cast, func, or_, select

from app.documents.artifacts.models.content import ArtifactPage, ArtifactText
from app.kit import db, tenancy
from app.kit.prepared import Prepared

_READ_TEXT = Prepared(
    "read_artifact_text",
    "uuid, uuid",
    "SELECT text FROM artifact_texts WHERE organization_id = $1 AND artifact_id = $2",
)


def read_text(artifact_id: UUID) -> str:
    """Read a document's text; return an empty string if it has none."""
    row = _READ_TEXT.first(str(tenancy.current_organization_id()), str(artifact_id))
    return "" if row is None else str(row[0])


def read_stored_words(artifact_id: UUID, numbers: Sequence[int], max_bytes: int) -> dict[int, str]:
    """Read the stored words of pages as JSON, by page number, until `max_bytes` bytes are read.

    `numbers` are page numbers in ascending or descending order. The first page is always included,
    even if its words are larger than `max_bytes`. Later pages that do not fit are omitted.
    """
    number = ArtifactPage.number
    stored_pages = (
        select(number, cast(ArtifactPage.words, Text).label("words"), ArtifactPage.ocr)
        .where(ArtifactPage.artifact_id == artifact_id, number.in_(numbers))
        .cte("stored")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    size_so_far = func.sum(func.octet_length(stored_pages.c.words)).over(
        order_by=stored_pages.c.number.desc() if numbers[0] > numbers[-1] else stored_pages.c.number
    )
    measured_pages = select(stored_pages, size_so_far.label("size_so_far")).subquery()
    statement = select(measured_pages.c.number, measured_pages.c.words, measured_pages.c.ocr).where(
        or_(measured_pages.c.size_so_far <= max_bytes, measured_pages.c.number == numbers[0])
    )
    rows = db.session().execute(statement)
    return {row.number: _add_origin(row.words, "ocr" if row.ocr else "text") for row in rows}


def _add_origin(words: str, origin: str) -> str:
    """Add the property `origin` to each word of a page.

    PostgreSQL writes the shortest key, `box`, first in each word. The replaced text cannot occur in
    a string, because JSON escapes quotes in strings.
    """
    return words.replace('{"box": ', f'{{"origin": "{origin}", "box": ')


def read_virtual_page_text(artifact_id: UUID, number: int) -> str | None:
    """Read the text of a page whose words are laid out from its text.

    Returns None if the page is empty, has stored words, or does not exist.
    """
    part = func.substr(
        ArtifactText.text, ArtifactPage.start + 1, ArtifactPage.end - ArtifactPage.start
    )
    is_same_document = ArtifactPage.artifact_id == ArtifactText.artifact_id
    statement = select(part).join(ArtifactPage, is_same_document)
    statement = statement.where(
        ArtifactPage.artifact_id == artifact_id,
        ArtifactPage.number == number,
        ArtifactPage.words.is_(None),
        ArtifactPage.end > ArtifactPage.start,
    )
    text: str | None = db.session().execute(statement).scalar_one_or_none()
    return text


def read_span(artifact_id: UUID, start: int, end: int) -> str | None:
    """Read the text from code point `start` to code point `end`, which is exclusive.

    Returns None if the document has no text.
    """
    part = func.substr(ArtifactText.text, start + 1, end - start)
    statement = select(part).where(ArtifactText.artifact_id == artifact_id)
    text: str | None = db.session().execute(statement).scalar_one_or_none()
    return text
