"""Find closed organizations whose last invoices are not complete, so that they are not erased."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from app.billing.invoices import queries
from app.billing.plan_changes import service as plan_changes
from app.billing.plan_changes.versions import PlanVersions
from app.billing.profiles import service as profiles
from app.billing.seller.configuration import find_configuration
from app.identity.organizations.models import Organization
from app.kit import db, tenancy

_TENANCY_REASON = "the last invoices of several organizations are checked"


def find_unbilled_ids(organization_ids: Sequence[UUID]) -> set[UUID]:
    """Return the ids of those closed organizations whose last invoices are not complete.

    The last invoices of an organization are not complete if it had a plan with a price in a month
    that still has to be invoiced, if one of its invoice jobs is unfinished or has failed, or if an
    issued invoice has no PDF yet. Returns an empty set if no billing file is set, because a month
    cannot be closed without a billing file. Raises BillingFileError if the file is invalid.
    """
    if not organization_ids or find_configuration() is None:
        return set()
    with tenancy.across_organizations(reason=_TENANCY_REASON):
        return (
            queries.list_organization_ids_with_unfinished_jobs(organization_ids)
            | queries.list_organization_ids_with_unrendered_invoices(organization_ids)
            | _list_organization_ids_with_priced_plan(organization_ids)
        )


def _list_organization_ids_with_priced_plan(organization_ids: Sequence[UUID]) -> set[UUID]:
    """Return the ids of organizations with a priced plan in or after the first uninvoiced month."""
    months = queries.get_first_open_months(organization_ids)
    if not months:
        return set()
    changes = plan_changes.get_changes(list(months), min(months.values()))
    versions = PlanVersions()
    priced_ids = set()
    statement = select(Organization).where(Organization.id.in_(months))
    for organization in db.session().scalars(statement):
        assert organization.closed_at is not None
        segments = plan_changes.list_segments(
            organization,
            changes[organization.id],
            months[organization.id],
            organization.closed_at,
        )
        plans = (versions.get_version_at(segment.plan, segment.start) for segment in segments)
        if any(profiles.has_price(plan) for plan in plans):
            priced_ids.add(organization.id)
    return priced_ids
