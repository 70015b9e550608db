"""Removal of the identities that were linked before an account's address was verified.

Until then, the address of an account is only a claim of a provider. Somebody else may have made
their own provider claim the address, and could otherwise keep access to the account.
"""

from uuid import UUID

from app.identity.auth import verification
from app.identity.sso import queries
from app.kit import db, tenancy


def unlink_identities(user_id: UUID, *, kept_id: UUID | None = None) -> None:
    """Delete a user's identities in all organizations, except `kept_id` if it is not None."""
    # Write pending changes now: they belong to the current organization, which is unset below.
    db.session().flush()
    with tenancy.across_organizations(reason="accounts belong to no organization"):
        queries.delete_identities(user_id, kept_id=kept_id)


verification.register(unlink_identities)
