"""Enforcement of single sign-on: turns passwords off for an organization's proven domains.

Owners of the organization can still use their password.
"""

from collections.abc import Iterable

from app.identity.auth import password_policy
from app.identity.organizations.models import Organization
from app.identity.sso import accounts, queries
from app.identity.sso.models import Configuration
from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.errors import ApiError


def _build_password_error() -> ApiError:
    """Return the error for a password sign-in.

    It depends only on the domain of the address, so it does not reveal whether an account exists.
    """
    return ApiError(
        "permission_denied",
        "Users with an address in this domain must sign in by single sign-on.",
        details={"single_sign_on": True},
    )


class Enforcement:
    """The password policy of single sign-on; implements `auth.password_policy.PasswordPolicy`."""

    def find_address_error(self, email: str) -> ApiError | None:
        """Return an error if an organization that enforces single sign-on has proven the domain."""
        return _build_password_error() if _find_by_address(email) is not None else None

    def find_account_error(self, user: User) -> ApiError | None:
        """Return the same error as `find_address_error`, or None for owners of the organization.

        Owners can still sign in by password, in case single sign-on fails.
        """
        organization = _find_by_address(user.email)
        if organization is None:
            return None
        with tenancy.organization(organization.id):
            membership = queries.lock_membership(user.id)
        is_owner = membership is not None and membership.role == "owner"
        return None if is_owner else _build_password_error()


def _find_by_address(email: str) -> Organization | None:
    with tenancy.across_organizations(reason="finds the organization that owns the domain"):
        return queries.find_enforcing_organization(accounts.parse_domain(email))


password_policy.register(Enforcement())


def end_password_sessions(configuration: Configuration, domains: Iterable[str]) -> None:
    """End password sessions in domains for which passwords are now turned off.

    `domains` are the proven domains. Does nothing unless single sign-on is enabled and enforced.
    """
    proven_domains = list(domains)
    if not (configuration.enforced and configuration.enabled and proven_domains):
        return
    db.session().flush()
    with tenancy.across_organizations(reason="accounts belong to no organization"):
        queries.end_password_sessions(configuration.organization_id, proven_domains)
