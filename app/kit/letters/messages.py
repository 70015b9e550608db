"""Short messages that are stored as text: a title and a body in the language of their reader.

They lie in files like those of letters. Where a number decides the words, a message has one table
for each of its language's plural categories (CLDR): `assigned_one`, `assigned_other`.
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
    """What one reader reads. `body` has paragraphs, apart by an empty line, and may be empty."""

    title: str
    body: str


class Messages:
    """A folder of messages: `Messages(Path(__file__).parent / "messages")`."""

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
        """The message `name` as a reader of `locale` in `time_zone` reads it.

        :param values: a moment is written in the reader's language and zone; a paragraph that
            shows a value that is None is left out.
        :param count: decides among the plural forms, and is the value `count`.
        :raises WordingError: no such message.
        :raises KeyError: a value is missing.
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
