"""What a document shows in a list, and by what lists are sorted."""

from typing import Any

from sqlalchemy import Text, Uuid, cast, select

from app.documents.artifacts.models import ARTIFACT_COLUMNS, Artifact

SORTS = {
    "created_at": Artifact.created_at,
    "name": Artifact.name,
    "priority": Artifact.priority,
    "updated_at": Artifact.updated_at,
}
# Hundreds of ids a page, each only to be written again: they come as text.
LISTED: Any = select(
    *(
        cast(one, Text).label(one.key) if isinstance(one.type, Uuid) else one
        for one in ARTIFACT_COLUMNS
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
"""The columns that `artifact.ingested` carries beside the document's id."""
