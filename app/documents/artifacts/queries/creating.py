"""SQL queries that create documents, and that find and lock documents by their content."""

from collections.abc import Collection, Sequence
from time import monotonic
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import text

from app.kit import db, tenancy
from app.kit.prepared import Prepared
from app.schemas.artifact_schemas.models import DELETED

_CHECK_SECONDS = 0.01
"""For this many seconds after a query, `check_connection` does not send another one."""

# Uploads and deletions of the same content run one after the other; otherwise a deletion could
# remove the file of a new document.
_LOCK_CONTENT = Prepared(
    "lock_content",
    "text, uuid, uuid",
    f"""
    SELECT pg_advisory_xact_lock(hashtextextended($1, 0)),
           $3 IS NULL OR EXISTS (SELECT FROM schemas
               WHERE organization_id = $2 AND id = $3 AND status <> '{DELETED}')
    """,  # noqa: S608 - a constant
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
    "parent_id": "uuid",
    "assignees": "jsonb",
    "label_counts": "jsonb",
    "ingested_at": "timestamptz",
    "created_by": "uuid",
    "created_at": "timestamptz",
    "updated_at": "timestamptz",
    "revision": "int",
}
_ROW_PARAMETERS = ", ".join(f"${number}" for number in range(1, len(_COLUMNS) + 1))
_TEXT, _PAGES = (f"${len(_COLUMNS) + offset}" for offset in (1, 2))
_PAGE = '(number int, width float8, height float8, rotation int, start int, "end" int)'
_CREATE = Prepared(
    "create_artifact",
    ", ".join([*_COLUMNS.values(), "text", "jsonb"]),
    f"""
    WITH created AS (
        INSERT INTO artifacts ({", ".join(_COLUMNS)}) VALUES ({_ROW_PARAMETERS})
        ON CONFLICT (organization_id, sha256) DO NOTHING
        RETURNING organization_id, id
    ), created_text AS (
        INSERT INTO artifact_texts (organization_id, artifact_id, text)
        SELECT organization_id, id, {_TEXT} FROM created
    ), created_pages AS (
        INSERT INTO artifact_pages
            (organization_id, artifact_id, number, width, height, rotation, start, "end")
        SELECT organization_id, id, number, width, height, rotation, start, "end"
        FROM created, jsonb_to_recordset({_PAGES}) AS page {_PAGE}
    )
    SELECT id FROM created
    """,  # noqa: S608 - built from the names above
)
_ROW_TYPE = ", ".join(f"{name} {type_}" for name, type_ in _COLUMNS.items())
# Like `_CREATE`, but for many documents.
_CREATE_MANY = text(
    f"""
    WITH new_rows AS MATERIALIZED (
        SELECT * FROM json_to_recordset(CAST(:rows AS json))
            AS new_row ({_ROW_TYPE}, text text, pages jsonb)
    ), created AS (
        INSERT INTO artifacts ({", ".join(_COLUMNS)}) SELECT {", ".join(_COLUMNS)} FROM new_rows
        ON CONFLICT (organization_id, sha256) DO NOTHING
        RETURNING organization_id, id
    ), created_text AS (
        INSERT INTO artifact_texts (organization_id, artifact_id, text)
        SELECT organization_id, id, new_rows.text
        FROM created JOIN new_rows USING (organization_id, id)
    ), created_pages AS (
        INSERT INTO artifact_pages
            (organization_id, artifact_id, number, width, height, rotation, start, "end")
        SELECT organization_id, id, page.number, page.width, page.height, page.rotation,
               page.start, page."end"
        FROM created JOIN new_rows USING (organization_id, id)
        CROSS JOIN LATERAL jsonb_to_recordset(new_rows.pages) AS page {_PAGE}
    )
    SELECT id FROM created
    """  # noqa: S608 - built from the names above
)
# Not prepared, because a prepared plan becomes unsuitable when the table grows.
_FIND_BY_CONTENTS = text(
    "SELECT sha256, id FROM artifacts"
    " WHERE organization_id = :organization AND sha256 = ANY (CAST(:digests AS text[]))"
)
_FIND_SCHEMAS = text(
    "SELECT id FROM schemas WHERE organization_id = :organization"  # noqa: S608 - a constant
    f" AND id = ANY (CAST(:ids AS uuid[])) AND status <> '{DELETED}'"
)
_FIND_USED = text(
    """
    SELECT CAST(content.organization_id AS text), content.sha256
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:digests AS text[]))
        AS content (organization_id, sha256)
    JOIN artifacts ON artifacts.organization_id = content.organization_id
                  AND artifacts.sha256 = content.sha256
    """
)
# Locks in the order of the array: all callers lock contents in the order of their digests.
_LOCK_CONTENTS = text(
    """
    SELECT pg_advisory_xact_lock(hashtextextended(:organization || '/' || content.sha256, 0))
    FROM unnest(CAST(:digests AS text[])) WITH ORDINALITY AS content (sha256, position)
    ORDER BY content.position
    """
)


