"""SQL queries for the limits of organizations."""

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

# All callers lock meters in the same order, so that they cannot deadlock.
_LOCK = text(
    """
    SELECT pg_advisory_xact_lock(hashtextextended('usage/' || :organization || '/' || m.meter, 0))
    FROM unnest(CAST(:meters AS text[])) WITH ORDINALITY AS m (meter, place) ORDER BY m.place
    """
)


def lock_meters(meters: Sequence[Meter]) -> None:
    """Lock meters of the current organization until the transaction ends, waiting if necessary."""
    values = {
        "organization": str(tenancy.current_organization_id()),
        "meters": sorted(map(str, meters)),
    }
    db.session().execute(_LOCK, values)


class OrganizationRow(NamedTuple):
    """An organization, its plan, and the limits that the operator has set."""

    id: UUID
    plan: str
    limits: dict[str, Any]


def list_plans(organization_ids: Sequence[UUID]) -> list[OrganizationRow]:
    """List the plans of organizations, and the limits that the operator has set."""
    columns = (Organization.id, Organization.plan, Organization.plan_limits)
    statement = select(*columns).where(Organization.id.in_(organization_ids))
    return [OrganizationRow._make(row) for row in db.session().execute(statement)]


def insert_warnings(
    month: date, reached_pairs: Sequence[tuple[Meter, int]]
) -> set[tuple[Meter, int]]:
    """Insert a warning for each (meter, percentage) reached in a month; return the new pairs."""
    if not reached_pairs:
        return set()
    rows = [
        {
            "organization_id": tenancy.current_organization_id(),
            "meter": str(meter),
            "month": month,
            "percent": percent,
        }
        for meter, percent in reached_pairs
    ]
    statement = insert(UsageWarning).on_conflict_do_nothing()
    returning = statement.returning(UsageWarning.meter, UsageWarning.percent)
    return {(Meter(row.meter), row.percent) for row in db.session().execute(returning, rows)}
