"""Links to web pages in emails and notifications. Only this module defines the paths.

`app.identity.pages` serves these pages. If FRONTEND_URL is set, the links lead to another
application, which serves the same paths (docs/integrators/front-end.md).
"""

from enum import StrEnum
from urllib.parse import urlencode

from app.kit import container

_API_PREFIX = "/api/v1"


class WebPage(StrEnum):
    """Web pages that emails or other pages link to. The value is the path."""

    RESET_PASSWORD = "/reset-password"  # noqa: S105 - a path
    CONFIRM_EMAIL = "/confirm-email"
    ACCEPT_INVITATION = "/accept-invitation"
    CONFIRM_SIGN_ON = "/confirm-sign-on"
    OPEN = "/open"
    FORGOT_PASSWORD = "/forgot-password"  # noqa: S105 - a path
    UNSUBSCRIBE = "/unsubscribe"


def build_token_link(page: WebPage, *, token: str, language: str) -> str:
    """Return the path and query of an emailed link to a page, with the token in the query.

    `language` is the reader's locale. The page is shown in the closest available language.
    """
    return f"{page}?{urlencode({'token': token, 'lang': language})}"


def build_open_link(api_path: str, *, org_slug: str, language: str) -> str:
    """Return the path and query of the page that explains how to reach `api_path`.

    Notifications store `api_path`. It begins with `/api/v1/` and may have a query. In the link, the
    organization's slug replaces `/api/v1`.
    """
    resource, _, query = api_path.removeprefix(_API_PREFIX).partition("?")
    parameters = "&".join(filter(None, (query, urlencode({"lang": language}))))
    return f"{WebPage.OPEN}/{org_slug}{resource}?{parameters}"


def build_unsubscribe_url(*, token: str, language: str) -> str:
    """Return the URL of the page on which a user unsubscribes from certain emails.

    The URL always leads to this service, because mail programs send a request to it without showing
    a page (RFC 8058).
    """
    link = build_token_link(WebPage.UNSUBSCRIBE, token=token, language=language)
    return f"{container.settings().public_url}{link}"


def build_absolute_url(link: str) -> str:
    """Return the absolute URL for a path from `build_token_link` or `build_open_link`."""
    return f"{container.settings().pages_url}{link}"
