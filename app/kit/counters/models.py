"""The tables that store counts. Triggers and functions in the database write them."""

from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, ForeignKey, Identity, Integer, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel

_TEXT = Text(collation="C")


class Count(TenantModel, db.Base):
    """A cell of a cube: the number of rows with the same facets, and the sum of the measure.

    `sources.Cube` explains the columns `key` and `bucket`. `total` is the sum. Empty cells are
    deleted.
    """

    __tablename__ = "counts"
    __table_args__ = ({"info": {"derived": True}},)

    cube: Mapped[str] = mapped_column(_TEXT, primary_key=True)
    key: Mapped[str] = mapped_column(_TEXT, primary_key=True)
    bucket: Mapped[str] = mapped_column(_TEXT, primary_key=True)
    facets: Mapped[list[str]] = mapped_column(ARRAY(_TEXT), primary_key=True)
    n: Mapped[int] = mapped_column(BigInteger)
    total: Mapped[int] = mapped_column(BigInteger)


class CountDelta(db.Base):
    """A change to a count, made by one statement and not yet added to the `Count` rows.

    `xact` is the id of the transaction that made the change. `organization_id` is not a foreign
    key, so that a write to a counted table does not lock the organization.
    """

    __tablename__ = "count_deltas"
    __table_args__ = ({"info": {"derived": True}},)

    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    source: Mapped[str] = mapped_column(_TEXT, primary_key=True)
    xact: Mapped[int] = mapped_column(
        BigInteger,
        primary_key=True,
        server_default=text("CAST(CAST(pg_current_xact_id() AS text) AS bigint)"),
    )
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    facets: Mapped[list[str]] = mapped_column(ARRAY(_TEXT))
    n: Mapped[int] = mapped_column(BigInteger)
    total: Mapped[int] = mapped_column(BigInteger)


class CountHorizon(db.Base):
    """The id of the transaction before which all deltas have been added to the counts.

    The table has one row.
    """

    __tablename__ = "count_horizon"
    __table_args__ = (CheckConstraint("one", name="one"),)

    one: Mapped[bool] = mapped_column(primary_key=True, server_default="true")
    xact: Mapped[int] = mapped_column(BigInteger, server_default="0")


class CountSource(db.Base):
    """A source: the rows of a table that are counted (see `migrations/counting.py`)."""

    __tablename__ = "count_sources"

    source: Mapped[str] = mapped_column(Text, primary_key=True)
    table_name: Mapped[str] = mapped_column(Text)
    condition: Mapped[str] = mapped_column(Text)
    facets: Mapped[list[str]] = mapped_column(ARRAY(Text))
    expressions: Mapped[list[str]] = mapped_column(ARRAY(Text))
    measure: Mapped[str] = mapped_column(Text)


class CountCube(db.Base):
    """A cube (see `sources.Cube`). Its facets are stored as indexes into its source's facets."""

    __tablename__ = "count_cubes"

    cube: Mapped[str] = mapped_column(Text, primary_key=True)
    source: Mapped[str] = mapped_column(
        Text, ForeignKey("count_sources.source", ondelete="CASCADE")
    )
    key: Mapped[int | None]
    bucket: Mapped[int | None]
    bucket_length: Mapped[int | None]
    facets: Mapped[list[int]] = mapped_column(ARRAY(Integer))
