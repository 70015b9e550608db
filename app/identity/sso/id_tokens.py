"""Verification of ID tokens, and conversion of their claims to an identity.

Implements sections 3.1.3.7 and 5 of OpenID Connect Core 1.0. The library joserfc verifies the
signatures, and the library Authlib checks the claims.
"""

import time
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jws, jwt
from joserfc.errors import JoseError

from app.identity.sso import keys
from app.identity.sso.models import Configuration, Flow
from app.identity.sso.providers import ExternalIdentity

LEEWAY_SECONDS = 60
"""The tolerated difference in seconds between the clocks of the provider and this service."""
_MAX_TOKEN_AGE_SECONDS = 600
_MAX_SUBJECT_LENGTH = 255
_MAX_TEXT_LENGTH = 300


class InvalidToken(Exception):  # noqa: N818 - names what happened
    """Raised if the provider's tokens are invalid, or if it rejected the authorization code.

    The message gives the reason. It is logged and shown to the person who signs in.
    """


def verify(
    token: object, configuration: Configuration, flow: Flow, *, access_token: str | None
) -> dict[str, Any]:
    """Verify that the provider issued an ID token for this sign-in, and return the claims.

    Commits, so that no transaction is open while the provider's keys are fetched. Raises
    `InvalidToken`, and `fetching.UnusableResponse` if the provider's keys are not available.
    """
    if not isinstance(token, str):
        raise InvalidToken("the provider returned no ID token")
    algorithm, kid = _parse_header(token, configuration)
    decoded = _decode(token, algorithm, keys.get_signing_keys(configuration, algorithm, kid))
    _check_claims(decoded, configuration, flow, access_token)
    claims: dict[str, Any] = dict(decoded.claims)
    return claims


def _parse_header(token: str, configuration: Configuration) -> tuple[str, str | None]:
    try:
        header = jws.extract_compact(token.encode("ascii")).headers()
    except (JoseError, ValueError, TypeError, RecursionError):
        raise InvalidToken("the ID token is not a signed token") from None
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in configuration.provider["algorithms"]:
        raise InvalidToken("the ID token's signature algorithm was not announced by the provider")
    if kid is not None and not isinstance(kid, str):
        raise InvalidToken("the ID token has an invalid key id")
    return algorithm, kid


def _decode(token: str, algorithm: str, signing_keys: list[Any]) -> jwt.Token:
    for key in signing_keys:
        try:
            return jwt.decode(token, key, algorithms=[algorithm])
        except (JoseError, ValueError, TypeError, RecursionError):
            continue
    raise InvalidToken("the ID token is not signed with a key of the provider")


def _check_claims(
    decoded: jwt.Token, configuration: Configuration, flow: Flow, access_token: str | None
) -> None:
    client_id = configuration.settings["client_id"]
    claims = CodeIDToken(
        decoded.claims,
        decoded.header,
        options={
            "iss": {"essential": True, "value": flow.issuer},
            "aud": {"essential": True, "value": client_id},
        },
        params={"nonce": flow.nonce, "client_id": client_id, "access_token": access_token},
    )
    now = int(time.time())
    try:
        for name in ("exp", "iat", "nbf"):
            value = decoded.claims.get(name, now)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InvalidToken(f"the ID token's {name} is not a time")
        claims.validate(now=now, leeway=LEEWAY_SECONDS)
    except (JoseError, ValueError, TypeError, OverflowError) as failure:
        raise InvalidToken(f"the ID token is not for this sign-in: {failure}") from None
    # The token must have been issued for this sign-in. An older token belongs to another sign-in,
    # even if it has not expired.
    if decoded.claims["iat"] < now - _MAX_TOKEN_AGE_SECONDS:
        raise InvalidToken("the ID token was issued too long ago")
    subject = decoded.claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= _MAX_SUBJECT_LENGTH:
        raise InvalidToken("the ID token has no valid subject")


def build_identity(configuration: Configuration, claims: dict[str, Any]) -> ExternalIdentity:
    """Build the identity from the verified claims of an ID token and the userinfo endpoint.

    Values that are not valid are left out.
    """
    return ExternalIdentity(
        issuer=claims["iss"],
        subject=_read_text(claims["sub"]) or "",
        email=_read_text(claims.get("email")),
        email_verified=_parse_email_verified(claims.get("email_verified")),
        name=_read_text(claims.get("name")),
        groups=_read_groups(configuration, claims),
    )


def _parse_email_verified(claim: object) -> bool | None:
    """Parse the claim `email_verified`; return None if its value is not reliable.

    The claim is a boolean (Core 1.0, section 5.1). The string "true" is not accepted, because some
    providers send it even for addresses that they have not verified.
    """
    if isinstance(claim, bool):
        return claim
    return False if isinstance(claim, str) and claim.lower() == "false" else None


def _read_groups(configuration: Configuration, claims: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the person's groups, or None if the claims only refer to them (Core 1.0, 5.6.2)."""
    name = configuration.settings["groups_claim"]
    references = claims.get("_claim_names")
    if name not in claims and isinstance(references, dict) and name in references:
        return None
    groups = claims.get(name)
    groups = groups if isinstance(groups, list) else [groups]
    return tuple(group for group in groups if _read_text(group))


def _read_text(value: object) -> str | None:
    """Return the value if it is a short string that PostgreSQL can store, otherwise None."""
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_TEXT_LENGTH or "\x00" in value:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value
