"""Database models for contributions of documents, their daily sums (cells), and period sums.

All quality metrics are computed from these tables. A *contribution* is what one document adds to
the counts of a day (`QualityDocument`), a *cell* is the daily sum of all contributions
(`QualityCell`), and a *period sum* is the sum of the cells of a day, week or month (`QualitySum`).
"""

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from sqlalchemy import BigInteger, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel

FRACTION_SCALE = 1_000_000_000
"""The integer that represents the fraction 1.0 in the counters `agreement` and `accuracy`."""
RULES_VERSION = 2
"""The version of the rules for counting documents. If it is increased, the documents of all
organizations are counted again."""


class CellSubject(StrEnum):
    """The subject of a `QualityCell`: a schema, or one of its labelers, reviewers or fields."""

    SCHEMA = "schema"
    LABELER = "labeler"
    REVIEWER = "reviewer"
    FIELD = "field"


class QualityState(TenantModel, db.Base):
    """The state of the quality counts of an organization; one row per organization.

    Days begin and end in `time_zone`. `rules` is the `RULES_VERSION` with which documents are
    counted. A recount first counts all artifacts again, and then corrects the daily aggregates
    (`QualityCell`) of each schema from the contributions (`QualityDocument`). While it is running
    or interrupted, `counted_until` is the id of the last artifact that was counted, and
    `repaired_until` is the id of the last schema whose daily aggregates were corrected. Both are
    null when it is completed, at the time `counted_at`. `summed_at` is the time at which the period
    sums (`QualitySum`) were last corrected from the daily aggregates. While it is null, the period
    sums are incomplete and are not read.
    """

    __tablename__ = "quality_states"

    time_zone: Mapped[str]
    rules: Mapped[int]
    counted_until: Mapped[UUID | None]
    repaired_until: Mapped[UUID | None]
    counted_at: Mapped[datetime | None]
    summed_at: Mapped[datetime | None]


class QualityDocument(TenantModel, db.Base):
    """The contributions of one artifact: what it adds to the daily aggregates (`QualityCell`).

    Each contribution consists of the key of a daily aggregate and the amounts to add to its
    counters: [subject, schema_id, name, field_type, day, *counters]. The list is sorted. The column
    `schema_id` is the schema of all contributions, or null if their schemas differ. With this
    column, a recount can read one schema at a time. There is no foreign key to the artifact: when
    the artifact is deleted, its contributions must still be subtracted from the daily aggregates.
    """

    __tablename__ = "quality_documents"
    __table_args__ = (Index("ix_quality_documents_schema", "organization_id", "schema_id"),)

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    schema_id: Mapped[UUID | None]
    contributions: Mapped[list[Any]] = mapped_column(default=list)


_Count = Annotated[int, mapped_column(BigInteger, default=0)]


class _Counters:
    """The counters of a `QualityCell` or a `QualitySum`.

    `agreement` and `accuracy` are sums of fractions in billionths, because sums of integers are
    exact, regardless of the order of addition.
    """

    submitted: Mapped[_Count]
    timed: Mapped[_Count]
    seconds: Mapped[_Count]
    accepted: Mapped[_Count]
    corrected: Mapped[_Count]
    rejected: Mapped[_Count]
    auto_accepted: Mapped[_Count]
    overturned: Mapped[_Count]
    compared: Mapped[_Count]
    agreement: Mapped[_Count]
    checked: Mapped[_Count]
    accuracy: Mapped[_Count]


COUNTERS = tuple(_Counters.__annotations__)
"""The names of the counters, in the order in which a contribution stores them."""


class QualityCell(TenantModel, _Counters, db.Base):
    """A daily aggregate, called a cell: the sums of one day's contributions for one subject.

    The subject is a schema, or a labeler, reviewer or field in the schema (`CellSubject`). `name`
    is the id of the labeler or reviewer, or the full name of the field; it is empty for the schema.
    `field_type` is the type of the field in the version that was labeled. Submissions are counted
    on the day of the submission, decisions on the day of the decision, agreement on the day of the
    last compared submission, and accuracy on the day of the first submission. A cell whose counters
    are all 0 has no row.

    - submitted: submissions, including resubmissions.
    - timed, seconds: the number of tag sets with a recorded time and the sum of these times, on the
      day of the last submission.
    - accepted, corrected, rejected: decisions of reviewers. For a field: accepted tag sets in which
      the reviewer kept (accepted) or changed (corrected) the values of the field.
    - auto_accepted: tag sets accepted without a reviewer.
    - overturned: acceptances followed by a reopening, and rejections followed by an acceptance of
      the same tags.
    - compared, agreement: compared documents, and the sum of their agreement values.
    - checked, accuracy: tag sets of gold documents, and the sum of their agreement values with the
      correct answer.
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


class SumUnit(StrEnum):
    """The period of a `QualitySum`: a day, a week from Monday to Sunday, or a calendar month."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


UNIT_DAYS = {SumUnit.DAY: 1, SumUnit.WEEK: 7}
"""The number of days in each unit that has a fixed length."""


_IS_EMPTY = " AND ".join(f"{name} = 0" for name in COUNTERS)


class QualitySum(TenantModel, _Counters, db.Base):
    """A period sum: the sum of the `QualityCell` rows of a day, week or month.

    With these sums, a long period is read from few rows. Triggers on the cells update the sums in
    every transaction that changes cells. `name` is the id of a schema, labeler or reviewer. The
    sums of a labeler or reviewer cover all schemas. Fields have no sums.
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
