"""SQL of billing profiles."""

from uuid import UUID

from sqlalchemy import select

from app.billing.profiles.models import BillingProfile
from app.identity.organizations.models import Organization
from app.kit import db


def find() -> BillingProfile | None:
    """Return the billing profile of the bound organization, or None if it was never set."""
    return db.session().scalars(select(BillingProfile)).one_or_none()


def get_plan_name(organization_id: UUID) -> str:
    """Return the name of an organization's plan."""
    statement = select(Organization.plan).where(Organization.id == organization_id)
    return db.session().scalars(statement).one()
