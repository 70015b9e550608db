"""Prepare user text for a chart: literal, on one line, and truncated if it is too long."""

import unicodedata

_ELLIPSIS = "…"
_WIDE_CLASSES = ("F", "W")
_NONCHARACTERS = ("\ufffe", "\uffff")  # XML forbids these characters
_COMBINING_CATEGORIES = ("Mn", "Me")


def fit_text(text: str, width: int) -> str:
    """Return text on one line of at most `width` characters, truncated with an ellipsis if longer.

    A wide character counts as two, and a combining mark is not counted. Control and formatting
    characters are removed, because they could reverse the text around them.
    """
    visible_text = "".join(" " if char.isspace() else char for char in text if _is_visible(char))
    line = " ".join(visible_text.split())
    line_width = 0
    for position, char in enumerate(line):
        line_width += _measure_char(char)
        if line_width > width:
            return _cut_to_width(line[:position], width - 1) + _ELLIPSIS
    return line


def measure_width(text: str) -> int:
    """Return the width of a text in characters; see `fit_text`."""
    return sum(map(_measure_char, text))


def _cut_to_width(text: str, width: int) -> str:
    while measure_width(text) > width:
        text = text[:-1]
    return text.rstrip()


def _measure_char(char: str) -> int:
    if unicodedata.category(char) in _COMBINING_CATEGORIES:
        return 0
    return 2 if unicodedata.east_asian_width(char) in _WIDE_CLASSES else 1


def _is_visible(char: str) -> bool:
    if char.isspace():
        return True
    is_control = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co")
    return not is_control and char not in _NONCHARACTERS
