"""Models for meters. Triggers and functions in the database write most of these tables.

See `migrations/metering.py`.
"""

from datetime import date, datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Identity, Text, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel

_DERIVED = ({"info": {"derived": True}},)
"""The arguments of tables that the erasure of an organization skips, because a trigger deletes
their rows when the status of the organization becomes `erased`."""


class UsageChange(db.Base):
    """The quantities that one SQL statement added to a meter and removed from the meter.

    The row exists until its quantities are folded into the row of the day in `usage_days`. `xact`
    is the id of the transaction. `organization_id` is not a foreign key, so that a write to a
    metered table does not lock the organization.
    """

    __tablename__ = "usage_changes"
    __table_args__ = _DERIVED

    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    xact: Mapped[int] = mapped_column(
        BigInteger,
        primary_key=True,
        server_default=text("CAST(CAST(pg_current_xact_id() AS text) AS bigint)"),
    )
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    meter: Mapped[str] = mapped_column(Text)
    day: Mapped[date]
    added: Mapped[int] = mapped_column(BigInteger, server_default="0")
    removed: Mapped[int] = mapped_column(BigInteger, server_default="0")


class UsageDay(TenantModel, db.Base):
    """The quantities added to and removed from a meter on a UTC day, and the level after the day.

    The level is the sum of all quantities added so far minus all quantities removed. A day without
    changes has no row. A trigger deletes the rows of an erased organization.
    """

    __tablename__ = "usage_days"
    __table_args__ = _DERIVED

    meter: Mapped[str] = mapped_column(Text, primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    added: Mapped[int] = mapped_column(BigInteger)
    removed: Mapped[int] = mapped_column(BigInteger)
    level: Mapped[int] = mapped_column(BigInteger)


class UsageSettlement(TenantModel, db.Base):
    """The settlement of an organization's usage: the days before `until` no longer change.

    `snapshot` is the PostgreSQL snapshot of the latest settlement. A change that belongs to a
    settled day, but was committed after the snapshot, is counted on the day `until` instead.
    """

    __tablename__ = "usage_settlements"
    __table_args__ = _DERIVED

    until: Mapped[date]
    snapshot: Mapped[str] = mapped_column(Text)


class UsageHorizon(db.Base):
    """The transaction id below which all changes have been folded into `usage_days`.

    The table has one row.
    """

    __tablename__ = "usage_horizon"
    __table_args__ = (CheckConstraint("one", name="one"),)

    one: Mapped[bool] = mapped_column(primary_key=True, server_default="true")
    xact: Mapped[int] = mapped_column(BigInteger, server_default="0")


class UsageSource(db.Base):
    """The definition of a meter, which sums `quantity` over the rows of a table.

    `quantity` is an SQL expression. `created` is the column with the time from which a row counts.
    """

    __tablename__ = "usage_sources"

    meter: Mapped[str] = mapped_column(Text, primary_key=True)
    table_name: Mapped[str] = mapped_column(Text)
    quantity: Mapped[str] = mapped_column(Text)
    created: Mapped[str] = mapped_column(Text)


class UsageWarning(TenantModel, db.Base):
    """A warning that was emitted because a meter reached `percent` percent of its limit.

    `month` is the first day of the month.
    """

    __tablename__ = "usage_warnings"

    meter: Mapped[str] = mapped_column(Text, primary_key=True)
    month: Mapped[date] = mapped_column(primary_key=True)
    percent: Mapped[int] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
