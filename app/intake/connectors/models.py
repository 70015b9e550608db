"""Models for connectors, their alerts, and the objects that their crawls have handled."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, LargeBinary, text
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.encryption import build_encryption_info
from app.kit.tenancy import TenantModel, build_foreign_key


class AlertKind(StrEnum):
    """The reason for a connector alert.

    CREDENTIALS_REFUSED, UNREACHABLE, CRAWL_FAILED: the latest crawl failed for this reason. STALE:
    no crawl succeeded at the last `MISSED_CRAWLS` scheduled times. QUARANTINED: the schedule is
    suspended because too many consecutive crawls have failed.
    """

    CRAWL_FAILED = "crawl_failed"
    CREDENTIALS_REFUSED = "credentials_refused"
    UNREACHABLE = "unreachable"
    STALE = "stale"
    QUARANTINED = "quarantined"


class Connector(TenantModel, db.Revised, db.Base):
    """A connection to a source of documents, which crawls read.

    `settings` contains the settings without secrets. `credentials` is the encrypted JSON object
    with the secrets, or null. `stored_secrets` contains the names of the secrets. `next_crawl_at`
    is the next scheduled time. It is null if the connector has no schedule or is disabled, and
    while the schedule is suspended. The connector becomes stale if no crawl has succeeded by
    `stale_at` and none is in progress at that time. The revision counts edits; a crawl does not
    change the revision.
    """

    __tablename__ = "connectors"
    __table_args__ = (
        build_foreign_key("schema_id", "schemas", ondelete="SET NULL (schema_id)"),
        Index("ix_connectors_list", "organization_id", "created_at", "id"),
        Index("ix_connectors_schema", "organization_id", "schema_id"),
        Index(
            "ix_connectors_due", "next_crawl_at", postgresql_where=text("next_crawl_at IS NOT NULL")
        ),
        Index("ix_connectors_stale", "stale_at", postgresql_where=text("stale_at IS NOT NULL")),
    )

    name: Mapped[str]
    type: Mapped[str]
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
    credentials: Mapped[str | None] = mapped_column(info=build_encryption_info())
    stored_secrets: Mapped[list[str]] = mapped_column(ARRAY(TEXT), default=list)
    schema_id: Mapped[UUID | None]
    enabled: Mapped[bool] = mapped_column(default=True)
    schedule: Mapped[str | None]
    include_patterns: Mapped[list[str]] = mapped_column(ARRAY(TEXT), default=list)
    exclude_patterns: Mapped[list[str]] = mapped_column(ARRAY(TEXT), default=list)
    next_crawl_at: Mapped[datetime | None]
    stale_at: Mapped[datetime | None]
    last_job_id: Mapped[UUID | None]
    failures_in_a_row: Mapped[int] = mapped_column(default=0)
    open_alert_count: Mapped[int] = mapped_column(default=0)
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))


class ConnectorAlert(TenantModel, db.Record, db.Base):
    """A problem with a connector; the alert is open until `closed_at`.

    A connector has at most one open alert of each `kind`.
    """

    __tablename__ = "connector_alerts"
    __table_args__ = (
        build_foreign_key("connector_id", "connectors", ondelete="CASCADE"),
        Index("ix_connector_alerts_list", "organization_id", "connector_id", "created_at", "id"),
        Index(
            "uq_connector_alerts_open",
            "organization_id",
            "connector_id",
            "kind",
            unique=True,
            postgresql_where=text("closed_at IS NULL"),
        ),
    )

    connector_id: Mapped[UUID]
    kind: Mapped[str]
    message: Mapped[str]
    ingestion_job_id: Mapped[UUID | None]
    acknowledged_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    acknowledged_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]


class ConnectorObject(TenantModel, db.Base):
    """A document in a source, and the version that a crawl last handled.

    `digest` is the SHA-256 of the path, because a path may be too long for an index. `version` is
    null if the document could not be read and the next crawl must retry it. A job deletes the
    objects of a deleted connector.
    """

    __tablename__ = "connector_objects"

    connector_id: Mapped[UUID] = mapped_column(primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    version: Mapped[str | None]
