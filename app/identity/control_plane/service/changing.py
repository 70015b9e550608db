"""Service that sets plans, and suspends, reinstates, closes and reopens organizations."""

from pathlib import Path
from typing import Any

from app.identity.control_plane import queries
from app.identity.organizations import service as organizations
from app.identity.organizations.models import Organization
from app.kit import db, errors, events, tenancy
from app.kit.emails import Emails

emails = Emails(Path(__file__).parents[1] / "letters")

LIMITS = {
    "members": "Members.",
    "documents_per_month": "Documents received per month.",
    "stored_bytes": "Total size of all files in bytes.",
    "active_schemas": "Active schemas.",
    "connectors": "Connectors.",
    "webhooks": "Webhooks.",
    "ai_pages_per_month": "Pages processed with AI assistance per month.",
}
"""Maps each limit of a plan to a description of what it limits."""


def set_plan(
    slug: str, *, plan: str, limits: dict[str, int | None], revision: int | None = None
) -> dict[str, Any]:
    """Replace an organization's plan and the limits that differ from it; None means no limit.

    Emits `organization.plan_changed` on a change. Raises 404, 409 if the organization was closed,
    and 409 `stale_precondition`.
    """
    organization = _lock_not_closed(slug)
    if revision is not None and revision != organization.revision:
        raise errors.stale(organization.revision)
    if (organization.plan, organization.plan_limits) != (plan, limits):
        plan_before = organization.plan
        organization.plan, organization.plan_limits = plan, limits
        payload = {"plan": plan, "limits": limits, "plan_before": plan_before}
        _emit(organization, "organization.plan_changed", payload)
    return render(organization)


def suspend(slug: str, *, reason: str) -> dict[str, Any]:
    """Suspend an organization, so that writes are refused, and email the owners the reason.

    For a suspended organization, replaces the reason. Emits `organization.suspended`. Raises 404,
    and 409 if the organization was closed.
    """
    organization = _lock_not_closed(slug)
    was_suspended = organization.status == "suspended"
    if was_suspended and organization.suspension_reason == reason:
        return render(organization)
    organization.status, organization.suspension_reason = "suspended", reason
    if not was_suspended:
        organization.suspended_at = db.utc_now()
    _emit(organization, "organization.suspended", {"reason": reason})
    _email_owners(organization, "suspended", reason=reason)
    return render(organization)


def close(slug: str) -> dict[str, Any]:
    """Close an organization as its owner would; it is erased after the grace period.

    Raises 404, and 409 if the organization was closed.
    """
    organization = _lock_not_closed(slug)
    with tenancy.organization(organization.id):
        organizations.close_record(organization)
    return render(organization)


def reopen(slug: str) -> dict[str, Any]:
    """Reopen an organization within its grace period; its members, keys and records are unchanged.

    Raises 404, and 409 if the organization is not closed or erasing has begun.
    """
    organization = queries.lock(slug)
    if organization is None:
        raise errors.not_found()
    with tenancy.organization(organization.id):
        organizations.reopen_record(organization)
    return render(organization)


def reinstate(slug: str) -> dict[str, Any]:
    """End a suspension, or do nothing if there is none.

    Emits `organization.reinstated`. Raises 404, and 409 if the organization was closed.
    """
    organization = _lock_not_closed(slug)
    if organization.status == "suspended":
        organization.status = "active"
        organization.suspended_at = organization.suspension_reason = None
        _emit(organization, "organization.reinstated", {})
        _email_owners(organization, "reinstated")
    return render(organization)


def render(organization: Organization) -> dict[str, Any]:
    """Return an organization as the operator sees it."""
    db.session().flush()
    return {
        "id": organization.id,
        "slug": organization.slug,
        "name": organization.name,
        "status": organization.status,
        "plan": organization.plan,
        "limits": organization.plan_limits,
        "suspended_at": organization.suspended_at,
        "suspension_reason": organization.suspension_reason,
        "created_at": organization.created_at,
        "updated_at": organization.updated_at,
        "revision": organization.revision,
    }


def _lock_not_closed(slug: str) -> Organization:
    organization = queries.lock(slug)
    if organization is None:
        raise errors.not_found()
    if organization.status not in ("active", "suspended"):
        raise errors.conflict("The organization was closed.", state=organization.status)
    return organization


def _emit(organization: Organization, event: str, payload: dict[str, Any]) -> None:
    with tenancy.organization(organization.id):
        events.emit(event, payload)


def _email_owners(organization: Organization, template: str, **values: str) -> None:
    with tenancy.organization(organization.id):
        owners = queries.list_enabled_owners(organization.id)
    for owner in owners:
        emails.enqueue(
            template,
            to=owner.email,
            locale=owner.locale,
            values={"name": owner.name, "organization": organization.name, **values},
            organization_id=organization.id,
        )
