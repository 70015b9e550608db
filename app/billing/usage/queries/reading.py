"""SQL queries that read the usage of organizations by month and by day."""

from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy
from app.kit.plan_limits import Meter

# The id of the transaction before which all changes are folded. A restored dump may contain an id
# that this server has not reached yet; such an id is ignored.
_HORIZON = """(SELECT coalesce(max(xact), 0) FROM usage_horizon
    WHERE xact <= CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint))"""
_PENDING = f"""
    SELECT c.meter, get_usage_day(c.day, c.xact, s.until, s.snapshot) AS day, c.added, c.removed
    FROM usage_changes c LEFT JOIN usage_settlements s ON s.organization_id = c.organization_id
    WHERE c.organization_id = :organization AND c.xact >= {_HORIZON}
      AND c.meter = ANY (CAST(:meters AS text[]))
"""  # noqa: S608 - consists of constants
_METERS = "unnest(CAST(:meters AS text[])) AS m (meter)"
_READ_MONTH = text(
    f"""
    WITH pending AS MATERIALIZED ({_PENDING}), month AS (
        SELECT CAST(date_trunc('month', timezone('UTC', now())) AS date) AS first
    )
    SELECT m.meter, month.first, o.plan, o.plan_limits,
        coalesce((SELECT d.level FROM usage_days d
                  WHERE d.organization_id = :organization AND d.meter = m.meter
                  ORDER BY d.day DESC LIMIT 1), 0)
        + coalesce((SELECT sum(p.added - p.removed) FROM pending p
                    WHERE p.meter = m.meter), 0) AS level,
        coalesce((SELECT sum(d.added) FROM usage_days d
                  WHERE d.organization_id = :organization AND d.meter = m.meter
                    AND d.day >= month.first), 0)
        + coalesce((SELECT sum(p.added) FROM pending p
                    WHERE p.meter = m.meter AND p.day >= month.first), 0) AS added
    FROM month, {_METERS}, organizations o WHERE o.id = :organization
    """  # noqa: S608 - consists of constants
)
# The level before the first day, and the changes on each day, including pending changes.
_DAYS = f"""
    WITH pending AS MATERIALIZED ({_PENDING}), opening AS (
        SELECT m.meter, CAST(:first AS date) - 1 AS day, CAST(0 AS numeric) AS added,
            CAST(0 AS numeric) AS removed,
            coalesce((SELECT d.level FROM usage_days d
                      WHERE d.organization_id = :organization AND d.meter = m.meter
                        AND d.day < :first ORDER BY d.day DESC LIMIT 1), 0)
            + coalesce((SELECT sum(p.added - p.removed) FROM pending p
                        WHERE p.meter = m.meter AND p.day < :first), 0) AS level
        FROM {_METERS}
    ), changed AS (
        SELECT meter, day, sum(added) AS added, sum(removed) AS removed FROM (
            SELECT meter, day, added, removed FROM usage_days
            WHERE organization_id = :organization AND meter = ANY (CAST(:meters AS text[]))
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
_READ_DAYS = text(_DAYS)
_ORGANIZATIONS = "unnest(CAST(:organizations AS uuid[])) AS o (id)"
_READ_DAYS_BY_ORGANIZATION = text(
    f"SELECT o.id AS organization_id, d.* FROM {_ORGANIZATIONS}"  # noqa: S608 - consists of constants
    f" CROSS JOIN LATERAL ({_DAYS.replace(':organization', 'o.id')}) AS d"
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
    added: dict[Meter, int]

    def get_used_quantity(self, meter: Meter) -> int:
        """Return the usage to which the limit of a meter applies."""
        return self.added[meter] if meter.is_monthly else self.levels[meter]


class DayRow(NamedTuple):
    """The quantities added to and removed from a meter on a day, and the level after the day."""

    meter: str
    day: date
    added: int
    removed: int
    level: int


def read_month(meters: Sequence[Meter]) -> MonthUsage:
    """Read the usage of meters in the current month, according to the database clock."""
    rows = db.session().execute(_READ_MONTH, _build_params(meters)).all()
    return MonthUsage(
        rows[0].plan,
        rows[0].plan_limits,
        rows[0].first,
        {Meter(row.meter): int(row.level) for row in rows},
        {Meter(row.meter): int(row.added) for row in rows},
    )


def read_days(meters: Sequence[Meter], first: date, end: date) -> list[DayRow]:
    """Read the days with changes for each meter, from `first` to `end` (exclusive).

    The first row of each meter is for the day before `first`; its `level` is the level at the end
    of that day.
    """
    values = {**_build_params(meters), "first": first, "next": end}
    rows = db.session().execute(_READ_DAYS, values)
    return [
        DayRow(row.meter, row.day, int(row.added), int(row.removed), int(row.level)) for row in rows
    ]


def read_days_by_organization(
    organization_ids: Sequence[UUID], meters: Sequence[Meter], first: date, end: date
) -> dict[UUID, list[DayRow]]:
    """Return the result of `read_days` for each organization.

    Requires access to all organizations.
    """
    values = {
        "organizations": [str(organization_id) for organization_id in organization_ids],
        "meters": [str(meter) for meter in meters],
        "first": first,
        "next": end,
    }
    days: dict[UUID, list[DayRow]] = {key: [] for key in organization_ids}
    for row in db.session().execute(_READ_DAYS_BY_ORGANIZATION, values):
        quantities = (int(row.added), int(row.removed), int(row.level))
        days[row.organization_id].append(DayRow(row.meter, row.day, *quantities))
    return days


def settle_many(organization_ids: Sequence[UUID], until: date) -> None:
    """Settle the usage of many organizations before the day `until`.

    Changes that are committed later count on the day `until` instead. Requires access to all
    organizations.
    """
    ids = [str(organization_id) for organization_id in organization_ids]
    db.session().execute(_SETTLE_MANY, {"organizations": ids, "until": until})


def _build_params(meters: Sequence[Meter]) -> dict[str, Any]:
    return {
        "organization": tenancy.current_organization_id(),
        "meters": [str(meter) for meter in meters],
    }
