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


@dataclass(frozen=True, slots=True)
class ProviderCheck:
    """The result of checking a provider. `settings` and `facts` are stored next to each other.

    `issuer` is the name with which the provider signs: OpenID Connect's issuer or SAML's entity id.
    `keys` is a JWK set if the protocol fetches keys, else empty. `anchor` is what responses are
    trusted for besides the issuer's name, if an administrator could change it under the same name:
    a digest of SAML's certificates. An owner must confirm a new anchor by email.
    """

    issuer: str
    facts: dict[str, Any]
    keys: dict[str, Any] = field(default_factory=dict)
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class NewFlow:
    """A new flow, with the secrets of which the table stores only hashes.

    `state` is OAuth's state or SAML's RelayState. `code_verifier` is that of RFC 7636. `flow.nonce`
    and `flow.request_id` (an NCName, the ID of a SAML request) are stored unhashed. `hint` is the
    email address that the person entered, if any.
    """

    flow: Flow
    state: str
    code_verifier: str
    hint: str | None = None


class Provider(Protocol):
    """A single sign-on protocol. Its methods raise `ApiError` to refuse something."""

    def check(self, settings: Mapping[str, Any]) -> ProviderCheck:
        """Validate the provider in `settings`, through the outbound HTTP client.

        Raises 400 `validation_error` on the member (`oidc.issuer`). No transaction is open.
        """

    def authorize(self, configuration: Configuration, slug: str, new_flow: NewFlow) -> str:
        """Return the URL to which the browser is sent.

        Sends no request: the facts of the last check are sufficient.
        """

    def describe(self, configuration: Configuration, slug: str) -> dict[str, Any]:
        """Return the member of `get_sso` that is named after the kind.

        It contains the settings and the values to register with the provider (redirect URI, entity
        id, …), but no secrets.
        """


def refuse_response(reason: str) -> ApiError:
    """Return the 401 for a provider's response that is not valid."""
    message = f"The identity provider's response was refused: {reason}."
    return ApiError("invalid_credentials", message)


PROVIDERS: dict[str, Provider] = {}
"""Protocols by kind: oidc, saml. The module of each protocol adds itself on import."""
