"""Conversion of OpenID Connect claims to an identity (Core 1.0, section 5)."""

from typing import Any

from app.identity.sso.models import Configuration
from app.identity.sso.providers import ExternalIdentity

_MAX_TEXT_LENGTH = 300


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
    """Return the groups, or None if the claims only refer to them (Core 1.0, section 5.6.2)."""
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
