"""The built web application: its index page, and its Content-Security-Policy."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from flask import current_app
from markupsafe import Markup, escape

DIST = Path(__file__).parents[3] / "web" / "dist"
FOLDER = "workbench"
"""The folder of the build's files, and the path that they are served under."""

_EXTENSION = "workbench"
_HEAD_END_TAG = "</head>"
_NONCE = "NONCE"
_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic'; "
    "style-src 'self' 'nonce-{nonce}'; img-src 'self' blob:; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types default"
)


@dataclass(frozen=True, slots=True)
class Page:
    """The head tags and the Content-Security-Policy of a page that contains the application."""

    head: Markup
    policy: str


@dataclass(frozen=True, slots=True)
class Build:
    """The index page of a build: its head tags with `NONCE`s, and the HTML around these tags."""

    before: str
    after: str
    tags: str

    def open_page(self) -> Page:
        """Return the parts of one page, with a new nonce."""
        nonce = secrets.token_urlsafe(16)
        policy = _POLICY.format(nonce=nonce)
        return Page(Markup(self.tags.replace(_NONCE, nonce)), policy)  # noqa: S704 - no input in it

    def render_index(self) -> tuple[str, str]:
        """Return the index page and its policy."""
        page = self.open_page()
        return f"{self.before}{page.head}{self.after}", page.policy


class Source:
    """The folder of a build. A new build is served without a restart."""

    def __init__(self, dist: Path, base: str) -> None:
        self._index = dist / "index.html"
        self._base = base
        self._cached: tuple[int, Build] | None = None

    def find(self) -> Build | None:
        """Return the current build, or None if there is none."""
        try:
            changed_at = self._index.stat().st_mtime_ns
            if self._cached is None or self._cached[0] != changed_at:
                html = self._index.read_text(encoding="utf-8")
                self._cached = (changed_at, parse_build(html, self._base))
        except FileNotFoundError:
            return None
        return self._cached[1]


def parse_build(html: str, base: str) -> Build:
    """Parse the `index.html` of a build. `base` is the path with which all URLs begin."""
    lines = html.replace(f'"./{FOLDER}/', f'"{escape(base)}/{FOLDER}/').splitlines()
    for tag in ("<script ", '<link rel="modulepreload" '):
        lines = [line.replace(tag, f'{tag}nonce="{_NONCE}" ') for line in lines]
    app_tags = [line for line in lines if line.lstrip().startswith(("<script", '<link rel="'))]
    other_html = "\n".join(line for line in lines if line not in app_tags)
    before, _, after = other_html.partition(_HEAD_END_TAG)
    # Vite sets this nonce on the links with which it preloads parts of the application.
    nonce = f'<meta property="csp-nonce" nonce="{_NONCE}">'
    tags = [f'<meta name="base-path" content="{escape(base)}">', nonce, *app_tags]
    return Build(before, _HEAD_END_TAG + after, "\n".join(tags))


def set_source(source: Source) -> None:
    """Set the build that the current application serves."""
    current_app.extensions[_EXTENSION] = source


def find_build() -> Build | None:
    """Return the build that this application serves, or None if it is disabled or not built."""
    source: Source | None = current_app.extensions.get(_EXTENSION)
    return source.find() if source else None


def open_page() -> Page | None:
    """Return the parts with which a page starts the application, or None without a build."""
    build = find_build()
    return build.open_page() if build else None
