"""Restrictions on the changes that a session limited to one organization may make."""

from app.identity.organizations import queries
from app.kit import errors, tenancy
from app.kit.principal import Caller


def check_organization_creation(caller: Caller) -> None:
    """Raise 403 if the caller's session is limited to one organization.

    Without this check, the identity provider of that organization could make the user the owner of
    new organizations.
    """
    if caller.only_organization_id is not None:
        raise errors.denied(
            "This session is limited to one organization and cannot create another organization."
            " Sign in with your password to create it. If you have no password, request a password"
            " reset first."
        )


def check_account_change(caller: Caller) -> None:
    """Raise 403 if the session is limited to one organization and the user is a member of others.

    All of the user's organizations share the account. The identity provider that authenticated the
    limited session is trusted only within the organization of the session.
    """
    if caller.only_organization_id is None:
        return
    with tenancy.across_organizations(reason="a user's memberships span organizations"):
        has_memberships = queries.has_other_memberships(caller.user_id, caller.only_organization_id)
    if has_memberships:
        raise errors.denied(
            "This session is limited to one organization, but the change would apply to your other"
            " organizations, too. Sign in with your password to make the change. If you have no"
            " password, request a password reset first."
        )
