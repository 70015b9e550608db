"""Record plan versions when they appear, and find the version in force at a given time.

A period, or the part of a period after a plan change, keeps the version with which it began. A new
version in the plan catalog therefore never changes the price of the current period.
"""

from collections import defaultdict
from datetime import datetime

from sqlalchemy import select

from app.billing.plans import catalog, queries
from app.billing.plans.catalog import Plan
from app.billing.plans.models import PlanVersion
from app.kit import db


def record_versions() -> None:
    """Record the newest version of each plan, unless it is already recorded."""
    for plan in catalog.list_plans():
        queries.store_plan(plan)


class PlanVersions:
    """The recorded plan versions, which are read once for many organizations."""

    def __init__(self) -> None:
        self._rows: dict[str, list[PlanVersion]] = defaultdict(list)
        for row in db.session().scalars(select(PlanVersion).order_by(PlanVersion.version)):
            self._rows[row.name].append(row)
        self._plans: dict[tuple[str, int], Plan] = {}

    def get_version_at(self, name: str, at: datetime) -> Plan:
        """Return the newest version of a plan that was recorded by the time `at`.

        If all versions were recorded later, returns the oldest version. If no version is recorded,
        returns the newest version in the plan file.
        """
        rows = self._rows.get(name)
        if not rows:
            return catalog.get_plan(name)
        row = ([row for row in rows if row.created_at <= at] or rows[:1])[-1]
        key = (name, row.version)
        if key not in self._plans:
            self._plans[key] = catalog.parse_plan(row.definition, name)
        return self._plans[key]
