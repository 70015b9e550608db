"""Convert Hebrew and Arabic text from visual order to logical order.

The Unicode bidirectional algorithm (UAX #9) converts logical to visual order. This is the inverse:
numbers and words of other scripts keep their direction, and everything else is reversed. The
inverse is not unique, so the most likely reading is chosen. Existing libraries only convert from
logical to visual order.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from app.engines.documents.readers.segments import Glyph

LETTERS = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_CLOSING = {")": "(", "]": "[", "}": "{", "\u00bb": "\u00ab", "\u203a": "\u2039", ">": "<"}
_OPENING = frozenset(_CLOSING.values())
_MIRRORED = str.maketrans({**_CLOSING, **{left: right for right, left in _CLOSING.items()}})
_LEFT, _RIGHT, _NUMBER, _NEUTRAL = "left", "right", "number", "neutral"
_DIRECTION_CLASSES = {"L": _LEFT, "R": _RIGHT, "AL": _RIGHT, "EN": _NUMBER, "AN": _NUMBER}
_NUMBER_SEPARATORS = {"ES", "CS", "ET"}


def is_right_to_left(texts: Iterable[str]) -> bool:
    """Return whether most letters belong to scripts that run from right to left."""
    texts = list(texts)
    joined = "".join(texts)
    if joined.isascii() or not any(map(_is_right_to_left_letter, set(joined))):
        return False
    left = right = 0
    for text in texts:
        if text.isascii():
            left += sum(map(str.isalpha, text))
            continue
        for char in text:
            left += unicodedata.bidirectional(char) == "L"
            right += _is_right_to_left_letter(char)
    return right > left


def _is_right_to_left_letter(char: str) -> bool:
    return unicodedata.bidirectional(char) in ("R", "AL")


def combine_marks(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Sort glyphs from left to right, and attach each vowel sign to its letter."""
    letters = [glyph for glyph in glyphs if not unicodedata.combining(glyph.text[0])]
    marks = [glyph for glyph in glyphs if unicodedata.combining(glyph.text[0])]
    if not letters:
        return sorted(glyphs, key=_get_center)
    letters.sort(key=_get_center)
    for mark in marks:
        nearest = min(range(len(letters)), key=lambda index: _get_distance(letters[index], mark))
        base = letters[nearest]
        letters[nearest] = Glyph(base.text + mark.text, base.box)
    return letters


def _get_center(glyph: Glyph) -> float:
    return (glyph.box[0] + glyph.box[2]) / 2


def _get_distance(base: Glyph, mark: Glyph) -> float:
    return abs(_get_center(base) - _get_center(mark))


def convert_to_logical_order(visual_glyphs: Sequence[Glyph], *, right_to_left: bool) -> list[Glyph]:
    """Return the glyphs of a row in the order in which they are read.

    Args:
        visual_glyphs: The glyphs from left to right, including the spaces between words.
        right_to_left: Whether the row as a whole runs from right to left.
    """
    classes = _classify_number_separators(
        visual_glyphs, [_classify_character(glyph.text[0]) for glyph in visual_glyphs]
    )
    if right_to_left:
        return _reverse_row(visual_glyphs, classes)
    logical: list[Glyph] = []
    start = 0
    for first, end in _find_right_to_left_spans(classes):
        logical += visual_glyphs[start:first]
        logical += _reverse_row(visual_glyphs[first:end], classes[first:end])
        start = end
    return [*logical, *visual_glyphs[start:]]


def _classify_character(char: str) -> str:
    """Return whether a character is left-to-right, right-to-left, part of a number, or neutral."""
    return _DIRECTION_CLASSES.get(unicodedata.bidirectional(char), _NEUTRAL)


def _classify_number_separators(visual_glyphs: Sequence[Glyph], classes: list[str]) -> list[str]:
    """Classify separators inside numbers, and signs and currencies next to them, as numbers."""
    result = list(classes)
    for index, glyph in enumerate(visual_glyphs):
        bidirectional_type = unicodedata.bidirectional(glyph.text[0])
        if bidirectional_type not in _NUMBER_SEPARATORS:
            continue
        is_after_number = index > 0 and result[index - 1] == _NUMBER
        is_before_number = index + 1 < len(classes) and classes[index + 1] == _NUMBER
        if (is_after_number and is_before_number) or (
            bidirectional_type == "ET" and (is_after_number or is_before_number)
        ):
            result[index] = _NUMBER
    return result


def _find_right_to_left_spans(classes: Sequence[str]) -> list[tuple[int, int]]:
    """Return the spans of right-to-left letters, including all non-letters between them."""
    spans: list[tuple[int, int]] = []
    is_open = False
    for index, character_class in enumerate(classes):
        if character_class == _RIGHT and is_open:
            spans[-1] = (spans[-1][0], index + 1)
        elif character_class == _RIGHT:
            spans.append((index, index + 1))
            is_open = True
        elif character_class == _LEFT:
            is_open = False
    return spans


def _reverse_row(visual_glyphs: Sequence[Glyph], classes: Sequence[str]) -> list[Glyph]:
    """Reverse a row, except for runs of numbers and of left-to-right scripts."""
    flagged = list(zip(visual_glyphs, _find_reversed_glyphs(classes), strict=True))
    logical: list[tuple[Glyph, bool]] = []
    for is_reversed, group in groupby(reversed(flagged), key=itemgetter(1)):
        run = list(group)
        logical += run if is_reversed else reversed(run)
    return _mirror_brackets(logical)


def _find_reversed_glyphs(classes: Sequence[str]) -> list[bool]:
    """Return for each glyph of a right-to-left row whether it is outside left-to-right runs."""
    is_reversed = [character_class in (_RIGHT, _NEUTRAL) for character_class in classes]
    index = 0
    while index < len(classes):
        end = index
        while end < len(classes) and classes[end] == _NEUTRAL:
            end += 1
        if 0 < index < end < len(classes):
            sides = classes[index - 1], classes[end]
            # Two numbers separated by a space are read from right to left.
            if _RIGHT not in sides and sides != (_NUMBER, _NUMBER):
                is_reversed[index:end] = [False] * (end - index)
        index = max(end, index + 1)
    return is_reversed


def _mirror_brackets(flagged: Sequence[tuple[Glyph, bool]]) -> list[Glyph]:
    """Return the glyphs, with mirrored brackets where they do not match.

    Only glyphs with the flag True run from right to left. A closing bracket before its opening
    bracket means that the file stores the displayed shapes.
    """
    depth = 0
    for glyph, is_reversed in flagged:
        if is_reversed and glyph.text in _OPENING:
            depth += 1
        elif is_reversed and glyph.text in _CLOSING:
            depth -= 1
        if depth < 0:
            break
    else:
        return [glyph for glyph, _ in flagged]
    return [
        glyph._replace(text=glyph.text.translate(_MIRRORED)) if is_reversed else glyph
        for glyph, is_reversed in flagged
    ]
