"""Passwords turned off: for the domains that an organization has proven, owners aside."""

from collections.abc import Iterable

from app.identity.auth import password_policy
from app.identity.organizations.models import Organization
from app.identity.sso import accounts, queries
from app.identity.sso.models import Configuration
from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.errors import ApiError


def _refused() -> ApiError:
    """What a password is answered with. It tells of the address's domain, and of no account."""
    return ApiError(
        "permission_denied",
        "Addresses of this domain sign in by single sign-on.",
        details={"single_sign_on": True},
    )


class Enforcement:
    """Single sign-on's word on passwords, as `auth.password_policy.PasswordPolicy` has it."""

    def refusal(self, email: str) -> ApiError | None:
        """An objection where the address's domain is proven by an organization that enforces."""
        return _refused() if _enforcing(email) is not None else None

    def binds(self, user: User) -> ApiError | None:
        """The same, owners of that organization aside: they get in when all else breaks."""
        organization = _enforcing(user.email)
        if organization is None:
            return None
        with tenancy.organization(organization.id):
            membership = queries.membership(user.id)
        owner = membership is not None and membership.role == "owner"
        return None if owner else _refused()


def _enforcing(email: str) -> Organization | None:
    with tenancy.across_organizations(reason="whose address it is, is what is asked"):
        return queries.enforcing(accounts.domain_of_typed(email))


password_policy.register(Enforcement())


def begin(configuration: Configuration, names: Iterable[str]) -> None:
    """End the sessions that were opened by password in domains for which passwords are off now."""
    proven = list(names)
    if not (configuration.enforced and configuration.enabled and proven):
        return
    db.session().flush()
    with tenancy.across_organizations(reason="an address is of no organization"):
        queries.end_password_sessions(configuration.organization_id, proven)
