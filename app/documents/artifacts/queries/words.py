"""SQL that reads the words of pages, and the text from which words are laid out."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Text, cast, func, or_, select

from app.documents.artifacts.models import ArtifactPage, ArtifactText
from app.kit import db


def read_stored(artifact_id: UUID, numbers: Sequence[int], room: int) -> dict[int, str]:
    """Return words as JSON by page number, at most `room` bytes in total.

    The first of `numbers` is always included. `numbers` are in ascending or descending order.
    """
    number = ArtifactPage.number
    stored = (
        select(number, cast(ArtifactPage.words, Text).label("words"))
        .where(ArtifactPage.artifact_id == artifact_id, number.in_(numbers))
        .cte("stored")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    size_so_far = func.sum(func.octet_length(stored.c.words)).over(
        order_by=stored.c.number.desc() if numbers[0] > numbers[-1] else stored.c.number
    )
    counted = select(stored.c.number, stored.c.words, size_so_far.label("size_so_far")).subquery()
    statement = select(counted.c.number, counted.c.words).where(
        or_(counted.c.size_so_far <= room, counted.c.number == numbers[0])
    )
    return {row.number: row.words for row in db.session().execute(statement)}


def read_text(artifact_id: UUID, start: int, end: int) -> str | None:
    """Return a document's text from code point `start` up to `end`, or None if there is none."""
    part = func.substr(ArtifactText.text, start + 1, end - start)
    statement = select(part).where(ArtifactText.artifact_id == artifact_id)
    text: str | None = db.session().execute(statement).scalar_one_or_none()
    return text
