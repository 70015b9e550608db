"""Rendering of emails: subject, plain text and HTML."""

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
    PhrasePart,
    TextTemplate,
    get_text_direction,
    list_fallback_languages,
    parse_phrase,
)

_FOLDER = Path(__file__).parent / "base"
_HTML_TEMPLATE = _FOLDER / "base.html"
_MAX_SUBJECT_LENGTH = 250
_URL = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_PATH = re.compile(r"/?[A-Za-z0-9][A-Za-z0-9/_.-]*(\?[^\s<>\"]*)?")

Values = Mapping[str, str | int | None]


@dataclass(frozen=True, slots=True)
class RenderedEmail:
    """A rendered email; `language` is the language of the template that was used."""

    subject: str
    text: str
    html: str
    language: str


@cache
def load_html_template(path: Path) -> Template:
    """Load an HTML template with Jinja, without Flask.

    Rendering raises UndefinedError if the template names a variable or attribute that does not
    exist. Flask's environment would insert an empty string.
    """
    environment = Environment(
        loader=FileSystemLoader(path.parent), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template(path.name)


@cache
def load_layout_phrases() -> dict[str, dict[str, str]]:
    """Load the phrases that surround the content of emails, by lower-case language tag."""
    return {
        path.stem.lower(): tomllib.loads(path.read_text(encoding="utf-8"))["layout"]
        for path in sorted(_FOLDER.glob("*.toml"))
    }


def _find_layout_phrases(language: str) -> dict[str, str]:
    phrases = load_layout_phrases()
    return next(phrases[tag] for tag in list_fallback_languages(language) if tag in phrases)


def _remove_control_characters(value: object) -> str:
    """Return a value as text without control characters, except line breaks.

    Bidirectional embeddings, overrides and isolates are also removed.
    """
    return "".join(
        c
        for c in str(value).replace("\r\n", "\n")
        if c == "\n" or (unicodedata.category(c) != "Cc" and not _is_bidi_control(c))
    )


def _is_bidi_control(character: str) -> bool:
    return unicodedata.bidirectional(character) in {
        *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    }


def _insert_values(parts: Sequence[PhrasePart], values: Mapping[str, str]) -> list[PhrasePart]:
    return [PhrasePart(values[p.text], is_variable=True) if p.is_variable else p for p in parts]


def _join_parts(parts: Sequence[PhrasePart]) -> str:
    return "".join(part.text for part in parts)


def _render_subject(template: TextTemplate, texts: Mapping[str, str]) -> str:
    """Return the subject on one line, cut to `_MAX_SUBJECT_LENGTH` characters."""
    return " ".join(_join_parts(_insert_values(template.subject, texts)).split())[
        :_MAX_SUBJECT_LENGTH
    ]


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
) -> RenderedEmail:
    """Render an email by inserting `values` into its template.

    The value `link` is a URL, a path under `pages_url` (default: `public_url`), or None. The value
    `token` is shown below the button unless the text contains it. The value `unsubscribe` is a URL
    that is shown at the end. `service` is the display name of this installation. Raises KeyError
    if a value is missing.
    """
    texts = {name: "" if v is None else _remove_control_characters(v) for name, v in values.items()}
    texts["link"] = page_url = _build_link(texts.get("link", ""), pages_url or public_url)
    link = page_url if template.action else ""
    token = "" if "token" in template.value_names else texts.get("token", "")
    unsubscribe = _build_link(texts.get("unsubscribe", ""), public_url)
    layout_phrases = _find_layout_phrases(template.language)
    subject = _render_subject(template, texts)
    paragraphs = [_insert_values(parts, texts) for parts in template.paragraphs]
    footer_values = {"service": service, "address": public_url}
    footer = _insert_values(parse_phrase(layout_phrases["footer"]), footer_values)
    context: dict[str, Any] = {
        "language": template.language,
        "direction": get_text_direction(template.language),
        "subject": subject,
        "paragraphs": paragraphs,
        "action": template.action,
        "link": link,
        "token": token,
        "unsubscribe": unsubscribe,
        "words": layout_phrases,
        "footer": footer,
    }
    html = load_html_template(_HTML_TEMPLATE).render(context)
    return RenderedEmail(subject, _render_plain_text(context), html, template.language)


def _render_plain_text(context: Mapping[str, Any]) -> str:
    """Return the plain text of an email. `context` is also the context of the HTML template."""
    layout_phrases = context["words"]
    labeled_values = (
        (f"{context['action']}:", context["link"]),
        (layout_phrases["token"], context["token"]),
        (f"{layout_phrases['unsubscribe']}:", context["unsubscribe"]),
    )
    blocks = [
        *map(_join_parts, context["paragraphs"]),
        *(f"{label}\n{text}" for label, text in labeled_values if text),
        f"-- \n{_join_parts(context['footer'])}\n",
    ]
    return "\n\n".join(blocks)


def _build_link(link: str, pages_url: str) -> str:
    """Return the absolute URL for an http(s) URL or a path, or an empty string for other text."""
    if _PATH.fullmatch(link):
        return f"{pages_url}/{link.removeprefix('/')}"
    return link if _URL.fullmatch(link) else ""
