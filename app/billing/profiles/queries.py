"""SQL queries for billing profiles."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from app.billing.profiles.models import BillingProfile
from app.kit import db


def find() -> BillingProfile | None:
    """Find the billing profile of the current organization; return None if it was never set."""
    return db.session().scalars(select(BillingProfile)).one_or_none()


def find_many(organization_ids: Sequence[UUID]) -> dict[UUID, BillingProfile]:
    """Find billing profiles by organization id.

    Organizations without a profile are missing from the result. Call this function within
    `tenancy.across_organizations`.
    """
    statement = select(BillingProfile).where(BillingProfile.organization_id.in_(organization_ids))
    return {profile.organization_id: profile for profile in db.session().scalars(statement)}
