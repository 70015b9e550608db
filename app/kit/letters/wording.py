"""The words of letters: one TOML file per language, and which file a reader gets.

A letter is a table: `subject` (one line), `text` (paragraphs, apart by an empty line) and, where
there is something to open, `action`, the label of the button that leads to the value `link`.
`{name}` stands for a value. Values are put in as they are and never read for placeholders.
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
_MEMBERS = {"subject", "text", "action"}
_RIGHT_TO_LEFT = {"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"}
_RIGHT_TO_LEFT_SCRIPTS = {"arab", "hebr", "nkoo", "syrc", "thaa"}


class WordingError(ValueError):
    """A file of letters is not usable, or a letter is asked for that there is none of."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a phrase: words as they are, or the value of a name."""

    text: str
    value: bool = False


def phrase(text: str) -> tuple[Part, ...]:
    """Split a template at its placeholders. Raises WordingError on a stray brace."""
    found, end = [], 0
    for match in _PLACEHOLDER.finditer(text):
        found += [Part(text[end : match.start()]), Part(match[1], value=True)]
        end = match.end()
    found.append(Part(text[end:]))
    if any("{" in part.text or "}" in part.text for part in found if not part.value):
        raise WordingError(f"a brace that belongs to no placeholder: {text!r}")
    return tuple(part for part in found if part.text)


@dataclass(frozen=True, slots=True)
class Wording:
    """One letter in one language."""

    language: str
    subject: tuple[Part, ...]
    paragraphs: tuple[tuple[Part, ...], ...]
    action: str | None

    @property
    def names(self) -> frozenset[str]:
        """The values that it shows; `link` is one where there is an action."""
        phrases = (self.subject, *self.paragraphs)
        shown = {part.text for parts in phrases for part in parts if part.value}
        return frozenset(shown | ({"link"} if self.action else set()))


def _paragraphs(text: str | list[str]) -> tuple[tuple[Part, ...], ...]:
    blocks = re.split(r"\n\s*\n", text.strip()) if isinstance(text, str) else text
    return tuple(phrase(" ".join(block.split())) for block in blocks)


def _wording(language: str, name: str, table: Mapping[str, Any]) -> Wording:
    if not {"subject", "text"} <= set(table) <= _MEMBERS:
        raise WordingError(f"{language}: {name} has subject, text and perhaps action, nothing else")
    subject = " ".join(table["subject"].split())
    return Wording(language, phrase(subject), _paragraphs(table["text"]), table.get("action"))


class Wordings:
    """All letters of a folder, in every language that it has a file of.

    Files are named by language tag: `en.toml`, `de.toml`, `pt-BR.toml`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def languages(self) -> dict[str, dict[str, Wording]]:
        """Letters by language tag in lower case, then by name. Raises WordingError."""
        found: dict[str, dict[str, Wording]] = {}
        for path in sorted(self.folder.glob("*.toml")):
            try:
                tables = tomllib.loads(path.read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise WordingError(f"{path.name}: {error}") from None
            found[path.stem.lower()] = {
                name: _wording(path.stem, name, table) for name, table in tables.items()
            }
        if DEFAULT_LANGUAGE not in found:
            raise WordingError(f"{self.folder} has no {DEFAULT_LANGUAGE}.toml")
        return found

    def find(self, name: str, locale: str) -> Wording:
        """The letter for a reader of `locale`. Raises WordingError when it is in no language."""
        for language in candidates(locale):
            found = self.languages.get(language, {}).get(name)
            if found is not None:
                return found
        raise WordingError(f"{self.folder} has no letter {name}")


def candidates(locale: str) -> list[str]:
    """Where to look: the tag shortened part by part (RFC 4647, section 3.4), then English."""
    parts = re.split(r"[-_]", locale.lower())
    return [*("-".join(parts[:end]) for end in range(len(parts), 0, -1)), DEFAULT_LANGUAGE]


def direction(language: str) -> str:
    """`rtl` or `ltr`, for the attribute `dir`."""
    first, *rest = language.lower().split("-")
    scripts = [part for part in rest if len(part) == 4]  # noqa: PLR2004 - ISO 15924
    if scripts:
        return "rtl" if scripts[0] in _RIGHT_TO_LEFT_SCRIPTS else "ltr"
    return "rtl" if first in _RIGHT_TO_LEFT else "ltr"
