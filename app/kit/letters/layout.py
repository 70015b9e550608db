"""Rendering of an email's template and values into a subject, a text and the same as HTML."""

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from app.kit.letters.wording import Part, Wording, candidates, direction, phrase

_FOLDER = Path(__file__).parent / "base"
_SUBJECT_LENGTH = 250
_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_PATH = re.compile(r"/?[A-Za-z0-9][A-Za-z0-9/_.-]*(\?[^\s<>\"]*)?")

Values = Mapping[str, str | int | None]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered email; `language` is the language of the template that was used."""

    subject: str
    text: str
    html: str
    language: str


@cache
def _template() -> Template:
    # Flask's environment needs an application; emails are rendered without one, too.
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("base.html")


@cache
def surroundings() -> dict[str, dict[str, str]]:
    """Return the texts that surround every email, by language tag in lower case."""
    return {
        path.stem.lower(): tomllib.loads(path.read_text(encoding="utf-8"))["layout"]
        for path in sorted(_FOLDER.glob("*.toml"))
    }


def _words(language: str) -> dict[str, str]:
    found = surroundings()
    return next(found[tag] for tag in candidates(language) if tag in found)


def _harmless(value: object) -> str:
    """Return a value without control characters and bidirectional formatting characters."""
    kept = (
        c
        for c in str(value).replace("\r\n", "\n")
        if c == "\n" or (unicodedata.category(c) != "Cc" and not _turns(c))
    )
    return "".join(kept)


def _turns(character: str) -> bool:
    return unicodedata.bidirectional(character) in {
        *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    }


def _filled(parts: Sequence[Part], values: Mapping[str, str]) -> list[Part]:
    return [Part(values[p.text], value=True) if p.value else p for p in parts]


def _plain(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts)


def plain(wording: Wording, values: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return the subject, on one line, and the paragraphs, with `values` inserted.

    Raises KeyError if a value is missing.
    """
    given = {name: _harmless(value) for name, value in values.items()}
    subject = " ".join(_plain(_filled(wording.subject, given)).split())[:_SUBJECT_LENGTH]
    return subject, [_plain(_filled(parts, given)) for parts in wording.paragraphs]


def render(
    wording: Wording, values: Values, *, public_url: str, service: str, pages_url: str | None = None
) -> Rendered:
    """Render an email by inserting `values` into its template.

    Values are looked up by name. `link` is a URL, a path under `pages_url` (default: `public_url`),
    or None if there is no page to open. `token` is shown below the button unless the text contains
    it. `service` is the name in the sender's address. Raises KeyError if a value is missing.
    """
    given = {name: "" if v is None else _harmless(v) for name, v in values.items()}
    given["link"] = _link(given.get("link", ""), pages_url or public_url)
    link = given["link"] if wording.action else ""
    token = "" if "token" in wording.names else given.get("token", "")
    words = _words(wording.language)
    subject = " ".join(_plain(_filled(wording.subject, given)).split())[:_SUBJECT_LENGTH]
    paragraphs = [_filled(parts, given) for parts in wording.paragraphs]
    footer = _filled(phrase(words["footer"]), {"service": service, "address": public_url})
    blocks = [_plain(paragraph) for paragraph in paragraphs]
    if link:
        blocks.append(f"{wording.action}:\n{link}")
    if token:
        blocks.append(f"{words['token']}\n{token}")
    blocks.append(f"-- \n{_plain(footer)}")
    members: dict[str, Any] = {
        "language": wording.language,
        "direction": direction(wording.language),
        "subject": subject,
        "paragraphs": paragraphs,
        "action": wording.action,
        "link": link,
        "token": token,
        "words": words,
        "footer": footer,
    }
    html = _template().render(members)
    return Rendered(subject, "\n\n".join(blocks) + "\n", html, wording.language)


def _link(link: str, pages_url: str) -> str:
    """Return an absolute http(s) URL, or an empty string for any other kind of link."""
    if _PATH.fullmatch(link):
        return f"{pages_url}/{link.removeprefix('/')}"
    return link if _ADDRESS.fullmatch(link) else ""
