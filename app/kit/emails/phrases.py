"""Phrases for web pages, in one TOML file per language. A key is `table.name` in this file."""

import tomllib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from app.kit.emails.templates import (
    DEFAULT_LANGUAGE,
    PhrasePart,
    TemplateError,
    list_fallback_languages,
    parse_phrase,
)

_MAX_TAG_LENGTH = 35
"""The maximum length of a language tag that is looked up (RFC 5646, section 4.4.1)."""


class Phrases:
    """The phrases in a folder, for example `Path(__file__).parent / "words"`.

    Files are named by language tag (`en.toml`, `pt-BR.toml`). `{name}` is a placeholder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def phrases_by_language(self) -> dict[str, dict[str, tuple[PhrasePart, ...]]]:
        """Return the phrases by language tag in lower case, then by `table.name`.

        Raises TemplateError if a phrase has a brace outside a placeholder.
        """
        return {
            path.stem.lower(): _read_phrases(path) for path in sorted(self.folder.glob("*.toml"))
        }

    @cached_property
    def spellings_by_tag(self) -> dict[str, str]:
        """Map each language tag in lower case to its spelling in the file name."""
        return {path.stem.lower(): path.stem for path in self.folder.glob("*.toml")}

    def choose_language(self, locales: Iterable[str]) -> str:
        """Return the language tag of the first locale that has a file, or `en` if none has one."""
        for locale in locales:
            if len(locale) > _MAX_TAG_LENGTH:
                continue
            # The last candidate is always English, even if it is not the language of the locale.
            for language in list_fallback_languages(locale)[:-1]:
                if language in self.spellings_by_tag:
                    return self.spellings_by_tag[language]
        return DEFAULT_LANGUAGE

    def find(self, key: str, locale: str) -> tuple[PhrasePart, ...]:
        """Return the phrase with the key `table.name` in the closest available language.

        Raises TemplateError if no language has the phrase.
        """
        for language in list_fallback_languages(locale):
            phrase = self.phrases_by_language.get(language, {}).get(key)
            if phrase is not None:
                return phrase
        raise TemplateError(f"{self.folder} has no phrase {key}")


def _read_phrases(path: Path) -> dict[str, tuple[PhrasePart, ...]]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        f"{table}.{name}": parse_phrase(" ".join(text.split()))
        for table, phrases in tables.items()
        for name, text in phrases.items()
    }
