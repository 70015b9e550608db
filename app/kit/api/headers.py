"""Headers for every response, whether the application or the server itself sends it."""

import re
from uuid import uuid4

from app.kit.settings import Settings

_VALID_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-site",
}
DEFAULTS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""Default values of headers that a response may override."""

EXPOSED_HEADERS = [
    *("ETag", "X-Request-ID", "Idempotency-Replayed", "WWW-Authenticate", "Allow"),
    *("Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"),
    *("Content-Disposition", "Content-Range", "Accept-Ranges"),
]
"""Headers that pages from other origins may read (CORS)."""


def build_security_headers(settings: Settings) -> dict[str, str]:
    """Return the security headers of every response, with HSTS only if PUBLIC_URL is https."""
    if settings.public_url.startswith("https://"):
        return {
            **_SECURITY_HEADERS,
            "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
        }
    return dict(_SECURITY_HEADERS)


def build_cors_headers(settings: Settings, origin: str) -> dict[str, str]:
    """Return the CORS headers for a response that the server itself sends.

    Returns no headers if the settings do not allow `origin`.
    """
    if origin not in settings.cors_origins and "*" not in settings.cors_origins:
        return {}
    allowed_origin = "*" if "*" in settings.cors_origins else origin
    exposed_headers = ", ".join(EXPOSED_HEADERS)
    return {
        "Access-Control-Allow-Origin": allowed_origin,
        "Access-Control-Expose-Headers": exposed_headers,
        "Vary": "Origin",
    }


def choose_request_id(client_id: str) -> str:
    """Return the request id that the client sent if it is well-formed, else a new one."""
    return client_id if _VALID_REQUEST_ID.fullmatch(client_id) else uuid4().hex
