"""How often an address may be invited, and how many invitations an organization may send."""

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute

from app.identity.users import addresses
from app.kit import container, ratelimit, tenancy

PER_ADDRESS: tuple[RateLimitItem, ...] = (RateLimitItemPerMinute(1), RateLimitItemPerDay(10))
"""By each organization. A common count would tell one organization whom others invite."""


def count_invitation(email: str) -> None:
    """Count an email to `email` by the bound organization. Raises 429 `rate_limited`.

    Args:
        email: the address as `addresses.parse` returns it.
    """
    organization = str(tenancy.current_organization_id())
    mailbox = container.keyring().fingerprint("invited", organization + addresses.canonical(email))
    for item in PER_ADDRESS:
        ratelimit.count(item, "invited_address", mailbox, what="Invitations to one address")
    daily = RateLimitItemPerDay(container.settings().invitations_per_day)
    ratelimit.count(daily, "invitations", organization, what="Invitations of one organization")
