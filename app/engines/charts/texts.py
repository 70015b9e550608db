"""Prepare texts of users for a picture: they are shown as they are, in one line, cut if long."""

import unicodedata

_ELLIPSIS = "…"
_WIDE = ("F", "W")
_NONCHARACTERS = ("\ufffe", "\uffff")  # which XML forbids
_ATTACHED = ("Mn", "Me")


def fit_text(text: str, width: int) -> str:
    """Return the text in one line of at most `width` columns, of which wide letters take two.

    Control and formatting characters, which could reverse the text around them, are left out.
    """
    visible = "".join(" " if letter.isspace() else letter for letter in text if _is_shown(letter))
    line = " ".join(visible.split())
    columns = 0
    for position, letter in enumerate(line):
        columns += _count_columns(letter)
        if columns > width:
            return _cut(line[:position], width - 1) + _ELLIPSIS
    return line


def count_columns(text: str) -> int:
    """Return the columns that a text takes."""
    return sum(map(_count_columns, text))


def _cut(text: str, width: int) -> str:
    while count_columns(text) > width:
        text = text[:-1]
    return text.rstrip()


def _count_columns(letter: str) -> int:
    if unicodedata.category(letter) in _ATTACHED:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in _WIDE else 1


def _is_shown(letter: str) -> bool:
    if letter.isspace():
        return True
    is_control = unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co")
    return not is_control and letter not in _NONCHARACTERS
