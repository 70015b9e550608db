"""Plans and suspensions."""

from pathlib import Path
from typing import Any

from app.identity.control_plane import queries
from app.identity.organizations import service as organizations
from app.identity.organizations.models import Organization
from app.kit import db, errors, events, tenancy
from app.kit.emails import Emails

letters = Emails(Path(__file__).parents[1] / "letters")

LIMITS = {
    "members": "Members.",
    "documents_per_month": "Documents that come in within a month.",
    "stored_bytes": "Bytes of all files.",
    "active_schemas": "Active schemas.",
    "connectors": "Connectors.",
    "webhooks": "Webhooks.",
    "ai_pages_per_month": "Pages with AI assistance within a month.",
}
"""Every limit of a plan and what it counts."""


def set_plan(
    slug: str, *, plan: str, limits: dict[str, int | None], revision: int | None = None
) -> dict[str, Any]:
    """Replace an organization's plan and its overrides; None is without limit.

    Raises 404, 409 on one that was closed, and 409 `stale_precondition`.
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
    """Refuse writes from now on and tell the owners why; again, it replaces the reason.

    Raises 404, and 409 on an organization that was closed.
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
    """Close an organization as its owner would: it is erased after the grace period.

    Raises 404, and 409 on one that was closed.
    """
    found = _open(slug)
    with tenancy.organization(found.id):
        organizations.close_record(found)
    return shown(found)


def reopen(slug: str) -> dict[str, Any]:
    """Take back a closing within its grace period: members, keys and records are as they were.

    Raises 404, and 409 on one that is not closed or whose erasing has begun.
    """
    found = queries.locked(slug)
    if found is None:
        raise errors.not_found()
    with tenancy.organization(found.id):
        organizations.reopen_record(found)
    return shown(found)


def reinstate(slug: str) -> dict[str, Any]:
    """Lift a suspension; where there is none, nothing happens. Raises as `suspend`."""
    found = _open(slug)
    if found.status == "suspended":
        found.status, found.suspended_at, found.suspension_reason = "active", None, None
        _tell(found, "organization.reinstated", {})
        _write(found, "reinstated")
    return shown(found)


def shown(organization: Organization) -> dict[str, Any]:
    """An organization as the operator sees it."""
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
        letters.enqueue(
            letter,
            to=owner.email,
            locale=owner.locale,
            values={"name": owner.name, "organization": organization.name, **values},
            organization_id=organization.id,
        )
