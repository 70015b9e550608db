"""SQL queries for meters: usage by month and by day, limits and warnings, and upkeep."""

from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert

from app.billing.usage.models import UsageWarning
from app.identity.organizations.models import Organization
from app.kit import db, tenancy
from app.kit.plan_limits import Meter

# The id of the transaction before which all changes are folded. A restored dump may contain an id
# that this server has not reached yet; such an id is ignored.
_HORIZON = """(SELECT coalesce(max(xact), 0) FROM usage_horizon
    WHERE xact <= CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint))"""
_PENDING = f"""
    SELECT c.meter, get_usage_day(c.day, c.xact, s.until, s.snapshot) AS day, c.added, c.removed
    FROM usage_changes c LEFT JOIN usage_settlements s ON s.organization_id = c.organization_id
    WHERE c.organization_id = :organization_id AND c.xact >= {_HORIZON}
      AND c.meter = ANY (CAST(:meters AS text[]))
"""  # noqa: S608 - consists of constants
_METERS = "unnest(CAST(:meters AS text[])) AS m (meter)"
_READ_MONTH = tenancy.build_text(
    f"""
    WITH pending AS MATERIALIZED ({_PENDING}), month AS (
        SELECT CAST(date_trunc('month', timezone('UTC', now())) AS date) AS first
    )
    SELECT m.meter, month.first, o.plan, o.plan_limits,
        coalesce((SELECT d.level FROM usage_days d
                  WHERE d.organization_id = :organization_id AND d.meter = m.meter
                  ORDER BY d.day DESC LIMIT 1), 0)
        + coalesce((SELECT sum(p.added - p.removed) FROM pending p
                    WHERE p.meter = m.meter), 0) AS level,
        coalesce((SELECT sum(d.added) FROM usage_days d
                  WHERE d.organization_id = :organization_id AND d.meter = m.meter
                    AND d.day >= month.first), 0)
        + coalesce((SELECT sum(p.added) FROM pending p
                    WHERE p.meter = m.meter AND p.day >= month.first), 0) AS added
    FROM month, {_METERS}, organizations o WHERE o.id = :organization_id
    """  # noqa: S608 - consists of constants
)
# The level before the first day, and the changes on each day, including pending changes.
_DAYS = f"""
    WITH pending AS MATERIALIZED ({_PENDING}), opening AS (
        SELECT m.meter, CAST(:first AS date) - 1 AS day, CAST(0 AS numeric) AS added,
            CAST(0 AS numeric) AS removed,
            coalesce((SELECT d.level FROM usage_days d
                      WHERE d.organization_id = :organization_id AND d.meter = m.meter
                        AND d.day < :first ORDER BY d.day DESC LIMIT 1), 0)
            + coalesce((SELECT sum(p.added - p.removed) FROM pending p
                        WHERE p.meter = m.meter AND p.day < :first), 0) AS level
        FROM {_METERS}
    ), changed AS (
        SELECT meter, day, sum(added) AS added, sum(removed) AS removed FROM (
            SELECT meter, day, added, removed FROM usage_days
            WHERE organization_id = :organization_id AND meter = ANY (CAST(:meters AS text[]))
              AND day >= :first AND day < :next
            UNION ALL
            SELECT meter, day, added, removed FROM pending WHERE day >= :first AND day < :next
        ) AS parts GROUP BY meter, day
    )
    SELECT meter, day, added, removed,
        CAST(sum(level) OVER (PARTITION BY meter ORDER BY day) AS bigint) AS level
    FROM (
        SELECT meter, day, added, removed, level FROM opening
        UNION ALL
        SELECT meter, day, added, removed, added - removed FROM changed
    ) AS days ORDER BY meter, day
"""  # noqa: S608 - consists of constants
_ORGANIZATIONS = "unnest(CAST(:organizations AS uuid[])) AS o (id)"
_READ_DAYS = tenancy.build_text(_DAYS)
# The level before the first day is valid until the first change. If the first day has a change, the
# earlier level is therefore not the level at the end of any day of the period, and is ignored.
_MEASURE_MANY = text(
    f"""
    SELECT o.id AS organization_id, d.meter, sum(d.added) AS added,
        CASE WHEN bool_or(d.day = :first) THEN max(d.level) FILTER (WHERE d.day >= :first)
             ELSE max(d.level) END AS highest_level
    FROM {_ORGANIZATIONS} CROSS JOIN LATERAL ({_DAYS.replace(":organization_id", "o.id")}) AS d
    GROUP BY o.id, d.meter
    """  # noqa: S608 - consists of constants
)
_SETTLE_MANY = text(f"SELECT settle_usage(o.id, :until) FROM {_ORGANIZATIONS}")  # noqa: S608 - as above


