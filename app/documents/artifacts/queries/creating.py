"""SQL that creates documents."""

from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select

from app.documents.artifacts.models import Artifact
from app.kit import db, tenancy
from app.kit.prepared import Prepared

# Uploads and deletions of the same content run one after the other; otherwise a deletion could
# remove the file of a new document.
_LOCK = Prepared(
    "lock_content",
    "text, uuid, uuid",
    """
    SELECT pg_advisory_xact_lock(hashtextextended($1, 0)),
           $3 IS NULL OR EXISTS (SELECT FROM schemas WHERE organization_id = $2 AND id = $3)
    """,
)
_COLUMNS = {
    "organization_id": "uuid",
    "id": "uuid",
    "name": "text",
    "schema_id": "uuid",
    "external_id": "text",
    "metadata": "jsonb",
    "priority": "int",
    "due_at": "timestamptz",
    "gold": "bool",
    "archived": "bool",
    "media_type": "text",
    "size_bytes": "bigint",
    "sha256": "text",
    "page_count": "int",
    "language": "text",
    "text_length": "int",
    "status": "text",
    "routing_since": "timestamptz",
    "connector_id": "uuid",
    "ingestion_job_id": "uuid",
    "assignees": "jsonb",
    "label_counts": "jsonb",
    "ingested_at": "timestamptz",
    "created_by": "uuid",
    "created_at": "timestamptz",
    "updated_at": "timestamptz",
    "revision": "int",
}
_ROW = ", ".join(f"${number}" for number in range(1, len(_COLUMNS) + 1))
_TEXT, _PAGES = (f"${len(_COLUMNS) + offset}" for offset in (1, 2))
_CREATE = Prepared(
    "create_artifact",
    ", ".join([*_COLUMNS.values(), "text", "jsonb"]),
    f"""
    WITH created AS (
        INSERT INTO artifacts ({", ".join(_COLUMNS)}) VALUES ({_ROW})
        ON CONFLICT (organization_id, sha256) DO NOTHING
        RETURNING organization_id, id
    ), created_text AS (
        INSERT INTO artifact_texts (organization_id, artifact_id, text)
        SELECT organization_id, id, {_TEXT} FROM created
    ), created_pages AS (
        INSERT INTO artifact_pages
            (organization_id, artifact_id, number, width, height, rotation, start, "end")
        SELECT organization_id, id, number, width, height, rotation, start, "end"
        FROM created, jsonb_to_recordset({_PAGES}) AS page (
            number int, width float8, height float8, rotation int, start int, "end" int)
    )
    SELECT id FROM created
    """,  # noqa: S608 - built from the names above
)


def lock_content(sha256: str, schema_id: UUID | None = None) -> bool:
    """Lock a content, waiting if necessary; return False if the given schema does not exist."""
    organization_id = str(tenancy.current_organization_id())
    schema = None if schema_id is None else str(schema_id)
    _, exists = _LOCK.first(f"{organization_id}/{sha256}", organization_id, schema)
    return bool(exists)


def find_by_content(sha256: str) -> UUID | None:
    """Return the id of the document with this content, or None."""
    statement = select(Artifact.id).where(Artifact.sha256 == sha256)
    return db.session().execute(statement).scalar_one_or_none()


def create(row: dict[str, Any], *, text: str, pages: list[dict[str, Any]]) -> bool:
    """Insert a document with its text and pages; return False if its content already exists."""
    row = {**row, "organization_id": tenancy.current_organization_id()}
    values = [_to_parameter(row[name]) for name in _COLUMNS]
    return _CREATE.first(*values, text, _to_parameter(pages)) is not None


def _to_parameter(value: object) -> object:
    if isinstance(value, UUID):
        return str(value)
    return orjson.dumps(value).decode() if isinstance(value, dict | list) else value
