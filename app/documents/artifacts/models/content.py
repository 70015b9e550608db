"""Database models for the text, pages and search index of documents."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel, build_foreign_key, build_index


class ArtifactText(TenantModel, db.Base):
    """The extracted text of a document, in a separate table so that lists do not read it.

    `search` is a legacy column. The filter `q` also searches it while the organization is in
    `ArtifactSearchBacklog`, because some documents may not be in `ArtifactSearch` yet.
    """

    __tablename__ = "artifact_texts"
    __table_args__ = (
        build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),
        Index("ix_artifact_texts_search", "search", postgresql_using="gin"),
    )

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    text: Mapped[str]
    search: Mapped[Any] = mapped_column(TSVECTOR, server_default="")


class ArtifactSearch(TenantModel, db.Base):
    """The search index of a document: the lexemes of its name, metadata and text.

    Triggers maintain the index. `language` is a text search configuration such as `english`, or
    `simple` if the language is not known. `filler` makes PostgreSQL store vectors outside the rows
    (see decision 0023). Queries use only the views `searchable_artifacts` and `search_hits`, which
    show only the current organization: a row-level security policy would prevent the use of the
    text index. `changes` is the number of times that the words have changed.
    """

    __tablename__ = "artifact_search"
    __table_args__ = (
        build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),
        Index("ix_artifact_search_vector", "vector", postgresql_using="gin"),
        build_index("ix_artifact_search_language", "language"),
        build_index("ix_artifact_search_time", text("timezone('UTC', created_at)")),
    )

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    archived: Mapped[bool]
    language: Mapped[str]
    filler: Mapped[str]
    changes: Mapped[int] = mapped_column(server_default="0")
    vector: Mapped[Any] = mapped_column(TSVECTOR)


class ArtifactSearchBacklog(TenantModel, db.Base):
    """An organization whose documents must be indexed again.

    `after` is the id of the last document that was indexed, or None before the first batch.
    """

    __tablename__ = "artifact_search_backlog"

    after: Mapped[UUID | None]


class ArtifactPage(TenantModel, db.Base):
    """A page: its size in points, its span in the text, and its words with their boxes.

    `words` is null in a virtual page, a page of a document without fixed pages such as an email:
    the words are laid out from the text on request, because stored words would take fifteen times
    the space of the text. `ocr` is `pending`, `done` or `failed`, or null without text recognition.
    While any page of a document is pending, `text` contains the text of the page. `start` and the
    offsets in `words` are then relative to the document or, in a recognized page, to the page.
    """

    __tablename__ = "artifact_pages"
    __table_args__ = (build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),)

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    width: Mapped[float]
    height: Mapped[float]
    rotation: Mapped[int]
    start: Mapped[int]
    end: Mapped[int]
    words: Mapped[list[Any] | None]
    ocr: Mapped[str | None]
    text: Mapped[str | None]
