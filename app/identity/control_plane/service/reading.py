"""Service that reads organizations for the operator."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from app.identity.control_plane import queries
from app.identity.control_plane.service.changing import render
from app.kit import errors, tenancy


def list_organizations(
    *, status: str | None = None, plan: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield all organizations, sorted by slug: slug, name, status, plan, members, created_at."""
    with tenancy.across_organizations(reason="the operator sees every organization"):
        yield from queries.list_organizations(status=status, plan=plan)


def list_by_ids(organization_ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Return organizations, sorted by slug: slug, name, status, erase_after."""
    return queries.list_by_ids(organization_ids)


def show(slug: str) -> dict[str, Any]:
    """Return an organization with its owners and the times of closing and erasure. Raises 404."""
    organization = queries.find_by_slug(slug)
    if organization is None:
        raise errors.not_found()
    with tenancy.organization(organization.id):
        owners = [user.email for user in queries.list_enabled_owners(organization.id)]
        members = queries.count_members(organization.id)
    return {
        **render(organization),
        "owners": owners,
        "members": members,
        "closed_at": organization.closed_at,
        "erase_after": organization.erase_after,
        "erased_at": organization.erased_at,
    }
