"""Service that reads organizations for the operator."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from app.identity.control_plane import queries
from app.identity.control_plane.service.deciding import shown
from app.kit import errors, tenancy


def list_organizations(
    *, status: str | None = None, plan: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield all organizations, sorted by slug: slug, name, status, plan, members, created_at."""
    with tenancy.across_organizations(reason="the operator sees every organization"):
        yield from queries.organizations(status=status, plan=plan)


def named(organization_ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Return organizations, sorted by slug: slug, name, status, erase_after."""
    return queries.named(organization_ids)


def show(slug: str) -> dict[str, Any]:
    """Return an organization with its owners and the times of closing and erasure. Raises 404."""
    found = queries.by_slug(slug)
    if found is None:
        raise errors.not_found()
    with tenancy.organization(found.id):
        owners = [user.email for user in queries.owners(found.id)]
        members = queries.count_members(found.id)
    return {
        **shown(found),
        "owners": owners,
        "members": members,
        "closed_at": found.closed_at,
        "erase_after": found.erase_after,
        "erased_at": found.erased_at,
    }
