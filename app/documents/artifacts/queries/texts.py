"""SQL of a document's text as evidence is compared with it."""

from uuid import UUID

from app.kit import tenancy
from app.kit.prepared import Prepared

_READ = Prepared(
    "read_artifact_text",
    "uuid, uuid",
    "SELECT text FROM artifact_texts WHERE organization_id = $1 AND artifact_id = $2",
)


def read(artifact_id: UUID) -> str:
    """Return a document's text, empty when it has none."""
    row = _READ.first(str(tenancy.current_organization_id()), str(artifact_id))
    return "" if row is None else str(row[0])
