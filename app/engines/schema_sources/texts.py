"""Convert text from a source to the keys, labels and descriptions of fields and schemas."""

import re

from slugify import slugify

from app.engines.fields.definition import MAX_DESCRIPTION_CHARS, MAX_KEY_CHARS, MAX_LABEL_CHARS
from app.engines.schema_sources.model import WarningCollector

MAX_NAME_CHARS = 200
MAX_DOCUMENT_TYPE_CHARS = 100

_MAX_SLUG_CHARS = 4 * MAX_KEY_CHARS  # longer strings are truncated later anyway
_CAMEL_CASE_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CONTROL_CHARS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def to_snake_case(text: str, fallback: str) -> str:
    """Convert `text` to a field's key: transliterated, in snake_case, at most 64 characters.

    `invoiceNo.` gives `invoice_no`, `Größe` gives `grosse`. If `text` has no letters or digits, the
    key is `fallback`. If `text` begins with a digit, `fallback` is prepended.
    """
    words = _CAMEL_CASE_BOUNDARY.sub(" ", text[:_MAX_SLUG_CHARS])
    slug = slugify(words, separator="_", entities=False, decimal=False, hexadecimal=False)
    if not slug or not slug[0].isalpha():
        slug = f"{fallback}_{slug}" if slug else fallback
    return slug[:MAX_KEY_CHARS].rstrip("_")


class KeyGenerator:
    """Creates unique keys for one list of fields."""

    def __init__(self, collector: WarningCollector) -> None:
        self._last_numbers: dict[str, int] = {}
        self._collector = collector

    def create_key(self, text: str, *, path: str, fallback: str = "field") -> str:
        """Create a key for `text`; if another field has this key, append a number and warn."""
        base_key = key = to_snake_case(text, fallback)
        number = self._last_numbers.get(base_key, 0)
        while key in self._last_numbers:
            number += 1
            suffix = f"_{number + 1}"
            key = base_key[: MAX_KEY_CHARS - len(suffix)].rstrip("_") + suffix
        self._last_numbers[base_key] = max(number, self._last_numbers.get(base_key, 0))
        self._last_numbers.setdefault(key, 0)
        if key != base_key:
            self._collector.add(
                path, f"Another field already has the key {base_key}; this field has {key}."
            )
        return key


def to_line(text: object, limit: int = MAX_LABEL_CHARS) -> str:
    """Convert `text` to one line without control characters, truncated to `limit` code points.

    Returns an empty string if `text` is not a string.
    """
    if not isinstance(text, str):
        return ""
    line = " ".join(_CONTROL_CHARS.sub(" ", text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def to_title(
    text: object, collector: WarningCollector, path: str, limit: int = MAX_LABEL_CHARS
) -> str:
    """Convert `text` to a title on one line; add a warning if the title was truncated.

    Returns an empty string if `text` is not a string.
    """
    line = to_line(text, len(text) if isinstance(text, str) else 0)
    if len(line) > limit:
        collector.add(path, f"The name is longer than {limit:,} characters and was truncated.")
    return to_line(line, limit)


def to_description(
    text: object, collector: WarningCollector, path: str, limit: int = MAX_DESCRIPTION_CHARS
) -> str:
    """Convert `text` to a description; add a warning if the description was truncated.

    Returns an empty string if `text` is not a string.
    """
    if not isinstance(text, str):
        return ""
    if len(text) <= limit:
        return text.strip()
    collector.add(path, f"The text is longer than {limit:,} characters and was truncated.")
    return text[: limit - 1].rstrip() + "…"
