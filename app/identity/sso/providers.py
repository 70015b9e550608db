"""The interface between single sign-on and its protocols.

The module of each protocol implements `SignOnProtocol`: `check` validates a provider's settings and
metadata, and `build_authorization_url` builds the URL to which the browser is sent. The provider's
response is received by a separate route for each protocol. The route calls
`callbacks.complete_sign_in` with a function that converts the response to an `ExternalIdentity`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from app.identity.sso.domains import DomainDetails
from app.identity.sso.models import Configuration, Flow
from app.kit.errors import ApiError


@dataclass(frozen=True, slots=True)
class ExternalIdentity:
    """A person's identity as reported in a verified response of a provider.

    `issuer` and `subject` identify the person and never change. `email_verified` says whether the
    provider has verified the address, or is None if the provider does not say. `groups` contains
    group names or ids, as the provider sends them, or is None if the provider has omitted them.
    """

    issuer: str
    subject: str
    email: str | None
    email_verified: bool | None
    name: str | None
    groups: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True)
class ProviderCheck:
    """The result of checking a provider.

    `issuer` is the provider's name in its responses: OpenID Connect's issuer or SAML's entity id.
    `provider_data` contains the values from the provider's metadata that sign-ins need, such as
    endpoints; it is stored in the configuration. `keys` is a JWK set if the protocol fetches keys,
    otherwise empty. `anchor` is a digest of the SAML provider's certificates; it is empty for
    OpenID Connect. If the anchor changes although the issuer is the same, the certificates have
    been replaced, and owners must confirm their identity by email again.
    """

    issuer: str
    provider_data: dict[str, Any]
    keys: dict[str, Any] = field(default_factory=dict)
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class NewFlow:
    """A new sign-in flow with its secrets; the database stores them only hashed or encrypted.

    `state` is OAuth's state or SAML's RelayState. `code_verifier` is the PKCE verifier (RFC 7636).
    `hint` is the email address that the person entered, or None.
    """

    flow: Flow
    state: str
    code_verifier: str
    hint: str | None = None


class ConfigurationDetails(NamedTuple):
    """A configuration without secrets; only its protocol's field, `oidc` or `saml`, is set."""

    id: UUID
    kind: str
    enabled: bool
    enforced: bool
    default_role: str
    require_group: bool
    group_mapping: list[dict[str, Any]]
    created_at: datetime
    updated_at: datetime
    revision: int
    email_domains: list[str]
    domains: list[DomainDetails]
    oidc: dict[str, Any] | None
    saml: dict[str, Any] | None


class StartedSignIn(NamedTuple):
    """A started sign-in: the provider's sign-in URL, the protocol, and the lifetime in seconds."""

    redirect_url: str
    kind: str
    expires_in: int


class SignOnProtocol(Protocol):
    """The interface of the modules `oidc` and `saml_provider`.

    The functions raise `ApiError` if the provider's settings or metadata are invalid.
    """

    def check(self, settings: Mapping[str, Any]) -> ProviderCheck:
        """Validate the provider in `settings`, usually by requests to the provider.

        The caller must have no open transaction. Raises 400 `validation_error` on the invalid
        setting, such as `oidc.issuer`, and 503 if too many requests are waiting.
        """

    def build_authorization_url(
        self, configuration: Configuration, slug: str, new_flow: NewFlow
    ) -> str:
        """Build the URL to which the browser is sent for the sign-in.

        Sends no request to the provider, because the data from the last check is sufficient.
        """

    def describe(self, configuration: Configuration, slug: str) -> dict[str, Any]:
        """Return the value of the field `oidc` or `saml` in the configuration's API response.

        The value contains the settings, and the values to register with the provider (such as the
        redirect URI or the entity id), but no secrets.
        """


def build_invalid_response_error(reason: str) -> ApiError:
    """Build the 401 error for a provider's response that was refused because of `reason`."""
    message = f"The identity provider's response was refused: {reason}."
    return ApiError("invalid_credentials", message)
