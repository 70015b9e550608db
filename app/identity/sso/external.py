"""A person's identity as an identity provider reports it, after the response was verified."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExternalIdentity:
    """A verified identity.

    `issuer` and `subject` identify the person and never change. `email_verified` is True if the
    provider says that the address is verified, None if it does not say. `groups` are names or ids,
    as the provider sends them.
    """

    issuer: str
    subject: str
    email: str | None
    email_verified: bool | None
    name: str | None
    groups: tuple[str, ...] = ()
