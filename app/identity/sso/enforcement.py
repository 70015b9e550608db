"""Passwords turned off: for the domains that an organization has proven, owners aside."""

from collections.abc import Iterable

from app.identity.sso import accounts, queries
from app.identity.sso.models import Configuration
from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.errors import ApiError


def refused() -> ApiError:
    """What a password is answered with. It tells of the address's domain, and of no account."""
    return ApiError(
        "permission_denied",
        "Addresses of this domain sign in by single sign-on.",
        details={"single_sign_on": True},
    )


def applies(email: str) -> bool:
    """Whether passwords are off for the domain of `email`, of whomever the address is."""
    with tenancy.across_organizations(reason="whose address it is, is what is asked"):
        return queries.enforcing(accounts.domain_of(email.strip().lower())) is not None


def binds(user: User) -> bool:
    """Whether passwords are off for an account: owners keep theirs, to get in when all breaks."""
    with tenancy.across_organizations(reason="whose address it is, is what is asked"):
        organization = queries.enforcing(accounts.domain_of(user.email))
    if organization is None:
        return False
    with tenancy.organization(organization.id):
        membership = queries.membership(user.id)
    return membership is None or membership.role != "owner"


def begin(configuration: Configuration, names: Iterable[str]) -> None:
    """End the sessions that were opened by password in domains for which passwords are off now."""
    proven = list(names)
    if not (configuration.enforced and configuration.enabled and proven):
        return
    db.session().flush()
    with tenancy.across_organizations(reason="an address is of no organization"):
        queries.end_password_sessions(configuration.organization_id, proven)
