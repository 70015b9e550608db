"""Rendering of pages as HTML in the reader's language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flask import Response, request

from app.identity.pages.problems import Problem
from app.kit import container
from app.kit.emails.layout import load_html_template
from app.kit.emails.phrases import Phrases
from app.kit.emails.templates import get_text_direction
from app.kit.links import WebPage
from app.kit.workbench import build_page_head

_FOLDER = Path(__file__).parent
PHRASES = Phrases(_FOLDER / "words")
_TEMPLATE_PATH = _FOLDER / "page.html"
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_MAX_LANGUAGES = 20
_READ_METHODS = ("GET", "HEAD")
_PATHS_WITHOUT_WORKBENCH = (str(WebPage.UNSUBSCRIBE),)


@dataclass(frozen=True, slots=True)
class Input:
    """A form field of the HTML input type `kind`.

    `label` and `hint` are keys in the TOML table `labels` of the language files. A field without a
    `name` is read-only and is not submitted.
    """

    label: str
    kind: str
    autocomplete: str
    name: str | None = None
    hint: str | None = None
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The content of a page; its texts are keys of phrases in the language files.

    `action` is the path to which the form is sent, and `token` is the secret in a hidden field. If
    `action` is None, the page has no form. `request_lines` are the lines of an API request that the
    page shows. `link` is the URL of a record or list in the web application. `next_page` is the
    path of another page to link to; the text of that link has the path as its key in the TOML table
    `pages` of the language files.
    """

    title: str
    paragraphs: Sequence[str] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    problems: Sequence[Problem] = ()
    action: str | None = None
    token: str = ""
    inputs: Sequence[Input] = ()
    button: str = ""
    request_lines: Sequence[str] = ()
    link: str | None = None
    next_page: str | None = None


def choose_language(link_language: str) -> str:
    """Choose the link's language if it is supported, otherwise a language of the browser.

    Returns English if neither the link nor the browser names a supported language.
    """
    browser_languages = [tag for tag, _ in request.accept_languages[:_MAX_LANGUAGES]]
    return PHRASES.choose_language([link_language, *browser_languages])


def render(
    view: View, language: str, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Render a page as a response, with headers that protect the token in the page's URL.

    In a browser that runs scripts, the response to GET starts the workbench (the web application),
    which shows another page at the same URL and calls the API. The response to POST and the
    unsubscribe page never start the workbench.
    """
    settings = container.settings()
    starts_workbench = (
        request.method in _READ_METHODS and request.path not in _PATHS_WITHOUT_WORKBENCH
    )
    workbench = build_page_head() if starts_workbench else None
    html = load_html_template(_TEMPLATE_PATH).render(
        view=view,
        # Behind a proxy, all paths of this service may have a common prefix.
        base=urlsplit(settings.public_url).path,
        values=dict(view.values),
        language=language,
        direction=get_text_direction(language),
        service=settings.service_name,
        parts=lambda key: PHRASES.find(key, language),
        workbench=workbench,
    )
    response = Response(html, status, dict(headers or {}), mimetype="text/html")
    response.headers["Content-Security-Policy"] = workbench.policy if workbench else _POLICY
    response.headers["Content-Language"] = language
    # The page's URL and content may contain a token, so no cache may store the page.
    response.headers["Cache-Control"] = "no-store"
    return response
