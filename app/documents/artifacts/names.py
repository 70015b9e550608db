"""Rules for document names, which must be safe on screen, in HTTP headers and as file names."""

import unicodedata

from app.kit.visible_text import INVISIBLE_CLASS, has_visible_character

MAX_NAME_LENGTH = 255

# These characters change the direction of the text after them, so a file whose name ends with
# `fdp.exe` can be displayed as if its name ended with `exe.pdf`.
_BIDI_CONTROLS = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_SEPARATORS = frozenset("/\\\u2028\u2029\ufeff")
_REFUSED_CHARACTERS = (
    r"\u0000-\u001f\u007f-\u009f/\\\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
)
NAME_PATTERN = (
    rf"^(?!\s*\.{{1,2}}\s*$)\s*[^{_REFUSED_CHARACTERS}]*"
    rf"[^{_REFUSED_CHARACTERS}{INVISIBLE_CLASS}][^{_REFUSED_CHARACTERS}]*\s*$"
)
"""The rules of `check_name` as a regular expression for the API description. Rare invisible
characters are not covered."""
_SEPARATOR_MESSAGE = (
    "Slashes, backslashes, line or paragraph separators and zero-width no-break spaces (U+FEFF)"
    " are not allowed."
)
_REFUSED_CATEGORIES = frozenset({"Cc", "Cs"})


def check_name(name: str) -> str:
    """Validate a document name, and return it without surrounding whitespace.

    Raises ValueError with the reason if the name is invalid.
    """
    name = name.strip()
    if not has_visible_character(name):
        raise ValueError("Must not be blank.")
    if name in (".", ".."):
        raise ValueError('Must not be "." or "..".')
    if len(name) > MAX_NAME_LENGTH:
        raise ValueError(f"Must have at most {MAX_NAME_LENGTH} characters.")
    if name.isascii() and name.isprintable() and not _SEPARATORS.intersection(name):
        return name
    for char in name:
        if char in _SEPARATORS:
            raise ValueError(_SEPARATOR_MESSAGE)
        if char in _BIDI_CONTROLS:
            raise ValueError("Characters that change the direction of text are not allowed.")
        if unicodedata.category(char) in _REFUSED_CATEGORIES:
            raise ValueError("Control characters are not allowed.")
    return name
