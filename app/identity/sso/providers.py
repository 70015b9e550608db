"""The interface between single sign-on and its protocols, and the registry of protocols.

A protocol has three parts. `check` validates a provider when it is configured, and `authorize`
builds the URL to which the browser is sent; both belong to this interface. The third part, reading
the response, is a separate route of each protocol. It calls `callbacks.complete_sign_in`
with a function that turns the response into an `ExternalIdentity`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.identity.sso.models import Configuration, Flow
from app.kit.errors import ApiError


@dataclass(frozen=True, slots=True)
class ExternalIdentity:
    """A person's identity as a provider reports it, after its response was verified.

    `issuer` and `subject` identify the person and never change. `email_verified` is the provider's
    statement whether the address is verified, or None if it makes no statement. `groups` contains
    names or ids, as the provider sends them.
    """

    issuer: str
    subject: str
    email: str | None
    email_verified: bool | None
    name: str | None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProviderCheck:
    """The result of checking a provider. `facts` is stored next to the settings.

    `issuer` is the provider's name in its responses: OpenID Connect's issuer or SAML's entity id.
    `keys` is a JWK set if the protocol fetches keys, otherwise empty. `anchor` is a digest of the
    keys that an administrator can replace while the issuer's name stays the same: for SAML, of the
    certificates; for OpenID Connect, it is empty. An owner must confirm a new anchor by email.
    """

    issuer: str
    facts: dict[str, Any]
    keys: dict[str, Any] = field(default_factory=dict)
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class NewFlow:
    """A new flow with its secrets, which the table stores only hashed or encrypted.

    `state` is OAuth's state or SAML's RelayState. `code_verifier` is the PKCE verifier (RFC 7636).
    `flow.nonce` and `flow.request_id` (an NCName, the ID of a SAML request) are stored in plain
    text. `hint` is the email address that the person entered, or None.
    """

    flow: Flow
    state: str
    code_verifier: str
    hint: str | None = None


class Provider(Protocol):
    """A single sign-on protocol. Its methods raise `ApiError` to refuse a provider."""

    def check(self, settings: Mapping[str, Any]) -> ProviderCheck:
        """Validate the provider in `settings` by requests of the outbound HTTP client.

        The caller has no open transaction. Raises 400 `validation_error` on the invalid setting,
        such as `oidc.issuer`.
        """

    def authorize(self, configuration: Configuration, slug: str, new_flow: NewFlow) -> str:
        """Return the URL to which the browser is sent.

        Sends no request, because the facts of the last check are sufficient.
        """

    def describe(self, configuration: Configuration, slug: str) -> dict[str, Any]:
        """Return the field of the `get_sso` response that has the name of the kind.

        It contains the settings and the values to register with the provider (redirect URI, entity
        id, …), but no secrets.
        """


def build_refusal(reason: str) -> ApiError:
    """Return the 401 error for a provider's response that is not valid."""
    message = f"The identity provider's response was refused: {reason}."
    return ApiError("invalid_credentials", message)


PROVIDERS: dict[str, Provider] = {}
"""Maps each kind (oidc, saml) to its protocol. Each protocol's module adds its entry on import."""
