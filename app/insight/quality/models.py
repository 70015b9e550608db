"""Models of the daily aggregates of quality, and of what each document contributes to them."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel

COUNTERS = (
    "submitted",
    "timed",
    "seconds",
    "accepted",
    "corrected",
    "rejected",
    "auto_accepted",
    "overturned",
    "compared",
    "agreement",
    "checked",
    "accuracy",
)
"""The counters of a cell and of a contribution, in the order in which a contribution stores them.

`agreement` and `accuracy` are sums of shares in billionths, so that sums are exact whatever their
order is."""
SHARE = 1_000_000_000
"""The whole, in units of `agreement` and `accuracy`."""
RULES = 1
"""The version of the rules by which documents contribute. Increase it when they change: each
organization is then counted again."""


class Subject(StrEnum):
    """What a cell counts: a whole schema, or one of its labelers, reviewers or fields."""

    SCHEMA = "schema"
    LABELER = "labeler"
    REVIEWER = "reviewer"
    FIELD = "field"


class QualityState(TenantModel, db.Base):
    """The progress of counting the aggregates of an organization; one row per organization.

    `time_zone` is the one in which days are counted. While a recount is running, `counted_until` is
    the last artifact that it has counted, and `repaired_until` the last schema whose cells it has
    compared with the contributions; `counted_at` is when a recount was last completed. `summed_at`
    is when the sums were last compared with the cells; before, they are incomplete.
    """

    __tablename__ = "quality_states"

    time_zone: Mapped[str]
    rules: Mapped[int]
    counted_until: Mapped[UUID | None]
    repaired_until: Mapped[UUID | None]
    counted_at: Mapped[datetime | None]
    summed_at: Mapped[datetime | None]


class QualityDocument(TenantModel, db.Base):
    """The contributions of one artifact to the cells.

    They are [subject, schema_id, name, field_type, day, *counters], sorted. `schema_id` is the
    schema of all of them, or null if they are of several; a repair reads one schema at a time.
    There is no foreign key to the artifact: after its deletion its contributions still must be
    taken from the cells.
    """

    __tablename__ = "quality_documents"
    __table_args__ = (Index("ix_quality_documents_schema", "organization_id", "schema_id"),)

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    schema_id: Mapped[UUID | None]
    contributions: Mapped[list[Any]] = mapped_column(default=list)


class _Counters:
    """The counters of a cell or a sum, in the order of `COUNTERS`."""

    submitted: Mapped[int] = mapped_column(BigInteger, default=0)
    timed: Mapped[int] = mapped_column(BigInteger, default=0)
    seconds: Mapped[int] = mapped_column(BigInteger, default=0)
    accepted: Mapped[int] = mapped_column(BigInteger, default=0)
    corrected: Mapped[int] = mapped_column(BigInteger, default=0)
    rejected: Mapped[int] = mapped_column(BigInteger, default=0)
    auto_accepted: Mapped[int] = mapped_column(BigInteger, default=0)
    overturned: Mapped[int] = mapped_column(BigInteger, default=0)
    compared: Mapped[int] = mapped_column(BigInteger, default=0)
    agreement: Mapped[int] = mapped_column(BigInteger, default=0)
    checked: Mapped[int] = mapped_column(BigInteger, default=0)
    accuracy: Mapped[int] = mapped_column(BigInteger, default=0)


class QualityCell(TenantModel, _Counters, db.Base):
    """The sums of the contributions of one day to a schema, or to one of its subjects.

    `name` is the id of the labeler or reviewer, or the full name of the field; it is empty for the
    schema. `field_type` is the type of a field in the version that was labeled. Submissions count
    on their day, decisions on the day of the decision, agreement on the day of the last submission
    that was compared. Cells without any count have no row.

    - submitted: submissions, resubmissions included.
    - timed, seconds: tag sets with a recorded time, on the day of their last submission.
    - accepted, corrected, rejected: decisions of reviewers. Of a field: values that the reviewer
      kept or changed in an accepted tag set.
    - auto_accepted: tag sets accepted without a reviewer.
    - overturned: acceptances followed by a reopening, and rejections followed by an acceptance of
      the same tags.
    - compared, agreement: compared documents, and the sum of their agreement.
    - checked, accuracy: tag sets of gold documents, and the sum of their agreement with the answer.
    """

    __tablename__ = "quality_cells"
    __table_args__ = (
        Index("ix_quality_cells_days", "organization_id", "subject", "day"),
        Index("ix_quality_cells_schemas", "organization_id", "subject", "schema_id", "day"),
        Index("ix_quality_cells_names", "organization_id", "subject", "name", "day"),
    )

    subject: Mapped[str] = mapped_column(primary_key=True)
    schema_id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    field_type: Mapped[str] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)


class Unit(StrEnum):
    """The length of a sum: one day, a week from Monday, or a month."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


STEPS = {Unit.DAY: 1, Unit.WEEK: 7}
"""The length in days of the units of fixed length."""


_IS_EMPTY = " AND ".join(f"{name} = 0" for name in COUNTERS)


class QualitySum(TenantModel, _Counters, db.Base):
    """The sums of cells over a unit of time, so that reads of long periods read few rows.

    Triggers of the cells keep them, in every transaction that changes cells. `name` is the id of a
    schema, or of a labeler or reviewer, whose sums are those of all schemas. Fields have none.
    """

    __tablename__ = "quality_sums"
    __table_args__ = (
        Index("ix_quality_sums_names", "organization_id", "subject", "name", "unit", "start"),
        Index("ix_quality_sums_empty", "organization_id", postgresql_where=text(_IS_EMPTY)),
    )

    subject: Mapped[str] = mapped_column(primary_key=True)
    unit: Mapped[str] = mapped_column(primary_key=True)
    start: Mapped[date] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
