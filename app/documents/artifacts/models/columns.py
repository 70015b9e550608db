"""The columns that the API shows of an artifact."""

from sqlalchemy import case, cast, func
from sqlalchemy.dialects.postgresql import JSONB

from app.documents.artifacts.models.documents import Artifact

_ISO = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
_LIVE = Artifact.claim_expires_at > func.now()
_CLAIM = case(
    (
        _LIVE,
        func.jsonb_build_object(
            "user_id",
            Artifact.claim_user_id,
            "expires_at",
            func.to_char(func.timezone("UTC", Artifact.claim_expires_at), _ISO),
        ),
    )
)
# Page texts are joined by form feeds. What is longer than these has at least one word.
HAS_TEXT_LAYER = case(
    (Artifact.page_count.is_not(None), Artifact.text_length > Artifact.page_count - 1)
).label("has_text_layer")
ARTIFACT_COLUMNS = (
    Artifact.id,
    Artifact.name,
    Artifact.schema_id,
    Artifact.external_id,
    Artifact.meta.label("metadata"),
    Artifact.priority,
    Artifact.due_at,
    Artifact.gold,
    Artifact.archived,
    Artifact.media_type,
    Artifact.size_bytes,
    Artifact.sha256,
    Artifact.page_count,
    Artifact.language,
    Artifact.text_length,
    HAS_TEXT_LAYER,
    Artifact.status,
    Artifact.failure,
    Artifact.connector_id,
    Artifact.ingestion_job_id,
    Artifact.assignees,
    cast(_CLAIM, JSONB).label("claim"),
    Artifact.label_counts,
    Artifact.created_by,
    Artifact.created_at,
    Artifact.updated_at,
    Artifact.revision,
)
"""The columns of an artifact as the API shows it, each named as its member."""
