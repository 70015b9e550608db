"""Enforcement of single sign-on: disables passwords for an organization's verified domains.

The organization's owners can still use their passwords.
"""

from collections.abc import Iterable

from app.identity.organizations.models import Organization
from app.identity.sso import accounts, queries
from app.identity.sso.models import Configuration
from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.errors import ApiError


def _build_password_error() -> ApiError:
    """Build the error for a user who must use single sign-on instead of a password.

    The error is the same for all addresses in a domain, so it does not reveal whether an account
    exists.
    """
    return ApiError(
        "permission_denied",
        "Users with an address in this domain must use single sign-on.",
        details={"single_sign_on": True},
    )


def find_address_error(email: str) -> ApiError | None:
    """Return an error if single sign-on is enforced for the domain of an address, or None."""
    return _build_password_error() if _find_enforcing_organization(email) is not None else None


def find_account_error(user: User) -> ApiError | None:
    """Return an error if single sign-on is enforced for the account's email domain, or None.

    Also returns None for owners of the organization that enforces single sign-on: owners can still
    sign in with a password, in case single sign-on fails. Locks the user's membership in that
    organization until the transaction ends.
    """
    organization = _find_enforcing_organization(user.email)
    if organization is None:
        return None
    with tenancy.organization(organization.id):
        membership = queries.lock_membership(user.id)
    is_owner = membership is not None and membership.role == "owner"
    return None if is_owner else _build_password_error()


def _find_enforcing_organization(email: str) -> Organization | None:
    with tenancy.across_organizations(reason="finds the organization that owns the domain"):
        return queries.find_enforcing_organization(accounts.parse_domain(email))


def end_password_sessions(configuration: Configuration, domains: Iterable[str]) -> None:
    """End all sessions of users who signed in with a password that is now disabled.

    `domains` contains the verified domains whose users are checked, such as newly verified domains.
    The owners are exempt. Does nothing unless single sign-on is enabled and enforced.
    """
    verified_domains = list(domains)
    if not (configuration.enforced and configuration.enabled and verified_domains):
        return
    db.session().flush()
    with tenancy.across_organizations(reason="accounts belong to no organization"):
        queries.end_password_sessions(configuration.organization_id, verified_domains)
