"""Rate limits of invitations, per address and per organization."""

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute

from app.identity.users import addresses
from app.kit import container, ratelimit, tenancy

PER_ADDRESS: tuple[RateLimitItem, ...] = (RateLimitItemPerMinute(1), RateLimitItemPerDay(10))
"""Counted per organization: a shared count would reveal whom other organizations invite."""


def count_invitation(email: str) -> None:
    """Count an invitation that the bound organization sends. Raises 429 `rate_limited`.

    Args:
        email: The invited address, as returned by `addresses.parse`.
    """
    organization = str(tenancy.current_organization_id())
    mailbox = container.keyring().fingerprint("invited", organization + addresses.canonical(email))
    for item in PER_ADDRESS:
        ratelimit.count(item, "invited_address", mailbox, what="Invitations to one address")
    daily = RateLimitItemPerDay(container.settings().invitations_per_day)
    ratelimit.count(daily, "invitations", organization, what="Invitations of one organization")
