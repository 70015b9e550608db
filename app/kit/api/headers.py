"""The headers that every response carries, whether the application or the server answers."""

import re
from uuid import uuid4

from app.kit.settings import Settings

_VALID_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-site",
}
DEFAULTS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""Headers for a response that does not set them itself."""

EXPOSED = ["ETag", "X-Request-ID", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining"]
"""Headers that pages of other origins may read."""


def security_headers(settings: Settings) -> dict[str, str]:
    """Return the headers that every response has, and that none sets itself."""
    if settings.public_url.startswith("https://"):
        return {**_ALWAYS, "Strict-Transport-Security": "max-age=31536000; includeSubDomains"}
    return dict(_ALWAYS)


def cors_headers(settings: Settings, origin: str) -> dict[str, str]:
    """Return what lets a page of `origin` read a response that the application did not make."""
    if origin not in settings.cors_origins and "*" not in settings.cors_origins:
        return {}
    allowed = "*" if "*" in settings.cors_origins else origin
    exposed = ", ".join(EXPOSED)
    return {
        "Access-Control-Allow-Origin": allowed,
        "Access-Control-Expose-Headers": exposed,
        "Vary": "Origin",
    }


def request_id(given: str) -> str:
    """Return the client's id of the request when it is well-formed, else a new one."""
    return given if _VALID_REQUEST_ID.fullmatch(given) else uuid4().hex
