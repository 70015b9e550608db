"""The built web application: its index page and its Content-Security-Policy."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from flask import current_app
from markupsafe import Markup, escape

DIST = Path(__file__).parents[3] / "web" / "dist"
FOLDER = "workbench"
"""The folder that contains the files of the build, and the URL path of these files."""

EXTENSION = "workbench"
_HEAD_END_TAG = "</head>"
_NONCE = "NONCE"
_POLICY = (
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
    """The index page of a build, split into head tags and the HTML before and after them.

    `tags` contains the placeholder `NONCE` for the nonce of each response.
    """

    before: str
    after: str
    tags: str

    def build_page_head(self) -> PageHead:
        """Return the head tags and policy for one response, with a new nonce."""
        nonce = secrets.token_urlsafe(16)
        policy = _POLICY.format(nonce=nonce)
        return PageHead(Markup(self.tags.replace(_NONCE, nonce)), policy)  # noqa: S704 - no user input

    def render_index(self) -> tuple[str, str]:
        """Render the index page with a new nonce. Return its HTML and Content-Security-Policy."""
        page = self.build_page_head()
        return f"{self.before}{page.head}{self.after}", page.policy


class BuildFolder:
    """The folder that contains the build. A new build is served without a restart."""

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
    """Parse the `index.html` of a build. `base` is the path prefix of all URLs."""
    lines = html.replace(f'"./{FOLDER}/', f'"{escape(base)}/{FOLDER}/').splitlines()
    for tag in ("<script ", '<link rel="modulepreload" '):
        lines = [line.replace(tag, f'{tag}nonce="{_NONCE}" ') for line in lines]
    app_tags = [line for line in lines if line.lstrip().startswith(("<script", '<link rel="'))]
    other_html = "\n".join(line for line in lines if line not in app_tags)
    before, _, after = other_html.partition(_HEAD_END_TAG)
    # Vite sets this nonce on the links that preload parts of the application.
    nonce = f'<meta property="csp-nonce" nonce="{_NONCE}">'
    tags = [f'<meta name="base-path" content="{escape(base)}">', nonce, *app_tags]
    return Build(before, _HEAD_END_TAG + after, "\n".join(tags))


def find_build() -> Build | None:
    """Return the build that this Flask application serves.

    Returns None if the workbench is disabled or has not been built.
    """
    folder: BuildFolder | None = current_app.extensions.get(EXTENSION)
    return folder.find() if folder else None


def build_page_head() -> PageHead | None:
    """Return the head tags and policy that a page needs to start the web application.

    Returns None if there is no build.
    """
    build = find_build()
    return build.build_page_head() if build else None
