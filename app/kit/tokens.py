"""Access tokens: HS256 JWTs from Flask-JWT-Extended, with a bounded cache for their claims.

The cache avoids repeated signature checks of the same token. The expiry is checked every time. The
authenticator checks revocation in the database.
"""

import time
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

import jwt
from flask import Flask
from flask_jwt_extended import JWTManager, create_access_token, decode_token
from flask_jwt_extended.exceptions import JWTExtendedException

from app.kit.errors import ApiError

ISSUER = "labeling"
_CLOCK_LEEWAY = 60
"""The maximum difference in seconds between the clocks of two machines."""


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims in an access token. `expires_at` is in seconds since the epoch."""

    user_id: UUID
    session_id: UUID
    token_version: int
    token_id: str
    email: str
    expires_at: int


def init(app: Flask, secret_key: str, lifetime_hours: float) -> None:
    """Set up Flask-JWT-Extended on `app`, with tokens that are valid for `lifetime_hours`."""
    app.config.update(
        JWT_SECRET_KEY=secret_key,
        JWT_ALGORITHM="HS256",
        JWT_ACCESS_TOKEN_EXPIRES=timedelta(hours=lifetime_hours),
        JWT_ENCODE_ISSUER=ISSUER,
        JWT_DECODE_ISSUER=ISSUER,
        JWT_ENCODE_NBF=False,
        # The clock of the machine that issued a token can be ahead. `verify` compares the expiry
        # exactly.
        JWT_DECODE_LEEWAY=_CLOCK_LEEWAY,
    )
    JWTManager(app)


def issue(user_id: UUID, *, email: str, session_id: UUID, token_version: int) -> str:
    """Issue an access token for a session. The token is valid for ACCESS_TOKEN_HOURS."""
    claims = {"email": email, "tv": token_version, "sid": str(session_id)}
    token: str = create_access_token(identity=str(user_id), additional_claims=claims)
    return token


def build_expired_error() -> ApiError:
    """Return the 401 error for a token that has expired or was revoked."""
    return ApiError("token_expired", "The access token has expired or was revoked. Log in again.")


def build_invalid_error() -> ApiError:
    """Return the 401 error for an access token that is missing or invalid."""
    return ApiError("invalid_credentials", "The access token is missing or invalid.")


def parse_bearer(authorization: str | None) -> str | None:
    """Return the bearer token of an Authorization header, or None if there is none."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() if token and scheme.lower() == "bearer" else None


def verify(token: str) -> Claims:
    """Verify an access token, and return its claims.

    Raises 401 `token_expired` if the token has expired, and `invalid_credentials` if it is invalid
    for another reason.
    """
    claims = _decode_claims(token)
    if claims.expires_at <= time.time():
        raise build_expired_error()
    return claims


@lru_cache(maxsize=8192)
def _decode_claims(token: str) -> Claims:
    return _parse_claims(_decode(token))


def read_ignoring_expiry(token: str) -> Claims | None:
    """Return the claims of a token even if it has expired, or None if it is otherwise invalid.

    Such a token proves only that its holder was signed in at some time in the past.
    """
    try:
        return _parse_claims(_decode(token, allow_expired=True))
    except ApiError:
        return None


def _decode(token: str, *, allow_expired: bool = False) -> dict[str, Any]:
    try:
        claims: dict[str, Any] = decode_token(token, allow_expired=allow_expired)
    except jwt.ExpiredSignatureError:
        raise build_expired_error() from None
    except (jwt.PyJWTError, JWTExtendedException, ValueError, KeyError):
        raise build_invalid_error() from None
    return claims


def _parse_claims(claims: dict[str, Any]) -> Claims:
    if claims.get("type") != "access":
        raise build_invalid_error()
    try:
        return Claims(
            user_id=UUID(claims["sub"]),
            session_id=UUID(claims["sid"]),
            token_version=int(claims["tv"]),
            token_id=str(claims["jti"]),
            email=str(claims["email"]),
            expires_at=int(claims["exp"]),
        )
    except (KeyError, TypeError, ValueError):
        raise build_invalid_error() from None
