"""SQL that reads the text of a document, with which evidence is compared."""

from uuid import UUID

from app.kit import tenancy
from app.kit.prepared import Prepared

_READ = Prepared(
    "read_artifact_text",
    "uuid, uuid",
    "SELECT text FROM artifact_texts WHERE organization_id = $1 AND artifact_id = $2",
)


def read(artifact_id: UUID) -> str:
    """Return a document's text, or an empty string if it has none."""
    row = _READ.first(str(tenancy.current_organization_id()), str(artifact_id))
    return "" if row is None else str(row[0])
