"""The cookie that binds a sign-in to the browser it was begun in. For routes only."""

from flask import request
from werkzeug.http import dump_cookie

from app.kit import container


def _secure() -> bool:
    return container.settings().public_url.startswith("https://")


def _name() -> str:
    # The prefix makes browsers refuse one that another host or plain HTTP set (RFC 6265bis).
    return "__Host-sso" if _secure() else "sso"


def read() -> str | None:
    """The browser's secret, if it has one."""
    return request.cookies.get(_name())


def header(secret: str, kind: str) -> dict[str, str]:
    """The header that gives a browser its secret, for the time of a sign-in.

    SAML's answer is posted from the provider's site, and a browser sends a cookie along with that
    only when it is marked `None`, which takes TLS.
    """
    same_site = "None" if kind == "saml" and _secure() else "Lax"
    cookie = dump_cookie(
        _name(),
        secret,
        max_age=3600,
        path="/",
        secure=_secure(),
        httponly=True,
        samesite=same_site,
    )
    return {"Set-Cookie": cookie}
