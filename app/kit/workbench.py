"""Routes that serve the built web application (docs/decisions/0073). They are not API operations.

All pages return the same HTML, because the application evaluates the path in the browser. An
unknown path still returns 404.
"""

import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, current_app, g, request, send_from_directory
from markupsafe import Markup, escape
from werkzeug.exceptions import NotFound

from app.kit.errors import ApiError
from app.kit.settings import Settings

PAGE_PATHS = ("/", "/sign-in", "/sign-on", "/organizations", "/o/<slug>/", "/o/<slug>/<path:page>")
"""The paths of all pages, except pages that emails link to (`app.identity.pages`)."""

_SUFFIXES = {"br": ".br", "gzip": ".gz"}
_IMMUTABLE = "public, max-age=31536000, immutable"
_ONE_DAY = "public, max-age=86400"
DIST = Path(__file__).parents[2] / "web" / "dist"
FOLDER = "workbench"
"""The folder that contains the files of the build, and the URL path of these files."""
_EXTENSION_KEY = "workbench"
_HEAD_END_TAG = "</head>"
_NONCE_PLACEHOLDER = "NONCE"
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic'; "
    "style-src 'self' 'nonce-{nonce}'; img-src 'self' blob:; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types default"
)


@dataclass(frozen=True, slots=True)
class PageHead:
    """The head tags and Content-Security-Policy for a page that contains the web application."""

    head: Markup
    policy: str


@dataclass(frozen=True, slots=True)
class Build:
    """The index page of the built web application: head tags, and the HTML before and after them.

    `tags` contains the placeholder `NONCE` for the nonce of each response.
    """

    html_before: str
    html_after: str
    tags: str

    def build_page_head(self) -> PageHead:
        """Return the head tags and policy for one response, with a new nonce."""
        nonce = secrets.token_urlsafe(16)
        policy = _CONTENT_SECURITY_POLICY.format(nonce=nonce)
        return PageHead(Markup(self.tags.replace(_NONCE_PLACEHOLDER, nonce)), policy)  # noqa: S704 - no user input

    def render_index(self) -> tuple[str, str]:
        """Render the index page with a new nonce. Return its HTML and Content-Security-Policy."""
        page = self.build_page_head()
        return f"{self.html_before}{page.head}{self.html_after}", page.policy


class BuildFolder:
    """The folder of the built web application. A new build is served without a restart."""

    def __init__(self, dist: Path, base: str) -> None:
        self._index = dist / "index.html"
        self._base = base
        self._cached: tuple[int, Build] | None = None

    def find(self) -> Build | None:
        """Return the current build, or None if the folder contains no build."""
        try:
            changed_at = self._index.stat().st_mtime_ns
            if self._cached is None or self._cached[0] != changed_at:
                html = self._index.read_text(encoding="utf-8")
                self._cached = (changed_at, parse_build(html, self._base))
        except FileNotFoundError:
            return None
        return self._cached[1]


def parse_build(html: str, base: str) -> Build:
    """Parse the `index.html` of the web application. `base` is the path prefix of all URLs."""
    lines = html.replace(f'"./{FOLDER}/', f'"{escape(base)}/{FOLDER}/').splitlines()
    for tag in ("<script ", '<link rel="modulepreload" '):
        lines = [line.replace(tag, f'{tag}nonce="{_NONCE_PLACEHOLDER}" ') for line in lines]
    app_tags = [line for line in lines if line.lstrip().startswith(("<script", '<link rel="'))]
    other_html = "\n".join(line for line in lines if line not in app_tags)
    before, _, after = other_html.partition(_HEAD_END_TAG)
    # Vite sets this nonce on the links that preload parts of the application.
    nonce = f'<meta property="csp-nonce" nonce="{_NONCE_PLACEHOLDER}">'
    tags = [f'<meta name="base-path" content="{escape(base)}">', nonce, *app_tags]
    return Build(before, _HEAD_END_TAG + after, "\n".join(tags))


def find_build() -> Build | None:
    """Return the web application to serve, or None if WORKBENCH is off or it is not built."""
    folder: BuildFolder | None = current_app.extensions.get(_EXTENSION_KEY)
    return folder.find() if folder else None


def build_page_head() -> PageHead | None:
    """Return the head tags and policy of a page that contains the web application.

    Returns None if WORKBENCH is off or the application is not built.
    """
    build = find_build()
    return build.build_page_head() if build else None


def init(app: Flask, settings: Settings, dist: Path = DIST) -> None:
    """Register routes that serve the build in `dist`, unless the setting WORKBENCH is off."""
    if not settings.workbench:
        return
    base = urlsplit(settings.public_url).path.rstrip("/")
    app.extensions[_EXTENSION_KEY] = BuildFolder(dist, base)
    pages = Blueprint("workbench", __name__)
    for path in PAGE_PATHS:
        pages.add_url_rule(path, "page", show_page, methods=["GET"])
    pages.add_url_rule(
        f"/{FOLDER}/<path:name>", "file", lambda name: send_file(dist, name), methods=["GET"]
    )
    app.register_blueprint(pages)


def show_page(**_: str) -> Response:
    """Return the HTML of the web application.

    If the application has not been built, raises a 404 error that explains how to build it.
    """
    g.operation = "show_workbench"
    current_build = find_build()
    if current_build is None:
        raise ApiError(
            "not_found",
            "The workbench has not been built. `make run` builds it; the API works without it.",
        )
    html, policy = current_build.render_index()
    response = Response(html, mimetype="text/html")
    response.headers["Content-Security-Policy"] = policy
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    return response


def send_file(dist: Path, name: str) -> Response:
    """Return the response with a file from the build, compressed if the client accepts it."""
    g.operation = "get_workbench_file"
    folder = dist / FOLDER
    accepted_codings = [coding for coding in _SUFFIXES if request.accept_encodings.quality(coding)]
    for coding in accepted_codings:
        try:
            response = send_from_directory(folder, name + _SUFFIXES[coding])
        except NotFound:
            continue
        response.headers["Content-Encoding"] = coding
        break
    else:
        response = send_from_directory(folder, name)
    response.headers.pop("Content-Disposition", None)
    response.mimetype = _MEDIA_TYPES.get(Path(name).suffix, "application/octet-stream")
    response.headers["Cache-Control"] = _IMMUTABLE if "-" in name else _ONE_DAY
    response.headers["Vary"] = "Accept-Encoding"
    return response


_MEDIA_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
    ".png": "image/png",
    ".json": "application/json",
}
