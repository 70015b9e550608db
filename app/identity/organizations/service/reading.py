"""Organizations and who belongs to them."""

from uuid import UUID

from app.identity.organizations import queries
from app.kit import tenancy
from app.kit.pagination import Page, PageRequest


def of_user(user_id: UUID) -> list[dict[str, str]]:
    """The organizations of a user: [{slug, name, role}]."""
    with tenancy.across_organizations(reason="a user's memberships span organizations"):
        return queries.of_user(user_id)


def list_of_user(user_id: UUID, page: PageRequest) -> Page:
    """The organizations of a user as a page, with the user's role in each."""
    with tenancy.across_organizations(reason="a user's memberships span organizations"):
        return queries.page_of_user(user_id, page)
