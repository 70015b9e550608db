"""The port between single sign-on and its protocols. Each protocol registers what it can do.

A protocol has three parts. `check` looks at a provider when it is configured, `authorize` sends a
browser there, both behind this port. The third, reading the answer, is a route of the protocol's
own; it calls `arrivals.arrive` with a function that makes an `ExternalIdentity` of the answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.identity.sso.models import Configuration, Flow


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a check. `settings` are kept as sent by the administrator, `facts` beside them.

    `issuer` is the provider's name, by which it signs: OpenID Connect's issuer, SAML's entity id.
    `keys` is a JWK set where the protocol fetches keys, else empty. `anchor` is what an answer is
    trusted for beyond the issuer's name, where an administrator could change it under the same
    name: SAML's certificates (a digest of them). An owner has to confirm a new one by mail.
    """

    issuer: str
    facts: dict[str, Any]
    keys: dict[str, Any] = field(default_factory=dict)
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Begun:
    """A flow that was begun, with the secrets of which the row keeps only hashes.

    `state` is OAuth's state and SAML's RelayState. `code_verifier` is RFC 7636's; `flow.nonce` and
    `flow.request_id` (an NCName, for the ID of a SAML request) are kept as they are. `hint` is the
    address that the person gave, if they did.
    """

    flow: Flow
    state: str
    code_verifier: str
    hint: str | None = None


class Provider(Protocol):
    """A protocol. Where it must refuse, it raises `ApiError`."""

    def check(self, settings: Mapping[str, Any]) -> Checked:
        """Look at the provider that `settings` name, through the egress door.

        Raises 400 `validation_error` on the member (`oidc.issuer`). No transaction is open.
        """

    def authorize(self, configuration: Configuration, slug: str, begun: Begun) -> str:
        """Where to send the browser. Asks nobody: the facts of the check are enough."""

    def describe(self, configuration: Configuration, slug: str) -> dict[str, Any]:
        """The member of get_sso that is named after the kind: settings and what to tell the
        provider (redirect URI, entity id …), without secrets."""


PROVIDERS: dict[str, Provider] = {}
"""By kind: oidc, saml. A protocol's routes module fills it in on import."""
