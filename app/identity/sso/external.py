"""What a provider says of a person, once it is proven to be the provider who says it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExternalIdentity:
    """A proven identity.

    `issuer` and `subject` name the person and never change. `email_verified` is True where the
    provider vouches for the address, None where it does not say. `groups` are names or ids, as the
    provider has them.
    """

    issuer: str
    subject: str
    email: str | None
    email_verified: bool | None
    name: str | None
    groups: tuple[str, ...] = ()
