"""The cookie that binds a sign-in to the browser in which it began.

Only routes and pages may use this module, because it needs a request.
"""

from flask import request
from werkzeug.http import dump_cookie

from app.kit import container


def _is_secure() -> bool:
    return container.settings().public_url.startswith("https://")


def _get_cookie_name() -> str:
    # With this prefix, browsers reject a cookie set by another host or over plain HTTP
    # (RFC 6265bis).
    return "__Host-sso" if _is_secure() else "sso"


def read() -> str | None:
    """Return the browser's secret from the request's cookie, or None if there is no cookie."""
    return request.cookies.get(_get_cookie_name())


def build_header(secret: str, protocol: str) -> dict[str, str]:
    """Build the response header that sets the cookie; `protocol` is `oidc` or `saml`.

    A SAML response is posted from the provider's site. Browsers send a cookie with such a request
    only if the cookie is marked `SameSite=None`, which requires TLS.
    """
    same_site = "None" if protocol == "saml" and _is_secure() else "Lax"
    cookie = dump_cookie(
        _get_cookie_name(),
        secret,
        max_age=3600,
        path="/",
        secure=_is_secure(),
        httponly=True,
        samesite=same_site,
    )
    return {"Set-Cookie": cookie}