class MonthUsage(NamedTuple):
    """The current level of each meter, and the quantity added in the current month.

    `plan` and `plan_limits` are the organization's plan and the limits that the operator has set.
    `first` is the first day of the month.
    """

    plan: str
    plan_limits: dict[str, Any]
    first: date
    levels: dict[Meter, int]
    added_quantities: dict[Meter, int]

    def get_used_quantity(self, meter: Meter) -> int:
        """Return the usage to which the limit of a meter applies."""
        return self.added_quantities[meter] if meter.is_monthly else self.levels[meter]


class DayRow(NamedTuple):
    """The quantities added to and removed from a meter on a day, and the level after the day."""

    meter: str
    day: date
    added: int
    removed: int
    level: int


def read_month(meters: Sequence[Meter]) -> MonthUsage:
    """Read the usage of meters in the current month, according to the database clock."""
    values = {"meters": [str(meter) for meter in meters]}
    rows = db.session().execute(_READ_MONTH, values).all()
    return MonthUsage(
        rows[0].plan,
        rows[0].plan_limits,
        rows[0].first,
        {Meter(row.meter): int(row.level) for row in rows},
        {Meter(row.meter): int(row.added) for row in rows},
    )


class MeasuredUsage(NamedTuple):
    """The quantity added to a meter of an organization in a period, and the highest daily level."""

    organization_id: UUID
    meter: str
    added: int
    highest_level: int


def read_days(meters: Sequence[Meter], first: date, end: date) -> list[DayRow]:
    """Return the changes of the current organization's meters by day, sorted by meter and day.

    Covers the days with changes from `first` to `end` (exclusive). Each meter also has a row for
    the day before `first`, which comes first; its `level` is the level at the end of that day.
    """
    values = {"meters": [str(meter) for meter in meters], "first": first, "next": end}
    return [
        DayRow(row.meter, row.day, int(row.added), int(row.removed), int(row.level))
        for row in db.session().execute(_READ_DAYS, values)
    ]


def measure_many(
    organization_ids: Sequence[UUID], meters: Sequence[Meter], first: date, end: date
) -> list[MeasuredUsage]:
    """Return the usage of each organization and meter from `first` to `end` (exclusive).

    Requires access to all organizations, unless the only id is that of the current organization.
    """
    values = {
        "organizations": [str(organization_id) for organization_id in organization_ids],
        "meters": [str(meter) for meter in meters],
        "first": first,
        "next": end,
    }
    return [
        MeasuredUsage(row.organization_id, row.meter, int(row.added), int(row.highest_level))
        for row in db.session().execute(_MEASURE_MANY, values)
    ]


def settle_many(organization_ids: Sequence[UUID], until: date) -> None:
    """Settle the usage of many organizations on all days before `until`.

    Changes that are committed later count on the day `until` instead. Requires access to all
    organizations.
    """
    ids = [str(organization_id) for organization_id in organization_ids]
    db.session().execute(_SETTLE_MANY, {"organizations": ids, "until": until})


