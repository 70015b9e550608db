"""Organizations and who belongs to them."""

from dataclasses import replace
from uuid import UUID

from app.identity.organizations import queries
from app.kit import tenancy
from app.kit.pagination import Page, PageRequest
from app.kit.principal import Caller


def of_user(user_id: UUID) -> list[dict[str, str]]:
    """The organizations of a user: [{slug, name, role}]."""
    with tenancy.across_organizations(reason="a user's memberships span organizations"):
        return queries.of_user(user_id)


def list_of_caller(caller: Caller, page: PageRequest) -> Page:
    """The organizations of the caller as a page, with the caller's role in each.

    An API key sees its own only, and the role that it has there.
    """
    only = caller.org.id if caller.api_key_id is not None else None
    with tenancy.across_organizations(reason="a user's memberships span organizations"):
        found = queries.page_of_user(caller.user_id, page, only=only)
    if only is None or caller.role is None:
        return found
    return replace(
        found, items=[{**row._asdict(), "role": caller.role.name} for row in found.items]
    )
