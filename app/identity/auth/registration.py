"""Making one's own account."""

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
    """Make an account and, where it is named, its first organization; the login response.

    Raises 403 `permission_denied` where registration is by invitation, 400 `validation_error`, 409
    `conflict` for a mailbox that has an account.
    """
    # Somebody has to be the first to invite others.
    if container.settings().registration != "open" and not user_queries.nobody_yet():
        raise errors.denied("Accounts are made by invitation here. Ask a member to invite you.")
    password_policy.check_address(email)
    with secrets.hashing_slots.reserve():
        user = users.create(email=email, name=name, password=password)
    if organization_name is not None:
        organizations.create(name=organization_name, owner_id=user.id)
    links.mail(user, links.EMAIL, user.email)
    return service.open_session(user, ip_address=ip_address, user_agent=user_agent)
