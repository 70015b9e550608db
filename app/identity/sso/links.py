"""This service's URLs for providers, and the applications' URLs to return to after a sign-in."""

from urllib.parse import urlencode, urlsplit, urlunsplit

from app.identity.sso.models import Flow
from app.kit import container, errors

API_PREFIX = "/api/v1"
OIDC_CALLBACK = "/auth/sso/oidc/callback"


def build_api_url(path: str) -> str:
    """Build the public URL for a path of this API."""
    return f"{container.settings().public_url}{API_PREFIX}{path}"


def build_oidc_redirect_uri(slug: str) -> str:
    """Build the URL to which an organization's OpenID Connect provider redirects browsers.

    The URL is different for each organization, so that a response of one provider cannot complete a
    sign-in with another provider (RFC 9700, section 4.4.2.2).
    """
    return f"{build_api_url(OIDC_CALLBACK)}?org={slug}"


def check_redirect_uri(uri: str | None) -> None:
    """Raise 400 for `redirect_uri` unless it is None or the URL of an allowed application."""
    if uri is None:
        return
    settings = container.settings()
    # The origin `*` allows no application, because a code must not be sent to an arbitrary site.
    allowed_origins = {*settings.cors_origins, _get_origin(settings.public_url)} - {"*"}
    try:
        parts = urlsplit(uri)
        is_allowed = _get_origin(uri) in allowed_origins
    except ValueError:
        is_allowed = False
    has_safe_characters = uri.isascii() and uri.isprintable() and " " not in uri and "\\" not in uri
    if not is_allowed or not has_safe_characters or parts.username is not None or parts.fragment:
        raise errors.invalid(
            "Must be a URL with the origin of PUBLIC_URL or an origin in CORS_ORIGINS.",
            "redirect_uri",
        )


def _get_origin(uri: str) -> str:
    parts = urlsplit(uri)
    default_port = {"https": 443, "http": 80}.get(parts.scheme)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, default_port) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}".lower()


def build_return_url(flow: Flow, **parameters: str) -> str | None:
    """Build the flow's redirect URI with `parameters` and the flow's `next` value in its query.

    Returns None if the flow has no redirect URI.
    """
    if flow.redirect_uri is None:
        return None
    if flow.next is not None:
        parameters["next"] = flow.next
    parts = urlsplit(flow.redirect_uri)
    query = "&".join(filter(None, (parts.query, urlencode(parameters))))
    return urlunsplit(parts._replace(query=query))
