"""Short messages with a title and a body in the language of their reader, stored as text.

Their templates have the same file format as those of emails. If the text depends on a number, a
message has one table for each plural category of its language (CLDR): `assigned_one`,
`assigned_other`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from babel import Locale

from app.kit.letters.layout import plain
from app.kit.letters.wording import Part, Wording, WordingError, Wordings, candidates
from app.kit.locales import written

Value = str | int | datetime | None


@dataclass(frozen=True, slots=True)
class Message:
    """A rendered message; the paragraphs of `body` are separated by empty lines."""

    title: str
    body: str


class Messages:
    """The messages in a folder: `Messages(Path(__file__).parent / "messages")`."""

    def __init__(self, folder: Path) -> None:
        self.wordings = Wordings(folder)

    def write(
        self,
        name: str,
        *,
        locale: str,
        time_zone: str,
        values: Mapping[str, Value],
        count: int | None = None,
    ) -> Message:
        """Return the message `name` for a reader with this locale and time zone.

        Timestamps in `values` are formatted for the reader; paragraphs that contain a None value
        are left out. `count` selects the plural form and is also the value named `count`.

        Raises:
            WordingError: the message does not exist.
            KeyError: a value is missing.
        """
        found = self._find(name, locale, count)
        given = {**values, **({} if count is None else {"count": count})}
        said = [parts for parts in found.paragraphs if all(_shown(part, given) for part in parts)]
        texts = {key: _text(value, found.language, time_zone) for key, value in given.items()}
        title, paragraphs = plain(replace(found, paragraphs=tuple(said)), texts)
        return Message(title, "\n\n".join(paragraphs))

    def _find(self, name: str, locale: str, count: int | None) -> Wording:
        for language in candidates(locale):
            known = self.wordings.languages.get(language, {})
            for key in _keys(name, language, count):
                if key in known:
                    return known[key]
        raise WordingError(f"{self.wordings.folder} has no message {name}")


def _keys(name: str, language: str, count: int | None) -> list[str]:
    if count is None:
        return [name]
    category = Locale.parse(language, sep="-").plural_form(count)
    return [f"{name}_{category}", f"{name}_other"]


def _shown(part: Part, values: Mapping[str, Value]) -> bool:
    return not part.value or values[part.text] is not None


def _text(value: Value, language: str, time_zone: str) -> str:
    if isinstance(value, datetime):
        return written(value, language, time_zone)
    return "" if value is None else str(value)
