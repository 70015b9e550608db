"""Short messages with a title and a body, rendered in the reader's language.

Message templates have the same file format as email templates. If the text depends on a number, a
message has one table for each plural category (CLDR) of its language: `assigned_one`,
`assigned_other`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from babel import Locale

from app.kit.emails.layout import render_text
from app.kit.emails.templates import (
    PhrasePart,
    TemplateError,
    TextTemplate,
    TextTemplates,
    list_fallback_languages,
)
from app.kit.locales import format_timestamp

Value = str | int | datetime | None


@dataclass(frozen=True, slots=True)
class Message:
    """A rendered message. Empty lines separate the paragraphs of `body`."""

    title: str
    body: str


class MessageTemplates:
    """The message templates in a folder, for example `Path(__file__).parent / "messages"`."""

    def __init__(self, folder: Path) -> None:
        self.templates = TextTemplates(folder)

    def render(
        self,
        name: str,
        *,
        locale: str,
        time_zone: str,
        values: Mapping[str, Value],
        count: int | None = None,
    ) -> Message:
        """Render the message `name` for a reader with this locale and time zone.

        Timestamps in `values` are formatted for the reader. Paragraphs that contain a None value
        are left out. `count` selects the plural form, and is also available as the value `count`.

        Raises:
            TemplateError: the message does not exist.
            KeyError: a value is missing.
        """
        template = self._find_template(name, locale, count)
        all_values = {**values, **({} if count is None else {"count": count})}
        paragraphs = [
            parts
            for parts in template.paragraphs
            if all(_has_value(part, all_values) for part in parts)
        ]
        texts = {
            key: _format_value(value, template.language, time_zone)
            for key, value in all_values.items()
        }
        title, blocks = render_text(replace(template, paragraphs=tuple(paragraphs)), texts)
        return Message(title, "\n\n".join(blocks))

    def _find_template(self, name: str, locale: str, count: int | None) -> TextTemplate:
        for language in list_fallback_languages(locale):
            templates = self.templates.templates_by_language.get(language, {})
            for key in _list_template_names(name, language, count):
                if key in templates:
                    return templates[key]
        raise TemplateError(f"{self.templates.folder} has no message {name}")


def _list_template_names(name: str, language: str, count: int | None) -> list[str]:
    if count is None:
        return [name]
    category = Locale.parse(language, sep="-").plural_form(count)
    return [f"{name}_{category}", f"{name}_other"]


def _has_value(part: PhrasePart, values: Mapping[str, Value]) -> bool:
    return not part.is_variable or values[part.text] is not None


def _format_value(value: Value, language: str, time_zone: str) -> str:
    if isinstance(value, datetime):
        return format_timestamp(value, language, time_zone)
    return "" if value is None else str(value)
