"""The columns of artifacts that the API shows."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Label, Uuid, case, cast, func, literal_column
from sqlalchemy.dialects.postgresql import JSONB

from app.documents.artifacts.models.documents import Artifact
from app.kit import db
from app.schemas.artifact_schemas.models import DELETED

_ISO_FORMAT = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
_HAS_CLAIM = Artifact.claim_expires_at > func.now()
_CLAIM = case(
    (
        _HAS_CLAIM,
        func.jsonb_build_object(
            "user_id",
            Artifact.claim_user_id,
            "expires_at",
            func.to_char(func.timezone("UTC", Artifact.claim_expires_at), _ISO_FORMAT),
        ),
    )
)
# The column is null for documents with flowing text, and for documents read before the column
# existed. The value is then derived from the length of the text. Page texts are joined by form
# feeds, so a text with more characters than form feeds has at least one word.
HAS_TEXT_LAYER: Label[Any] = func.coalesce(
    Artifact.has_text_layer,
    case((Artifact.page_count.is_not(None), Artifact.text_length > Artifact.page_count - 1)),
).label("has_text_layer")


class ArtifactRow(NamedTuple):
    """The properties of an artifact that the API shows, named as in JSON.

    `claim` is {user_id, expires_at} as JSON, or None if there is no unexpired claim.
    """

    id: UUID
    name: str
    schema_id: UUID | None
    external_id: str | None
    metadata: dict[str, Any]
    priority: int
    due_at: datetime | None
    gold: bool
    archived: bool
    media_type: str
    size_bytes: int
    sha256: str
    page_count: int | None
    language: str | None
    text_length: int
    status: str
    failure: dict[str, str] | None
    connector_id: UUID | None
    ingestion_job_id: UUID | None
    parent_id: UUID | None
    attachment_count: int | None
    assignees: list[dict[str, str | None]]
    label_counts: dict[str, int]
    created_by: UUID | None
    created_at: datetime
    updated_at: datetime
    revision: int
    has_text_layer: bool | None
    ocr: str
    prediction: dict[str, Any] | None
    claim: dict[str, str] | None


# A schema is deleted immediately, but removed from its documents in batches. Hide it until then.
_SCHEMA_ID: ColumnElement[UUID] = literal_column(
    f"""(
    SELECT schemas.id FROM schemas
    WHERE schemas.organization_id = artifacts.organization_id AND schemas.id = artifacts.schema_id
      AND schemas.status <> '{DELETED}')""",  # noqa: S608 - a constant
    Uuid(),
)
ARTIFACT_COLUMNS: tuple[ColumnElement[Any], ...] = tuple(
    db.build_columns(
        ArtifactRow._fields,
        Artifact,
        schema_id=_SCHEMA_ID,
        metadata=Artifact.meta,
        has_text_layer=HAS_TEXT_LAYER,
        claim=cast(_CLAIM, JSONB),
    )
)
"""The columns to select for an `ArtifactRow`, in the order of its fields."""