def lock_content_and_check_schema(sha256: str, schema_id: UUID | None = None) -> bool:
    """Lock the content with a digest until the transaction ends, and check that the schema exists.

    Waits if another transaction has locked the content. Returns False if the schema does not exist,
    and True if it exists or `schema_id` is None.
    """
    organization_id = str(tenancy.current_organization_id())
    schema = None if schema_id is None else str(schema_id)
    _, exists = _LOCK_CONTENT.first(f"{organization_id}/{sha256}", organization_id, schema)
    return bool(exists)


def find_by_content(sha256: str) -> UUID | None:
    """Return the id of the document whose content has this digest, or None if there is none."""
    return find_by_contents([sha256]).get(sha256)


def find_used_contents(contents: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the (organization id, sha256) pairs in `contents` that belong to a document."""
    values = {
        "organizations": [organization for organization, _ in contents],
        "digests": [digest for _, digest in contents],
    }
    return {
        (organization, digest) for organization, digest in db.session().execute(_FIND_USED, values)
    }


def lock_unused_contents(digests: Collection[str]) -> list[str]:
    """Lock contents until the transaction ends; return those `digests` that no document uses."""
    lock_contents(digests)
    used_digests = find_by_contents(digests)
    return [sha256 for sha256 in digests if sha256 not in used_digests]


def check_connection(checked_at: float) -> float:
    """Raise OperationalError if the session has lost its connection, and therefore its locks.

    `checked_at` is the monotonic time of the last query. If it is more than `_CHECK_SECONDS` ago,
    sends a query. Returns the monotonic time of the last query, including this one.
    """
    connection = db.session().connection().connection.dbapi_connection
    # If the server ends a session, this connection is closed. The server needs seconds to notice
    # that the network was interrupted, so a query every few milliseconds is enough for this case.
    is_recent = monotonic() - checked_at < _CHECK_SECONDS
    if is_recent and connection is not None and not connection.is_dead:
        return checked_at
    db.session().execute(text("SELECT 1"))
    return monotonic()


def lock_contents(digests: Collection[str]) -> None:
    """Lock the organization's contents with these digests until the transaction ends.

    Waits if another transaction has locked one of the contents.
    """
    values = {
        "organization": str(tenancy.current_organization_id()),
        "digests": sorted(digests),
    }
    db.session().execute(_LOCK_CONTENTS, values)


def find_by_contents(digests: Collection[str]) -> dict[str, UUID]:
    """Return the ids of the documents whose contents have these digests, by digest."""
    values = {"organization": tenancy.current_organization_id(), "digests": list(digests)}
    return {row.sha256: row.id for row in db.session().execute(_FIND_BY_CONTENTS, values)}


def find_existing_schema_ids(schema_ids: Collection[UUID]) -> set[UUID]:
    """Return the ids of the existing schemas among `schema_ids`."""
    if not schema_ids:
        return set()
    values = {
        "organization": tenancy.current_organization_id(),
        "ids": [str(schema_id) for schema_id in schema_ids],
    }
    return set(db.session().scalars(_FIND_SCHEMAS, values))


def create_many(rows: Sequence[dict[str, Any]]) -> set[UUID]:
    """Create documents with their texts and pages; return the ids of the created documents.

    Each row has the columns of a document, `text` and `pages`. A document is not created if its
    content already exists.
    """
    if not rows:
        return set()
    names = [name for name in (*_COLUMNS, "text", "pages") if name != "organization_id"]
    organization = {"organization_id": str(tenancy.current_organization_id())}
    complete_rows = [organization | {name: row[name] for name in names} for row in rows]
    values = {"rows": orjson.dumps(complete_rows).decode()}
    return set(db.session().scalars(_CREATE_MANY, values))


def create(row: dict[str, Any], *, text: str, pages: list[dict[str, Any]]) -> bool:
    """Create a document with its text and pages; return False if its content already exists."""
    row = {**row, "organization_id": tenancy.current_organization_id()}
    values = [_convert_to_parameter(row[name]) for name in _COLUMNS]
    return _CREATE.first(*values, text, _convert_to_parameter(pages)) is not None


def _convert_to_parameter(value: object) -> object:
    if isinstance(value, UUID):
        return str(value)
    return orjson.dumps(value).decode() if isinstance(value, dict | list) else value
