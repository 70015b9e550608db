"""SQL of taking documents in."""

import re
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, select, text
from sqlalchemy.dialects.postgresql import JSONB

from app.kit import db, tenancy
from app.labeling.artifacts.models import Artifact, no_labels

SEARCHED_BYTES = 240_000
"""How much of a document is searched. PostgreSQL refuses a tsvector of more than 1 MB, and the
worst text, words joined by hyphens, makes four times its size of it."""

_JOINTS = re.compile(r"[\W_]+")

# Who uploads and who deletes the same content take turns, or the one would lose its file to the
# other.
_LOCK = text(
    """
    SELECT pg_advisory_xact_lock(hashtextextended(:content, 0)),
           CAST(:schema_id AS uuid) IS NULL OR EXISTS (
               SELECT FROM schemas WHERE organization_id = :organization_id AND id = :schema_id)
    """
)
_CREATE = text(
    """
    WITH made AS (
        INSERT INTO artifacts (
            organization_id, id, name, schema_id, external_id, metadata, priority, due_at, gold,
            archived, media_type, size_bytes, sha256, page_count, language, text_length, status,
            connector_id, ingestion_job_id, assignees, label_counts, created_by, created_at,
            updated_at, revision)
        VALUES (
            :organization_id, :id, :name, :schema_id, :external_id, :metadata, :priority, :due_at,
            :gold, :archived, :media_type, :size_bytes, :sha256, :page_count, :language,
            :text_length, :status, :connector_id, :ingestion_job_id, '[]', :label_counts,
            :created_by, :created_at, :created_at, 1)
        ON CONFLICT (organization_id, sha256) DO NOTHING
        RETURNING id
    ), worded AS (
        INSERT INTO artifact_texts (organization_id, artifact_id, text, search)
        SELECT :organization_id, id, :text, to_tsvector('simple', :searched) FROM made
    ), paged AS (
        INSERT INTO artifact_pages
            (organization_id, artifact_id, number, width, height, rotation, start, "end")
        SELECT :organization_id, id, number, width, height, rotation, start, "end"
        FROM made, jsonb_to_recordset(:pages) AS page (
            number int, width float8, height float8, rotation int, start int, "end" int)
    )
    SELECT id FROM made
    """
).bindparams(
    bindparam("metadata", type_=JSONB()),
    bindparam("label_counts", value=no_labels(), type_=JSONB()),
    bindparam("pages", type_=JSONB()),
)


def lock_content(sha256: str, schema_id: UUID | None = None) -> bool:
    """Wait until nobody else handles this content; whether the schema, if any, exists."""
    organization_id = tenancy.current_organization_id()
    values = {
        "content": f"{organization_id}/{sha256}",
        "organization_id": organization_id,
        "schema_id": schema_id,
    }
    return bool(db.session().execute(_LOCK, values).one()[1])


def by_content(sha256: str) -> UUID | None:
    """The document of this content."""
    statement = select(Artifact.id).where(Artifact.sha256 == sha256)
    return db.session().execute(statement).scalar_one_or_none()


def create(row: dict[str, Any], *, text: str, pages: list[dict[str, Any]]) -> bool:
    """Insert a document with its text and pages; False when its content is there already."""
    values = {
        **row,
        "organization_id": tenancy.current_organization_id(),
        "text": text,
        "searched": searched(row["name"], text),
        "pages": pages,
    }
    return db.session().execute(_CREATE, values).first() is not None


def searched(name: str, text: str) -> str:
    """What of a document `q` finds: its name, and as much of its text as fits."""
    # PostgreSQL takes `bill_4711.pdf` for one word: its parts are to be found too.
    parts = _JOINTS.sub(" ", name)
    start = f"{name} {parts} {text[:SEARCHED_BYTES]}"
    if len(start) * 4 <= SEARCHED_BYTES:
        return start
    return start.encode()[:SEARCHED_BYTES].decode("utf-8", "ignore")
