"""Check and clean text before it is parsed as a number, date or name."""

import re
import unicodedata

from app.engines.fields.errors import ValueProblem

FORBIDDEN_CHARS = re.compile("[\x00\ud800-\udfff]")

# Zero-width characters, byte order mark, bidirectional marks, embeddings and isolates.
_INVISIBLE_CHARS = (*"\u200b\u200e\u200f\u061c\u2060\ufeff", *map(chr, range(0x202A, 0x202F)))
_INVISIBLE_CHARS += (*map(chr, range(0x2066, 0x206A)),)
_REPLACEMENTS = (
    {ord(char): None for char in _INVISIBLE_CHARS}
    | {ord(char): "-" for char in "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d\ufe63"}
    | {ord(char): "'" for char in "\u2018\u2019\u02bc\u00b4\u066c"}
    | {0xFF0C: ",", 0xFF0E: ".", 0xFF0B: "+", 0xFF1A: ":", 0xFF0F: "/", 0x066B: "."}
)


def check_text(value: object, limit: int) -> str:
    """Check that `value` is valid text, and return it. Raises ValueProblem if it is not.

    Valid text is a string of at most `limit` code points, without NUL or unpaired surrogates.
    """
    if not isinstance(value, str):
        raise ValueProblem("must be a string")
    if len(value) > limit:
        raise ValueProblem(f"is longer than {limit:,} characters")
    if FORBIDDEN_CHARS.search(value):
        raise ValueProblem("contains a NUL character or an unpaired surrogate")
    return value


def clean_text(value: object, limit: int = 200) -> str:
    """Clean text: normalize whitespace, digits and punctuation, and remove invisible characters.

    Superscripts and fractions are kept, so `10²` does not become `102`. Raises ValueProblem if
    `value` is not valid text (see `check_text`), or if the result is empty.
    """
    text = check_text(value, limit)
    if not text.isascii():
        text = text.translate(_REPLACEMENTS)
        text = "".join(_to_ascii_digit(char) for char in text)
    text = " ".join(text.split())
    if not text:
        raise ValueProblem("is empty")
    return text


def to_integer(value: object) -> object:
    """Convert a float such as 1.0 to the equal integer; return other values unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def shorten_name(name: object) -> str:
    """Shorten a property name to a printable string of at most 64 characters for error messages.

    Returns `?` if the name is not a string.
    """
    if not isinstance(name, str):
        return "?"
    return "".join(char if char.isprintable() else "?" for char in name[:64])


def _to_ascii_digit(char: str) -> str:
    digit = unicodedata.decimal(char, None)
    return char if digit is None else str(digit)
