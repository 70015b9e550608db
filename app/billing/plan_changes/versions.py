"""Record since when the versions of plans exist, and find the one that was in force at a time.

A period, or the part of it after a change of the plan, keeps the version that it began with. So a
new version in the catalogue never changes what a running period costs.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.billing.plans import catalogue
from app.billing.plans.catalogue import Plan
from app.billing.plans.models import PlanVersion
from app.kit import db


def record_versions() -> None:
    """Record the newest version of each plan, unless that was done before."""
    rows = [
        {"name": plan.name, "version": plan.version, "definition": catalogue.format_plan(plan)}
        for plan in catalogue.list_plans()
    ]
    db.session().execute(insert(PlanVersion).on_conflict_do_nothing(), rows)


def get_plan_at(name: str, at: datetime) -> Plan:
    """Return the version of a plan that was the newest at a time, or else the first one."""
    statement = select(PlanVersion).where(PlanVersion.name == name).order_by(PlanVersion.version)
    versions = list(db.session().scalars(statement))
    if not versions:
        return catalogue.get_plan(name)
    known = [version for version in versions if version.created_at <= at] or versions[:1]
    return catalogue.parse_plan(known[-1].definition, name)
