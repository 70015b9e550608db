"""Service that reads organizations."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.identity.organizations import queries
from app.identity.organizations.models import Organization
from app.identity.organizations.service import settings
from app.kit import db, tenancy
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller


def list_for_user(user_id: UUID, *, only: UUID | None = None) -> list[dict[str, str]]:
    """Return the organizations of a user, sorted by name: [{slug, name, role}].

    If `only` is an organization id, the others are omitted.
    """
    with tenancy.across_organizations(reason="a user's memberships span organizations"):
        return queries.list_for_user(user_id, only=only)


def list_for_caller(
    caller: Caller,
    page: PageRequest,
    *,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of the caller's organizations, with the caller's role in each.

    An API key sees only its own organization, with the key's role. A session that is limited to one
    organization sees only that one.
    """
    period = {"created_after": created_after, "created_before": created_before}
    if caller.api_key_id is not None:
        assert caller.role is not None
        result = queries.get_page_of_one(caller.org.id, caller.role.name, page, **period)
    else:
        with tenancy.across_organizations(reason="a user's memberships span organizations"):
            only = caller.only_organization
            result = queries.get_page_for_user(caller.user_id, page, only=only, **period)
    return replace(result, items=[_with_settings(row._asdict()) for row in result.items])


def list_for_key(caller: Caller) -> list[dict[str, str]]:
    """Return the organization of an API key with the key's role: [{slug, name, role}]."""
    assert caller.role is not None
    name = queries.get_name(caller.org.id)
    return [{"slug": caller.org.slug, "name": name, "role": caller.role.name}]


def get(caller: Caller) -> dict[str, Any]:
    """Return the organization of the request, as the caller sees it."""
    assert caller.role is not None
    return render(db.session().get_one(Organization, caller.org.id), role=caller.role)


def render(organization: Organization, *, role: Role) -> dict[str, Any]:
    """Return an organization as a member with `role` sees it."""
    names = [column.key for column in Organization.__table__.columns]
    return _with_settings({**{n: getattr(organization, n) for n in names}, "role": role.name})


def _with_settings(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "settings": settings.render(row["settings"], row["ai_provider_key"])}


def list_with_retention() -> list[UUID]:
    """Return the ids of the organizations that have a retention period."""
    return [organization_id for organization_id, _ in queries.list_retention_days()]


def get_retention_days(organization_id: UUID) -> int | None:
    """Return for how many days an organization keeps its documents.

    Returns None if it keeps them forever, or if it is closed.
    """
    rows = queries.list_retention_days(organization_id)
    return rows[0][1] if rows else None
