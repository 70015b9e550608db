"""SQL of deleting a schema that nothing was labeled with."""

from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy

# Written out, as label sets and documents know of schemas already.
_LABEL_SETS = text(
    "SELECT count(*) FROM tag_sets"
    " WHERE organization_id = :organization_id AND schema_id = :schema_id"
)
# Documents before anything else, in the order of their ids: so all who lock many of them do.
_DETACH = """
    WITH held AS (
        SELECT id FROM artifacts
        WHERE organization_id = :organization_id AND schema_id = :schema_id
        ORDER BY id FOR NO KEY UPDATE {wait}
    )
    UPDATE artifacts SET schema_id = NULL, revision = revision + 1, updated_at = now()
    FROM held WHERE organization_id = :organization_id AND artifacts.id = held.id
"""


def label_sets(schema_id: UUID) -> int:
    """How many label sets, of whatever state, were made with the schema."""
    return int(db.session().execute(_LABEL_SETS, _values(schema_id)).scalar_one())


def detach_documents(schema_id: UUID, *, wait: bool) -> None:
    """Leave the schema's documents without one; without `wait` an error if somebody holds one."""
    statement = text(_DETACH.format(wait="" if wait else "NOWAIT"))
    db.session().execute(statement, _values(schema_id))


def _values(schema_id: UUID) -> dict[str, Any]:
    return {"organization_id": tenancy.current_organization_id(), "schema_id": schema_id}
