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

from app.kit.emails.templates import (
    Part,
    TextTemplate,
    fallback_languages,
    parse_phrase,
    text_direction,
)

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
def _load_page() -> Template:
    # Flask's environment needs an application; emails are rendered without one, too.
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("base.html")


@cache
def load_layout_texts() -> dict[str, dict[str, str]]:
    """Return the texts that surround every email, by language tag in lower case."""
    return {
        path.stem.lower(): tomllib.loads(path.read_text(encoding="utf-8"))["layout"]
        for path in sorted(_FOLDER.glob("*.toml"))
    }


def _find_layout_texts(language: str) -> dict[str, str]:
    texts = load_layout_texts()
    return next(texts[tag] for tag in fallback_languages(language) if tag in texts)


def _remove_control_characters(value: object) -> str:
    """Return a value without control characters and bidirectional formatting characters."""
    return "".join(
        c
        for c in str(value).replace("\r\n", "\n")
        if c == "\n" or (unicodedata.category(c) != "Cc" and not _is_bidi_control(c))
    )


def _is_bidi_control(character: str) -> bool:
    return unicodedata.bidirectional(character) in {
        *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    }


def _insert_values(parts: Sequence[Part], values: Mapping[str, str]) -> list[Part]:
    return [Part(values[p.text], value=True) if p.value else p for p in parts]


def _join_parts(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts)


def _render_subject(template: TextTemplate, texts: Mapping[str, str]) -> str:
    """Return the subject on one line, cut to `_SUBJECT_LENGTH` characters."""
    return " ".join(_join_parts(_insert_values(template.subject, texts)).split())[:_SUBJECT_LENGTH]


def render_text(template: TextTemplate, values: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return the subject, on one line, and the paragraphs, with `values` inserted.

    Raises KeyError if a value is missing.
    """
    texts = {name: _remove_control_characters(value) for name, value in values.items()}
    subject = _render_subject(template, texts)
    return subject, [_join_parts(_insert_values(parts, texts)) for parts in template.paragraphs]


def render(
    template: TextTemplate,
    values: Values,
    *,
    public_url: str,
    service: str,
    pages_url: str | None = None,
) -> Rendered:
    """Render an email by inserting `values` into its template.

    `link` is a URL, a path under `pages_url` (default: `public_url`), or None. `token` is shown
    below the button unless the text contains it. `unsubscribe` is a URL that is shown at the end.
    `service` is the name in the sender's address. Raises KeyError if a value is missing.
    """
    texts = {name: "" if v is None else _remove_control_characters(v) for name, v in values.items()}
    texts["link"] = page = _build_link(texts.get("link", ""), pages_url or public_url)
    link = page if template.action else ""
    token = "" if "token" in template.names else texts.get("token", "")
    unsubscribe = _build_link(texts.get("unsubscribe", ""), public_url)
    words = _find_layout_texts(template.language)
    subject = _render_subject(template, texts)
    paragraphs = [_insert_values(parts, texts) for parts in template.paragraphs]
    footer = _insert_footer(words["footer"], service, public_url)
    members: dict[str, Any] = {
        "language": template.language,
        "direction": text_direction(template.language),
        "subject": subject,
        "paragraphs": paragraphs,
        "action": template.action,
        "link": link,
        "token": token,
        "unsubscribe": unsubscribe,
        "words": words,
        "footer": footer,
    }
    html = _load_page().render(members)
    return Rendered(subject, _render_plain(members), html, template.language)


def _render_plain(members: Mapping[str, Any]) -> str:
    """Return the text of an email; `members` are those of the HTML page."""
    words = members["words"]
    labeled = (
        (f"{members['action']}:", members["link"]),
        (words["token"], members["token"]),
        (f"{words['unsubscribe']}:", members["unsubscribe"]),
    )
    blocks = [
        *map(_join_parts, members["paragraphs"]),
        *(f"{label}\n{text}" for label, text in labeled if text),
        f"-- \n{_join_parts(members['footer'])}\n",
    ]
    return "\n\n".join(blocks)


def _insert_footer(footer: str, service: str, address: str) -> list[Part]:
    return _insert_values(parse_phrase(footer), {"service": service, "address": address})


def _build_link(link: str, pages_url: str) -> str:
    """Return an absolute http(s) URL, or an empty string for any other kind of link."""
    if _PATH.fullmatch(link):
        return f"{pages_url}/{link.removeprefix('/')}"
    return link if _ADDRESS.fullmatch(link) else ""
