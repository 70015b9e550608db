"""The columns of documents in lists and events, and the sort orders of lists."""

from sqlalchemy import Text, Uuid, cast, select

from app.documents.artifacts.models import ARTIFACT_COLUMNS, Artifact

SORTS = {
    "created_at": Artifact.created_at,
    "name": Artifact.name,
    "priority": Artifact.priority,
    "updated_at": Artifact.updated_at,
}
# Ids are read as text: a page has hundreds, and each would only be converted back to text.
LISTED = select(
    *(
        cast(column, Text).label(column.key) if isinstance(column.type, Uuid) else column
        for column in ARTIFACT_COLUMNS
    )
)
INGESTED = (
    "name",
    "media_type",
    "sha256",
    "page_count",
    "schema_id",
    "connector_id",
    "ingestion_job_id",
)
"""The columns in the payload of `artifact.ingested`, besides the id."""
