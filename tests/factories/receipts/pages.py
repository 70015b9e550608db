"""Set lines on a page as words with boxes, as text recognition would return them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from app.engines.extraction import Document, SourceWord

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
    text: str
    right: str = ""
    right_end: float = 0.95
    right_at: float | None = None
    align: str = "left"
    size: float = 1.0


def build_document(
    lines: Sequence[Line], rng: random.Random, *, noise: float, glued: bool, language: str
) -> Document:
    """Return the document; `noise` scales the share of damaged words, 0 for none."""
    words: list[tuple[str, tuple[float, float, float, float]]] = []
    breaks: set[int] = set()
    top, tilt = 0.02, rng.uniform(-0.004, 0.004) * noise
    for line in lines:
        height = _HEIGHT * line.size
        for text, left in _place(line):
            words += _set(text, left, top, line.size, rng, noise=noise, glued=glued, tilt=tilt)
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
    return Document(text, built, language)


def _place(line: Line) -> list[tuple[str, float]]:
    width = len(line.text) * _WIDTH * line.size
    left = max(0.02, 0.5 - width / 2) if line.align == "center" else 0.04
    parts = [(line.text, left)] if line.text else []
    if line.right:
        start = line.right_at or line.right_end - len(line.right) * _WIDTH * line.size
        parts.append((line.right, start))
    return parts


def _set(
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
    step = _WIDTH * size
    if len(text) * step + left > 0.99:
        step = (0.99 - left) / len(text)
    placed = []
    at = 0
    for word in text.split(" "):
        damaged = _damage(word, rng, noise)
        x0 = left + at * step
        y0 = top + tilt * x0 * 4 + rng.uniform(-0.001, 0.001) * noise
        box = (x0, y0, x0 + len(word) * step, y0 + _HEIGHT * size)
        if placed and ((glued and placed[-1][0].endswith(":")) or rng.random() < 0.015 * noise):
            before, old = placed.pop()
            damaged, box = before + damaged, (old[0], old[1], box[2], box[3])
        if damaged:
            placed.append((damaged, box))
        at += len(word) + 1
    return placed


def _damage(word: str, rng: random.Random, noise: float) -> str:
    is_number = any(char.isdigit() for char in word)
    if rng.random() >= (0.004 if is_number else 0.015) * noise or not word:
        return word
    place = rng.randrange(len(word))
    swapped = _CONFUSED.get(word[place])
    if swapped is None:
        return word.rstrip(".,") if not is_number else word
    return word[:place] + swapped + word[place + 1 :]
