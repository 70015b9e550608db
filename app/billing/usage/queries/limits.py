"""SQL queries of the limits of an organization."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import text

from app.kit import db, tenancy
from app.kit.plan_limits import Meter
from app.kit.prepared import Prepared

_GET_PLAN = Prepared(
    "get_plan", "uuid", "SELECT plan, plan_limits FROM organizations WHERE id = $1"
)
# In the order of the given meters, which is the same for all callers.
_LOCK = text(
    """
    SELECT pg_advisory_xact_lock(hashtextextended('usage/' || :organization || '/' || m.meter, 0))
    FROM unnest(CAST(:meters AS text[])) WITH ORDINALITY AS m (meter, place) ORDER BY m.place
    """
)


class PlanRow(NamedTuple):
    """The plan of an organization, and the limits that differ from it."""

    plan: str
    limits: dict[str, Any]


def get_plan() -> PlanRow:
    """Return the plan of the bound organization."""
    return PlanRow._make(_GET_PLAN.first(str(tenancy.current_organization_id())))


def lock_meters(meters: Sequence[Meter]) -> None:
    """Lock meters of the bound organization until the transaction ends, waiting if necessary."""
    values = {
        "organization": str(tenancy.current_organization_id()),
        "meters": sorted(map(str, meters)),
    }
    db.session().execute(_LOCK, values)
