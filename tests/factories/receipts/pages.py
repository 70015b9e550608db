"""Lay out lines on a page as words with bounding boxes, as text recognition returns them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from app.engines.extraction.model import Document, SourceWord

# Characters that text recognition confuses.
_CONFUSED = {
    "O": "0",
    "0": "O",
    "I": "1",
    "l": "1",
    "S": "5",
    "B": "8",
    "e": "c",
    "é": "e",
    "ü": "u",
    "ä": "a",
}
_HEIGHT = 0.016
_WIDTH = 0.013


@dataclass(frozen=True)
class Line:
    """A line with a text on the left or in the center (`align`), and a text on the right.

    The text on the right ends at `right_end`, or begins at `right_at` if that is set. Positions are
    fractions of the page width. `size` scales the font.
    """

    text: str
    right: str = ""
    right_end: float = 0.95
    right_at: float | None = None
    align: str = "left"
    size: float = 1.0


def build_document(
    lines: Sequence[Line], rng: random.Random, *, noise: float, glued: bool
) -> Document:
    """Build a document of one page.

    `noise` scales the frequency of recognition errors; 0 means none. If `glued` is true, a word
    that ends with a colon is recognized as one word with the next word.
    """
    words: list[tuple[str, tuple[float, float, float, float]]] = []
    breaks: set[int] = set()
    top, tilt = 0.02, rng.uniform(-0.004, 0.004) * noise
    for line in lines:
        height = _HEIGHT * line.size
        for text, left in _get_positions(line):
            words += _lay_out(text, left, top, line.size, rng, noise=noise, glued=glued, tilt=tilt)
        if len(words):
            breaks.add(len(words))
        top += height * 1.35
    scale = 1 / max(1.0, top + 0.02)
    built, text = [], ""
    for place, (word, (x0, y0, x1, y1)) in enumerate(words):
        if text:
            text += "\n" if place in breaks else " "
        start = len(text)
        text += word
        box = (max(0.0, x0), max(0.0, y0 * scale), min(1.0, x1), min(1.0, y1 * scale))
        built.append(SourceWord(word, 1, box, start, len(text)))
    return Document(text, built)


def _get_positions(line: Line) -> list[tuple[str, float]]:
    """Return the texts of a line with their left edges."""
    width = len(line.text) * _WIDTH * line.size
    left = max(0.02, 0.5 - width / 2) if line.align == "center" else 0.04
    parts = [(line.text, left)] if line.text else []
    if line.right:
        start = line.right_at or line.right_end - len(line.right) * _WIDTH * line.size
        parts.append((line.right, start))
    return parts


def _lay_out(
    text: str,
    left: float,
    top: float,
    size: float,
    rng: random.Random,
    *,
    noise: float,
    glued: bool,
    tilt: float,
) -> list[tuple[str, tuple[float, float, float, float]]]:
    """Return the words of a text with their boxes (left, top, right, bottom)."""
    step = _WIDTH * size
    if len(text) * step + left > 0.99:
        step = (0.99 - left) / len(text)
    words = []
    column = 0
    for word in text.split(" "):
        damaged = _damage(word, rng, noise)
        x0 = left + column * step
        y0 = top + tilt * x0 * 4 + rng.uniform(-0.001, 0.001) * noise
        box = (x0, y0, x0 + len(word) * step, y0 + _HEIGHT * size)
        if words and ((glued and words[-1][0].endswith(":")) or rng.random() < 0.015 * noise):
            previous_word, previous_box = words.pop()
            damaged = previous_word + damaged
            box = (previous_box[0], previous_box[1], box[2], box[3])
        if damaged:
            words.append((damaged, box))
        column += len(word) + 1
    return words


def _damage(word: str, rng: random.Random, noise: float) -> str:
    """Return the word, rarely with a recognition error."""
    is_number = any(char.isdigit() for char in word)
    if rng.random() >= (0.004 if is_number else 0.015) * noise or not word:
        return word
    position = rng.randrange(len(word))
    replacement = _CONFUSED.get(word[position])
    if replacement is None:
        return word.rstrip(".,") if not is_number else word
    return word[:position] + replacement + word[position + 1 :]
