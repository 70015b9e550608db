"""Clean text from users, so that invoices can show it literally on one line."""

import unicodedata

_JOINERS = "\u200c\u200d"
"""Invisible characters that Persian and Indic words need."""
_REMOVED_CATEGORIES = ("Cc", "Cf", "Cs", "Co")
_NONCHARACTER_MASK = 0xFFFE
_NONCHARACTER_RANGE = range(0xFDD0, 0xFDF0)


def clean_text(text: str) -> str:
    """Clean text: put it on one line, and remove control, formatting and private-use characters.

    These characters have no glyph, could reverse the surrounding text, or are forbidden in XML.
    Characters that are newer than Python's Unicode version are kept. If nothing remains, returns
    "-".
    """
    text = unicodedata.normalize("NFC", text)
    if not text.isprintable():  # printable text has no white space but " ", and nothing to remove
        characters = (" " if character.isspace() else character for character in text)
        text = "".join(
            character
            for character in characters
            if character in _JOINERS or not _must_be_removed(character)
        )
    return " ".join(text.split()).strip(_JOINERS) or "-"


def _must_be_removed(character: str) -> bool:
    return unicodedata.category(character) in _REMOVED_CATEGORIES or _is_noncharacter(
        ord(character)
    )


def _is_noncharacter(code: int) -> bool:
    """Return whether a code point is a noncharacter, such as U+FFFE, which is never assigned."""
    return code & _NONCHARACTER_MASK == _NONCHARACTER_MASK or code in _NONCHARACTER_RANGE
