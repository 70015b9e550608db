"""Clean texts of users, which are shown literally and in one line."""

import unicodedata

_JOINERS = "\u200c\u200d"
"""Invisible characters that Persian and Indic words need."""
_REMOVED = ("Cc", "Cf", "Cs", "Co", "Cn")


def clean_text(text: str) -> str:
    """Return a text in one line without control, formatting and unassigned characters.

    They have no shape, could reverse the text around them, or are forbidden in XML.
    """
    letters = (" " if letter.isspace() else letter for letter in unicodedata.normalize("NFC", text))
    visible = (letter for letter in letters if letter in _JOINERS or not _is_removed(letter))
    return " ".join("".join(visible).split()).strip(_JOINERS) or "-"


def _is_removed(letter: str) -> bool:
    return unicodedata.category(letter) in _REMOVED
