"""SQL that removes the schema from artifacts."""

from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy

# Locks rows in the order of their ids, as every statement does.
_DETACH = """
    WITH locked AS (
        SELECT id FROM artifacts
        WHERE organization_id = :organization_id AND schema_id = :schema_id
        ORDER BY id FOR NO KEY UPDATE {wait}
    )
    UPDATE artifacts SET schema_id = NULL, revision = revision + 1, updated_at = now()
    FROM locked WHERE organization_id = :organization_id AND artifacts.id = locked.id
"""


def detach_schema(schema_id: UUID, *, wait: bool) -> None:
    """Remove a schema from all its artifacts.

    Without `wait`, the statement fails if another transaction has locked one of them.
    """
    statement = text(_DETACH.format(wait="" if wait else "NOWAIT"))
    values = {"organization_id": tenancy.current_organization_id(), "schema_id": schema_id}
    db.session().execute(statement, values)
