"""Clean texts of users, which are shown literally and in one line."""

import unicodedata

_JOINERS = "\u200c\u200d"
"""Invisible characters that Persian and Indic words need."""
_REMOVED = ("Cc", "Cf", "Cs", "Co")
_LAST_TWO = 0xFFFE
_NONCHARACTERS = range(0xFDD0, 0xFDF0)


def clean_text(text: str) -> str:
    """Return a text in one line without control, formatting and private characters.

    They have no shape, could reverse the text around them, or are forbidden in XML. Characters that
    this version of Python does not know are kept.
    """
    letters = (" " if letter.isspace() else letter for letter in unicodedata.normalize("NFC", text))
    visible = (letter for letter in letters if letter in _JOINERS or not _is_removed(letter))
    return " ".join("".join(visible).split()).strip(_JOINERS) or "-"


def _is_removed(letter: str) -> bool:
    return unicodedata.category(letter) in _REMOVED or _is_noncharacter(ord(letter))


def _is_noncharacter(code: int) -> bool:
    """Tell whether Unicode will never assign a code, such as U+FFFE."""
    return code & _LAST_TWO == _LAST_TWO or code in _NONCHARACTERS
