"""The database model for artifacts, and the columns that the API shows."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    ForeignKey,
    Index,
    Label,
    UniqueConstraint,
    Uuid,
    case,
    cast,
    false,
    func,
    literal_column,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.documents.artifacts.statuses import ArtifactStatus, OcrStatus
from app.kit import db
from app.kit.tenancy import TenantModel, build_foreign_key, build_index
from app.schemas.artifact_schemas.models import DELETED

URGENCY = """(
CASE
    WHEN {of}nearly_due THEN 101
    ELSE {of}priority
END)"""
"""The first sort key, descending, of the order in which labelers get documents.

The key is 101 for a document that is nearly due, and otherwise the priority (0 to 100). `of` is a
table prefix such as `d.`, or an empty string. This key and `URGENT_AT` must equal the index
expressions as PostgreSQL formats them.
"""
URGENT_AT = """(
CASE
    WHEN {of}nearly_due THEN timezone('UTC'::text, timezone('UTC'::text, {of}due_at) - \
{of}priority::double precision * '00:00:00.001'::interval)
    ELSE {of}created_at
END)"""
"""The second sort key, ascending: the creation time or, for a document that is nearly due, the due
time.

One millisecond is subtracted from the due time for each point of the priority, so that of two equal
due times the document with the higher priority comes first. The key converts to UTC because an
index needs an immutable expression.
"""


def _build_list_index(name: str, *columns: str) -> Index:
    # The filter columns come first, then the sort order. Nearly every list filters by `archived`.
    return build_index(f"ix_artifacts_list_{name}", "archived", *columns, "id")


def _build_work_index(
    name: str, *columns: str, where: str = "", included: tuple[str, ...] = ()
) -> Index:
    # Unassigned and unclaimed documents, in the order in which labelers claim them.
    return build_index(
        name,
        "schema_id",
        *columns,
        text(f"{URGENCY.format(of='')} DESC"),
        text(URGENT_AT.format(of="")),
        "id",
        where=(
            "status IN ('ready', 'in_progress') AND NOT archived AND claim_user_id IS NULL"
            f" AND assignees = '[]' AND schema_id IS NOT NULL{where}"
        ),
        included=[
            *("labeled_by", "reserved_for", *included),
            *("priority", "nearly_due", "due_at", "created_at"),
        ],
    )


def build_zero_label_counts() -> dict[str, int]:
    """Return the label counts of a document without tag sets."""
    return {"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}


class Artifact(TenantModel, db.Revised, db.Base):
    """The record of a document. `status` is an ArtifactStatus.

    The content is in the storage under `storage.build_blob_key(organization_id, sha256)`.
    `label_counts` has the number of tag sets by status, updated by the code that changes a tag set.
    The revision counts edits by clients; labeling changes claim, status and counts, but not the
    revision.
    `labeled_by` has the labeler of each submitted or accepted tag set, null for a model's tag set.
    `reserved_for` has the users for whom drafts reserve the document. With both columns, the row
    alone shows who may label the document. `routing_since` is the time at which the document
    began to wait for the routing rules; it waits while it is `processing`. `ingested_at` is the
    time at which it was ready for the first time. `parent_id` is the email or mailbox that contains
    the document; the parent may have been deleted. `attachment_count` is the number of attachments
    of an email, or of emails in a mailbox; not all become documents. `prediction` is the latest
    prediction in the API's format; the workflow keeps it up to date.
    """

    __tablename__ = "artifacts"
    __table_args__ = (
        build_foreign_key("schema_id", "schemas"),
        UniqueConstraint("organization_id", "sha256", name="uq_artifacts_content"),
        _build_list_index("created", "created_at"),
        _build_list_index("status", "status", "created_at"),
        _build_list_index("schema", "schema_id", "status", "created_at"),
        _build_list_index("media_type", "media_type", "created_at"),
        _build_list_index("language", "language", "created_at"),
        _build_list_index("name", "name"),
        _build_list_index("priority", "priority"),
        _build_list_index("updated", "updated_at"),
        build_index("ix_artifacts_gold", "archived", "created_at", "id", where="gold"),
        build_index(
            "ix_artifacts_due",
            "archived",
            "status",
            "due_at",
            where="due_at IS NOT NULL",
            included=["schema_id", "created_at"],
        ),
        build_index("ix_artifacts_external", "external_id"),
        build_index(
            "ix_artifacts_parent", "parent_id", "created_at", where="parent_id IS NOT NULL"
        ),
        Index(
            "ix_artifacts_routing",
            "routing_since",
            postgresql_where=text("status = 'processing' AND routing_since IS NOT NULL"),
        ),
        # Excludes the expiry time; otherwise, every save would have to update the index.
        build_index("ix_artifacts_claimed", "claim_user_id", where="claim_user_id IS NOT NULL"),
        _build_work_index("ix_artifacts_order_of_work", included=("language",)),
        # For labelers who request a language.
        _build_work_index(
            "ix_artifacts_language_of_work", "language", where=" AND language IS NOT NULL"
        ),
        build_index(
            "ix_artifacts_ocr", "archived", "ocr", "created_at", "id", where="ocr <> 'none'"
        ),
        # The documents that the periodic job marks as nearly due.
        Index(
            "ix_artifacts_coming_due",
            "due_at",
            postgresql_where=text(
                "due_at IS NOT NULL AND NOT nearly_due AND NOT archived"
                " AND status IN ('ready', 'in_progress')"
            ),
        ),
    )

    name: Mapped[str]
    schema_id: Mapped[UUID | None]
    external_id: Mapped[str | None]
    meta: Mapped[dict[str, Any]] = mapped_column("metadata", default=dict)
    priority: Mapped[int] = mapped_column(default=50)
    due_at: Mapped[datetime | None]
    nearly_due: Mapped[bool] = mapped_column(default=False, server_default=false())
    gold: Mapped[bool] = mapped_column(default=False)
    archived: Mapped[bool] = mapped_column(default=False)
    media_type: Mapped[str]
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str]
    page_count: Mapped[int | None]
    language: Mapped[str | None]
    text_length: Mapped[int] = mapped_column(default=0)
    has_text_layer: Mapped[bool | None]
    ocr: Mapped[str] = mapped_column(default=OcrStatus.NONE, server_default=OcrStatus.NONE)
    status: Mapped[str] = mapped_column(default=ArtifactStatus.PROCESSING)
    routing_since: Mapped[datetime | None]
    failure: Mapped[dict[str, Any] | None]
    ingested_at: Mapped[datetime | None]
    connector_id: Mapped[UUID | None]
    ingestion_job_id: Mapped[UUID | None]
    parent_id: Mapped[UUID | None]
    attachment_count: Mapped[int | None]
    assignees: Mapped[list[Any]] = mapped_column(default=list)
    claim_user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    claim_expires_at: Mapped[datetime | None]
    label_counts: Mapped[dict[str, Any]] = mapped_column(default=build_zero_label_counts)
    labeled_by: Mapped[list[UUID | None]] = mapped_column(
        ARRAY(Uuid()), default=list, server_default="{}"
    )
    reserved_for: Mapped[list[UUID]] = mapped_column(
        ARRAY(Uuid()), default=list, server_default="{}"
    )
    prediction: Mapped[dict[str, Any] | None]
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"), index=True)


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
# The column is null for documents without fixed pages, and for documents read before the column
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
