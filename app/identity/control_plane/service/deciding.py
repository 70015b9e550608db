"""Service that sets plans, and suspends, reinstates, closes and reopens organizations."""

from pathlib import Path
from typing import Any

from app.identity.control_plane import queries
from app.identity.organizations import service as organizations
from app.identity.organizations.models import Organization
from app.kit import db, errors, events, tenancy
from app.kit.letters import Letters

letters = Letters(Path(__file__).parents[1] / "letters")

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
    found = _open(slug)
    if revision is not None and revision != found.revision:
        raise errors.stale(found.revision)
    if (found.plan, found.plan_limits) != (plan, limits):
        before = found.plan
        found.plan, found.plan_limits = plan, limits
        data = {"plan": plan, "limits": limits, "plan_before": before}
        _tell(found, "organization.plan_changed", data)
    return shown(found)


def suspend(slug: str, *, reason: str) -> dict[str, Any]:
    """Suspend an organization, so that writes are refused, and email the owners the reason.

    For a suspended organization, replaces the reason. Emits `organization.suspended`. Raises 404,
    and 409 if the organization was closed.
    """
    found = _open(slug)
    suspended = found.status == "suspended"
    if suspended and found.suspension_reason == reason:
        return shown(found)
    found.status, found.suspension_reason = "suspended", reason
    if not suspended:
        found.suspended_at = db.utc_now()
    _tell(found, "organization.suspended", {"reason": reason})
    _write(found, "suspended", reason=reason)
    return shown(found)


def close(slug: str) -> dict[str, Any]:
    """Close an organization as its owner would; it is erased after the grace period.

    Raises 404, and 409 if the organization was closed.
    """
    found = _open(slug)
    with tenancy.organization(found.id):
        organizations.close_record(found)
    return shown(found)


def reopen(slug: str) -> dict[str, Any]:
    """Reopen an organization within its grace period; its members, keys and records are unchanged.

    Raises 404, and 409 if the organization is not closed or erasing has begun.
    """
    found = queries.locked(slug)
    if found is None:
        raise errors.not_found()
    with tenancy.organization(found.id):
        organizations.reopen_record(found)
    return shown(found)


def reinstate(slug: str) -> dict[str, Any]:
    """End a suspension, or do nothing if there is none.

    Emits `organization.reinstated`. Raises 404, and 409 if the organization was closed.
    """
    found = _open(slug)
    if found.status == "suspended":
        found.status, found.suspended_at, found.suspension_reason = "active", None, None
        _tell(found, "organization.reinstated", {})
        _write(found, "reinstated")
    return shown(found)


def shown(organization: Organization) -> dict[str, Any]:
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


def _open(slug: str) -> Organization:
    found = queries.locked(slug)
    if found is None:
        raise errors.not_found()
    if found.status not in ("active", "suspended"):
        raise errors.conflict("The organization was closed.", state=found.status)
    return found


def _tell(organization: Organization, name: str, data: dict[str, Any]) -> None:
    with tenancy.organization(organization.id):
        events.emit(name, data)


def _write(organization: Organization, letter: str, **values: str) -> None:
    with tenancy.organization(organization.id):
        owners = queries.owners(organization.id)
    for owner in owners:
        letters.post(
            letter,
            to=owner.email,
            locale=owner.locale,
            values={"name": owner.name, "organization": organization.name, **values},
            organization_id=organization.id,
        )
