"""Convert Hebrew and Arabic text from visual order to logical order.

The Unicode bidirectional algorithm (UAX #9) converts logical to visual order. This module does the
inverse: numbers and words of other scripts keep their direction, and everything else is reversed.
The inverse is not unique, so the most likely reading is chosen. Existing libraries only convert
from logical to visual order.
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
_CLOSING_BRACKETS = {")": "(", "]": "[", "}": "{", "\u00bb": "\u00ab", "\u203a": "\u2039", ">": "<"}
_OPENING_BRACKETS = frozenset(_CLOSING_BRACKETS.values())
_MIRRORED_BRACKETS = str.maketrans(
    {**_CLOSING_BRACKETS, **{left: right for right, left in _CLOSING_BRACKETS.items()}}
)
_LEFT_TO_RIGHT, _RIGHT_TO_LEFT, _NUMBER, _NEUTRAL = "left", "right", "number", "neutral"
_DIRECTION_CLASSES = {
    "L": _LEFT_TO_RIGHT,
    "R": _RIGHT_TO_LEFT,
    "AL": _RIGHT_TO_LEFT,
    "EN": _NUMBER,
    "AN": _NUMBER,
}
_NUMBER_SEPARATORS = {"ES", "CS", "ET"}


def is_right_to_left(texts: Iterable[str]) -> bool:
    """Return whether most letters belong to scripts that run from right to left."""
    texts = list(texts)
    joined_text = "".join(texts)
    if joined_text.isascii() or not any(map(_is_right_to_left_letter, set(joined_text))):
        return False
    left_to_right_count = right_to_left_count = 0
    for text in texts:
        if text.isascii():
            left_to_right_count += sum(map(str.isalpha, text))
            continue
        for char in text:
            left_to_right_count += unicodedata.bidirectional(char) == "L"
            right_to_left_count += _is_right_to_left_letter(char)
    return right_to_left_count > left_to_right_count


def _is_right_to_left_letter(char: str) -> bool:
    return unicodedata.bidirectional(char) in ("R", "AL")


def combine_marks(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Sort glyphs from left to right; join each combining mark to the letter nearest to it."""
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
    logical_glyphs: list[Glyph] = []
    start = 0
    for first, end in _find_right_to_left_spans(classes):
        logical_glyphs += visual_glyphs[start:first]
        logical_glyphs += _reverse_row(visual_glyphs[first:end], classes[first:end])
        start = end
    return [*logical_glyphs, *visual_glyphs[start:]]


def _classify_character(char: str) -> str:
    """Return the class of a character: left-to-right, right-to-left, number or neutral."""
    return _DIRECTION_CLASSES.get(unicodedata.bidirectional(char), _NEUTRAL)


def _classify_number_separators(visual_glyphs: Sequence[Glyph], classes: list[str]) -> list[str]:
    """Reclassify separators between numbers as numbers; return a new list of classes.

    Symbols next to a number, such as % or $, are classified as numbers, too.
    """
    new_classes = list(classes)
    for index, glyph in enumerate(visual_glyphs):
        bidirectional_type = unicodedata.bidirectional(glyph.text[0])
        if bidirectional_type not in _NUMBER_SEPARATORS:
            continue
        is_after_number = index > 0 and new_classes[index - 1] == _NUMBER
        is_before_number = index + 1 < len(classes) and classes[index + 1] == _NUMBER
        if (is_after_number and is_before_number) or (
            bidirectional_type == "ET" and (is_after_number or is_before_number)
        ):
            new_classes[index] = _NUMBER
    return new_classes


def _find_right_to_left_spans(classes: Sequence[str]) -> list[tuple[int, int]]:
    """Return the spans of right-to-left letters, including all non-letters between them."""
    spans: list[tuple[int, int]] = []
    is_open = False
    for index, character_class in enumerate(classes):
        if character_class == _RIGHT_TO_LEFT and is_open:
            spans[-1] = (spans[-1][0], index + 1)
        elif character_class == _RIGHT_TO_LEFT:
            spans.append((index, index + 1))
            is_open = True
        elif character_class == _LEFT_TO_RIGHT:
            is_open = False
    return spans


def _reverse_row(visual_glyphs: Sequence[Glyph], classes: Sequence[str]) -> list[Glyph]:
    """Reverse a row except runs of numbers and left-to-right scripts; mirror brackets if needed."""
    flagged_glyphs = list(zip(visual_glyphs, _flag_reversed_glyphs(classes), strict=True))
    logical_glyphs: list[tuple[Glyph, bool]] = []
    for is_reversed, group in groupby(reversed(flagged_glyphs), key=itemgetter(1)):
        run = list(group)
        logical_glyphs += run if is_reversed else reversed(run)
    return _mirror_brackets(logical_glyphs)


def _flag_reversed_glyphs(classes: Sequence[str]) -> list[bool]:
    """Return, for each glyph of a right-to-left row, whether it runs from right to left."""
    is_reversed = [character_class in (_RIGHT_TO_LEFT, _NEUTRAL) for character_class in classes]
    index = 0
    while index < len(classes):
        end = index
        while end < len(classes) and classes[end] == _NEUTRAL:
            end += 1
        if 0 < index < end < len(classes):
            sides = classes[index - 1], classes[end]
            # Two numbers separated by a space are read from right to left.
            if _RIGHT_TO_LEFT not in sides and sides != (_NUMBER, _NUMBER):
                is_reversed[index:end] = [False] * (end - index)
        index = max(end, index + 1)
    return is_reversed


def _mirror_brackets(flagged_glyphs: Sequence[tuple[Glyph, bool]]) -> list[Glyph]:
    """Return the glyphs, and mirror their brackets if the file stores brackets as displayed.

    A file does so if a closing bracket precedes its opening bracket in logical order. The flag of a
    glyph is True if it runs from right to left; only such brackets are mirrored.
    """
    depth = 0
    for glyph, is_reversed in flagged_glyphs:
        if is_reversed and glyph.text in _OPENING_BRACKETS:
            depth += 1
        elif is_reversed and glyph.text in _CLOSING_BRACKETS:
            depth -= 1
        if depth < 0:
            break
    else:
        return [glyph for glyph, _ in flagged_glyphs]
    return [
        glyph._replace(text=glyph.text.translate(_MIRRORED_BRACKETS)) if is_reversed else glyph
        for glyph, is_reversed in flagged_glyphs
    ]
