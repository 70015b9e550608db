"""The built web application: its first page, and the policy under which it runs."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from flask import current_app
from markupsafe import Markup, escape

DIST = Path(__file__).parents[3] / "web" / "dist"
FOLDER = "workbench"
"""The folder of the build's files, and the path that they are served under."""

_EXTENSION = "workbench"
_HEAD_ENDS = "</head>"
_NONCE = "NONCE"
_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic'; "
    "style-src 'self' 'nonce-{nonce}'; img-src 'self' blob:; font-src 'self'; connect-src {hosts}; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types default"
)


@dataclass(frozen=True, slots=True)
class Page:
    """What a page needs to start the application: tags for its head, and its policy."""

    head: Markup
    policy: str


@dataclass(frozen=True, slots=True)
class Build:
    """The first page of a build, with `NONCE` in the place of each nonce."""

    before_head_ends: str
    after: str
    tags: str
    hosts: str

    def open_page(self) -> Page:
        """Return the parts of one page, with a new nonce."""
        nonce = secrets.token_urlsafe(16)
        policy = _POLICY.format(nonce=nonce, hosts=self.hosts)
        return Page(Markup(self.tags.replace(_NONCE, nonce)), policy)  # noqa: S704 - no input in it

    def render_index(self) -> tuple[str, str]:
        """Return the first page and its policy."""
        page = self.open_page()
        return f"{self.before_head_ends}{page.head}{self.after}", page.policy


def read_build(dist: Path, base: str, hosts: str) -> Build | None:
    """Read `index.html`; without a build, return None.

    `base` is the path that all addresses begin with, and `hosts` the sources that scripts may read.
    """
    try:
        html = (dist / "index.html").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    lines = html.replace(f'"./{FOLDER}/', f'"{escape(base)}/{FOLDER}/').splitlines()
    for tag in ("<script ", '<link rel="modulepreload" '):
        lines = [line.replace(tag, f'{tag}nonce="{_NONCE}" ') for line in lines]
    own = [line for line in lines if line.lstrip().startswith(("<script", '<link rel="'))]
    rest = "\n".join(line for line in lines if line not in own)
    before, _, after = rest.partition(_HEAD_ENDS)
    # Vite gives this nonce to the links with which it loads parts of the application early.
    nonce = f'<meta property="csp-nonce" nonce="{_NONCE}">'
    tags = [f'<meta name="base-path" content="{escape(base)}">', nonce, *own]
    return Build(before, _HEAD_ENDS + after, "\n".join(tags), hosts)


def set_build(build: Build | None) -> None:
    """Store the build of the current application."""
    current_app.extensions[_EXTENSION] = build


def find_build() -> Build | None:
    """Return the build that this application serves, or None if it is off or not built."""
    build: Build | None = current_app.extensions.get(_EXTENSION)
    return build


def open_page() -> Page | None:
    """Return what a page of the service needs to start the application on it, if it is served."""
    build = find_build()
    return build.open_page() if build else None
