"""The text, the pages and the words of documents."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from app.documents.artifacts.models.documents import of_artifact
from app.kit import db
from app.kit.tenancy import TenantModel


class ArtifactText(TenantModel, db.Base):
    """The extracted text; apart, so that lists do not carry it.

    `search` is of old: what `q` matched before `ArtifactSearch`, of documents in the backlog.
    """

    __tablename__ = "artifact_texts"
    __table_args__ = (
        of_artifact(),
        Index("ix_artifact_texts_search", "search", postgresql_using="gin"),
    )

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    text: Mapped[str]
    search: Mapped[Any] = mapped_column(TSVECTOR, server_default="")


class ArtifactSearch(TenantModel, db.Base):
    """What `q` matches of a document: name, metadata and text, as words of its language.

    Triggers keep it. `language` names a configuration (`english`), `simple` where none is known.
    The `filler` makes PostgreSQL keep vectors out of the rows (see decision 0023). Searched only
    through the view `searchable_artifacts`, which sees the bound organization alone: a policy
    would keep PostgreSQL from using the text index. `changes` is how often the words changed.
    """

    __tablename__ = "artifact_search"
    __table_args__ = (
        of_artifact(),
        Index("ix_artifact_search_vector", "vector", postgresql_using="gin"),
        Index("ix_artifact_search_language", "organization_id", "language"),
        Index(
            "ix_artifact_search_time",
            "organization_id",
            text("timezone('UTC', created_at)"),
        ),
    )

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    archived: Mapped[bool]
    language: Mapped[str]
    filler: Mapped[str]
    changes: Mapped[int] = mapped_column(server_default="0")
    vector: Mapped[Any] = mapped_column(TSVECTOR)


class ArtifactSearchBacklog(TenantModel, db.Base):
    """That an organization's documents are to be indexed anew; those up to `after` are."""

    __tablename__ = "artifact_search_backlog"

    after: Mapped[UUID | None]


class ArtifactPage(TenantModel, db.Base):
    """One page: size in points, its span of the text, and its words with their boxes.

    `words` is null in documents whose text flows: their words are laid out from the text when they
    are asked for, and would take fifteen times its room.
    """

    __tablename__ = "artifact_pages"
    __table_args__ = (of_artifact(),)

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    width: Mapped[float]
    height: Mapped[float]
    rotation: Mapped[int]
    start: Mapped[int]
    end: Mapped[int]
    words: Mapped[list[Any] | None]
