"""SQL queries for plans."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Integer, String, column, select, values
from sqlalchemy.dialects.postgresql import insert

from app.billing.plans.models import PlanVersion, ScheduledPlanChange
from app.identity.organizations.models import Organization
from app.kit import db, tenancy
from app.kit.pagination import Page, PageRequest, paginate


def get_plan() -> tuple[str, dict[str, Any]]:
    """Return the name of the current organization's plan, and the limits set by the operator."""
    statement = select(Organization.plan, Organization.plan_limits).where(
        Organization.id == tenancy.current_organization_id()
    )
    plan, limits = db.session().execute(statement).one()
    return plan, limits


def find_scheduled_plan() -> str | None:
    """Return the name of the plan to which the current organization will change, or None."""
    return db.session().scalars(select(ScheduledPlanChange.plan)).one_or_none()


def list_names(request: PageRequest, names: Sequence[str]) -> Page:
    """Return a page of rows with `name` and `rank`, the position in `names` (from 1)."""
    rows = [(name, rank) for rank, name in enumerate(names, start=1)]
    table = values(column("name", String), column("rank", Integer), name="plans").data(rows)
    sorts = {"rank": table.c.rank, "name": table.c.name}
    return paginate(select(table.c.name, table.c.rank), request, sorts=sorts, unique=table.c.name)


def find_definition(name: str, version: int) -> dict[str, Any] | None:
    """Find the stored definition of a plan version; return None if it is not stored."""
    statement = select(PlanVersion.definition).where(
        PlanVersion.name == name, PlanVersion.version == version
    )
    return db.session().scalars(statement).one_or_none()


def insert_definition(name: str, version: int, definition: dict[str, Any]) -> None:
    """Insert the definition of a plan version, unless it is already stored."""
    row = {"name": name, "version": version, "definition": definition}
    db.session().execute(insert(PlanVersion).values(row).on_conflict_do_nothing())
