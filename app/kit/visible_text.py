"""Detection of invisible characters. A name needs at least one visible character."""

import unicodedata

# Categories of characters without a visible shape: controls, spaces, combining marks.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Me"})
# Letters and symbols that are rendered as nothing: the Hangul fillers, and the blank Braille cell.
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_UNASSIGNED = "Cn"
INVISIBLE_CLASS = (
    r"\s\u00ad\u034f\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0"
)
"""The common invisible characters, as the content of a character class in a regular expression."""
# Code points that will be rendered as nothing once they are assigned (Default_Ignorable).
_RESERVED = (range(0x2065, 0x2066), range(0xFFF0, 0xFFF9), range(0xE0000, 0xE1000))


def _is_visible(char: str) -> bool:
    category = unicodedata.category(char)
    if category == _UNASSIGNED:  # newer versions of Unicode may assign it
        return not any(ord(char) in reserved for reserved in _RESERVED)
    return category not in _INVISIBLE and char not in _BLANK


def has_visible_character(text: str) -> bool:
    """Return whether a text has at least one visible character."""
    return any(map(_is_visible, text))
