"""Registration of new users."""

from typing import Any

from app.identity.auth import links, password_policy, service
from app.identity.organizations import service as organizations
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.kit import container, errors, secrets


def register(
    *,
    email: str,
    password: str,
    name: str,
    organization_name: str | None = None,
    ip_address: str | None,
    user_agent: str | None,
) -> dict[str, Any]:
    """Create an account and, if a name is given, its first organization; return the login response.

    Raises 403 `permission_denied` if registration requires an invitation, 400 `validation_error`,
    and 409 `conflict` if the mailbox already has an account.
    """
    # The first account of an installation needs no invitation, because nobody could send one.
    if container.settings().registration != "open" and not user_queries.has_no_users():
        raise errors.denied("Registration requires an invitation. Ask a member to invite you.")
    password_policy.check_address(email)
    with secrets.hashing_slots.reserve():
        user = users.create(email=email, name=name, password=password)
    if organization_name is not None:
        organizations.create(name=organization_name, owner_id=user.id)
    links.send_link(user, links.EMAIL, user.email)
    return service.open_session(user, ip_address=ip_address, user_agent=user_agent)
