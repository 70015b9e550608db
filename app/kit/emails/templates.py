"""Templates of emails and messages in one TOML file per language, and the choice of the language.

A template is a table: `subject` (one line), `text` (paragraphs, separated by empty lines) and, if
there is a page to open, `action`, the label of the button that leads to the value `link`. `{name}`
is a placeholder. Values are inserted unchanged; placeholders in them are not replaced.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

DEFAULT_LANGUAGE = "en"
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_TEMPLATE_KEYS = {"subject", "text", "action"}
_RIGHT_TO_LEFT_LANGUAGES = {"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"}
_RIGHT_TO_LEFT_SCRIPTS = {"arab", "hebr", "nkoo", "syrc", "thaa"}


class TemplateError(ValueError):
    """A template file is invalid, or a requested template or a required value is missing."""


@dataclass(frozen=True, slots=True)
class PhrasePart:
    """A part of a phrase.

    If `is_variable` is false, `text` is literal text. Otherwise, `text` is the name of a
    placeholder, or the value of the placeholder once the values have been inserted.
    """

    text: str
    is_variable: bool = False


def parse_phrase(text: str) -> tuple[PhrasePart, ...]:
    """Parse a phrase into literal text and placeholders.

    Raises TemplateError if there is a brace outside a placeholder.
    """
    parts, end = [], 0
    for match in _PLACEHOLDER.finditer(text):
        parts += [PhrasePart(text[end : match.start()]), PhrasePart(match[1], is_variable=True)]
        end = match.end()
    parts.append(PhrasePart(text[end:]))
    if any("{" in part.text or "}" in part.text for part in parts if not part.is_variable):
        raise TemplateError(f"brace outside a placeholder: {text!r}")
    return tuple(part for part in parts if part.text)


@dataclass(frozen=True, slots=True)
class TextTemplate:
    """A template of an email or message in one language. `action` labels the button, if any."""

    language: str
    subject: tuple[PhrasePart, ...]
    paragraphs: tuple[tuple[PhrasePart, ...], ...]
    action: str | None

    @property
    def value_names(self) -> frozenset[str]:
        """Return the names of the required values, including `link` if there is an action."""
        phrases = (self.subject, *self.paragraphs)
        value_names = {part.text for parts in phrases for part in parts if part.is_variable}
        return frozenset(value_names | ({"link"} if self.action else set()))


def _parse_paragraphs(text: str | list[str]) -> tuple[tuple[PhrasePart, ...], ...]:
    blocks = re.split(r"\n\s*\n", text.strip()) if isinstance(text, str) else text
    return tuple(parse_phrase(" ".join(block.split())) for block in blocks)


def _parse_template(language: str, name: str, table: Mapping[str, Any]) -> TextTemplate:
    if not {"subject", "text"} <= set(table) <= _TEMPLATE_KEYS:
        raise TemplateError(f"{language}: {name} must have subject and text, and may have action")
    subject = " ".join(table["subject"].split())
    return TextTemplate(
        language, parse_phrase(subject), _parse_paragraphs(table["text"]), table.get("action")
    )


class TextTemplates:
    """All templates in a folder, in all languages.

    Files are named by language tag: `en.toml`, `de.toml`, `pt-BR.toml`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def templates_by_language(self) -> dict[str, dict[str, TextTemplate]]:
        """Return the templates by language tag in lower case, then by name.

        Raises TemplateError if a file is invalid or `en.toml` is missing.
        """
        templates: dict[str, dict[str, TextTemplate]] = {}
        for path in sorted(self.folder.glob("*.toml")):
            try:
                tables = tomllib.loads(path.read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise TemplateError(f"{path.name}: {error}") from None
            templates[path.stem.lower()] = {
                name: _parse_template(path.stem, name, table) for name, table in tables.items()
            }
        if DEFAULT_LANGUAGE not in templates:
            raise TemplateError(f"{self.folder} has no {DEFAULT_LANGUAGE}.toml")
        return templates

    def find(self, name: str, locale: str) -> TextTemplate:
        """Return the template `name` in the closest available language for this locale.

        Raises TemplateError if there is no template `name`.
        """
        for language in list_fallback_languages(locale):
            template = self.templates_by_language.get(language, {}).get(name)
            if template is not None:
                return template
        raise TemplateError(f"{self.folder} has no template {name}")


def list_fallback_languages(locale: str) -> list[str]:
    """Return the language tags to look up, in order of preference. The last tag is English.

    The locale's tag is shortened part by part (RFC 4647, section 3.4).
    """
    parts = re.split(r"[-_]", locale.lower())
    return [*("-".join(parts[:end]) for end in range(len(parts), 0, -1)), DEFAULT_LANGUAGE]


def get_text_direction(language: str) -> str:
    """Return the text direction of a language, `rtl` or `ltr`, for the attribute `dir`."""
    primary_subtag, *other_parts = language.lower().split("-")
    scripts = [part for part in other_parts if len(part) == 4]  # noqa: PLR2004 - ISO 15924
    if scripts:
        return "rtl" if scripts[0] in _RIGHT_TO_LEFT_SCRIPTS else "ltr"
    return "rtl" if primary_subtag in _RIGHT_TO_LEFT_LANGUAGES else "ltr"
