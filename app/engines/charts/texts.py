"""Prepare user text for a chart: literal, on one line, and truncated if it is too long."""

import unicodedata

_ELLIPSIS = "…"
_WIDE_CLASSES = ("F", "W")
_NONCHARACTERS = ("\ufffe", "\uffff")  # XML forbids these characters
_COMBINING_CATEGORIES = ("Mn", "Me")


def fit_text(text: str, width: int) -> str:
    """Fit text on one line of at most `width` letters; a wide letter counts as two.

    Control and formatting characters are removed, because they could reverse the text around them.
    """
    visible = "".join(" " if letter.isspace() else letter for letter in text if _is_visible(letter))
    line = " ".join(visible.split())
    line_width = 0
    for position, letter in enumerate(line):
        line_width += _measure_letter(letter)
        if line_width > width:
            return _cut_to_width(line[:position], width - 1) + _ELLIPSIS
    return line


def measure_width(text: str) -> int:
    """Return the width of a text in letters; see `fit_text`."""
    return sum(map(_measure_letter, text))


def _cut_to_width(text: str, width: int) -> str:
    while measure_width(text) > width:
        text = text[:-1]
    return text.rstrip()


def _measure_letter(letter: str) -> int:
    if unicodedata.category(letter) in _COMBINING_CATEGORIES:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in _WIDE_CLASSES else 1


def _is_visible(letter: str) -> bool:
    if letter.isspace():
        return True
    is_control = unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co")
    return not is_control and letter not in _NONCHARACTERS