# All callers lock meters in the same order, so that they cannot deadlock.
_LOCK = tenancy.build_text(
    """
    SELECT pg_advisory_xact_lock(
        hashtextextended('usage/' || :organization_id || '/' || m.meter, 0))
    FROM unnest(CAST(:meters AS text[])) WITH ORDINALITY AS m (meter, place) ORDER BY m.place
    """
)


def lock_meters(meters: Sequence[Meter]) -> None:
    """Lock meters of the current organization until the transaction ends, waiting if necessary."""
    db.session().execute(_LOCK, {"meters": sorted(map(str, meters))})


class OrganizationPlan(NamedTuple):
    """The id and plan of an organization, and the limits that the operator has set."""

    id: UUID
    plan: str
    limits: dict[str, Any]


def list_organization_plans(organization_ids: Sequence[UUID]) -> list[OrganizationPlan]:
    """List the plans of organizations, and the limits that the operator has set."""
    columns = (Organization.id, Organization.plan, Organization.plan_limits)
    statement = select(*columns).where(Organization.id.in_(organization_ids))
    return [OrganizationPlan._make(row) for row in db.session().execute(statement)]


def insert_warnings(
    month: date, reached_pairs: Sequence[tuple[Meter, int]]
) -> set[tuple[Meter, int]]:
    """Insert a warning for each (meter, percentage) reached in a month; return the new pairs."""
    if not reached_pairs:
        return set()
    rows = [
        {"meter": str(meter), "month": month, "percent": percent}
        for meter, percent in reached_pairs
    ]
    statement = insert(UsageWarning).on_conflict_do_nothing()
    returning = statement.returning(UsageWarning.meter, UsageWarning.percent)
    return {(Meter(row.meter), row.percent) for row in db.session().execute(returning, rows)}


_FOLD = text("SELECT folded, changed FROM fold_usage(:max_changes)")
_DIFFERENCES = tenancy.build_text(
    "SELECT meter, counted, metered FROM usage_differences(:organization_id)"
)
_REPAIR = tenancy.build_text("SELECT repair_usage(:organization_id, :meter)")
_METERED_ORGANIZATIONS = text(
    "SELECT id, slug FROM organizations WHERE erasure IS NULL"
    " AND (CAST(:slug AS text) IS NULL OR slug = :slug) ORDER BY slug"
)


class FoldedBatch(NamedTuple):
    """The number of folded changes, and the ids of the organizations with these changes."""

    folded_count: int
    organization_ids: list[UUID]


class DifferenceRow(NamedTuple):
    """A meter that differs from a recount.

    `counted` is the sum over the rows that the meter measures; `metered` is the meter's value.
    """

    meter: str
    counted: int
    metered: int


def fold(max_changes: int) -> FoldedBatch:
    """Fold up to `max_changes` meter changes of all organizations into daily totals.

    If another transaction is folding changes or settling usage (see `settle_many`), nothing is
    folded, and `folded_count` is 0.
    """
    return FoldedBatch._make(db.session().execute(_FOLD, {"max_changes": max_changes}).one())


def find_differences() -> list[DifferenceRow]:
    """Find the meters of the current organization that differ from a recount."""
    # A recount reads all metered rows of an organization, which can take longer than the timeout.
    db.disable_statement_timeout()
    return [DifferenceRow._make(row) for row in db.session().execute(_DIFFERENCES)]


def repair(meter: str) -> int:
    """Repair a meter of the current organization, and return the quantity that was added to it.

    The quantity is negative if the meter was too high, and 0 if it was correct.
    """
    db.disable_statement_timeout()
    return int(db.session().execute(_REPAIR, {"meter": meter}).scalar_one())


def list_organizations(slug: str | None = None) -> list[tuple[UUID, str]]:
    """List the ids and slugs of all organizations, or of the organization with the given slug.

    Organizations whose erasure has begun are excluded, because they have no meters.
    """
    rows = db.session().execute(_METERED_ORGANIZATIONS, {"slug": slug})
    return [(row.id, row.slug) for row in rows]
