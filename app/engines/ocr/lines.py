"""Recognize the lines of an image with PP-OCR, run by RapidOCR on ONNX Runtime.

Runs only in sandboxed processes. Models and method: C. Cui et al., "PaddleOCR 3.0 Technical Report"
(2025).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import cv2
import numpy as np
from PIL import Image
from rapidocr import RapidOCR
from rapidocr.main import RapidOCRError
from rapidocr.utils.process_img import map_boxes_to_original

from app.engines.documents.text import WORD, replace_unstorable

# A confined process cannot start threads.
cv2.setNumThreads(1)
_RECOGNIZER = RapidOCR(
    params={
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        "Global.log_level": "critical",
        "Global.return_word_box": True,
    }
)
_TALL = 1.5
"""From this ratio of height to width, the recognizer turns a line by a quarter before reading."""
_MIN_CONFIDENCE = 0.5
_COMPARED = 5
"""How many lines are read in both directions to find out whether a page is upside down.

The classifier for this purpose, which comes with the models, is often wrong.
"""


class Line(NamedTuple):
    """A recognized line of text.

    `corners` are those of its quadrilateral in pixels, clockwise from the top left, as an array of
    4 x 2. `is_tall` is whether its text runs down, and `is_upside_down` whether it runs the other
    way. `columns` has the position of each character that is not white space, from 0 to 1 along the
    line, and `confidences` its confidence.
    """

    text: str
    corners: Any
    is_tall: bool
    is_upside_down: bool
    columns: list[float]
    confidences: list[float]


class LineWord(NamedTuple):
    """A word of a line; `box` is in pixels, and `is_spaced` True if white space precedes it."""

    text: str
    box: tuple[float, float, float, float]
    is_spaced: bool
    confidence: float


class Detection(NamedTuple):
    """The lines found in an image: their corners in pixels, an array of n x 4 x 2, and pictures.

    A picture is an array of height x width x 3. Pictures of tall lines are turned by a quarter.
    """

    quads: Any
    pictures: list[Any]


def detect(image: Image.Image) -> Detection:
    """Find the lines of an image."""
    pixels = np.asarray(image.convert("RGB"))[:, :, ::-1]
    resized, record = _RECOGNIZER.preprocess_img(pixels)
    try:
        pictures, found = _RECOGNIZER.detect_and_crop(resized, record)
    except RapidOCRError:  # there is no text
        return Detection(np.empty((0, 4, 2)), [])
    if found.boxes is None:
        return Detection(np.empty((0, 4, 2)), [])
    return Detection(map_boxes_to_original(found.boxes, record, *pixels.shape[:2]), pictures)


def find_rotation(detection: Detection) -> int:
    """Return the clockwise quarter turns of most of the text."""
    if not detection.pictures:
        return 0
    lengths = [max(_measure(quad)) for quad in detection.quads]
    tall = [_is_tall(quad) for quad in detection.quads]
    tall_length = sum(length for length, is_tall in zip(lengths, tall, strict=True) if is_tall)
    are_tall = 2 * tall_length > sum(lengths)
    usual = [number for number, is_tall in enumerate(tall) if is_tall == are_tall]
    longest = sorted(usual, key=lambda number: -lengths[number])[:_COMPARED]
    pictures = [detection.pictures[number] for number in longest]
    upright, turned = _read(pictures), _read([_turn(picture) for picture in pictures])
    are_upside_down = sum(one.score for one in turned) > sum(one.score for one in upright)
    return are_tall + 2 * are_upside_down


def recognize(detection: Detection) -> list[Line]:
    """Read the lines of an image, most of which are upright. Tall lines may run up or down."""
    tall = [_is_tall(quad) for quad in detection.quads]
    pictures = detection.pictures
    upright = _read(pictures)
    turned = iter(
        _read([_turn(one) for one, is_tall in zip(pictures, tall, strict=True) if is_tall])
    )
    lines = []
    for quad, is_tall, reading in zip(detection.quads, tall, upright, strict=True):
        other = next(turned) if is_tall else reading
        best = max(reading, other, key=lambda one: one.score)
        if best.text.strip() and best.score >= _MIN_CONFIDENCE:
            columns, confidences = _locate_characters(best)
            lines.append(Line(best.text, quad, is_tall, best is not reading, columns, confidences))
    return lines


class _Reading(NamedTuple):
    """The text of a line, its mean confidence, and the recognizer's columns and confidences."""

    text: str
    score: float
    info: Any


def _read(pictures: list[Any]) -> list[_Reading]:
    if not pictures:
        return []
    read = _RECOGNIZER.recognize_txt(pictures)
    return [
        _Reading(replace_unstorable(text), float(score), info)
        for text, score, info in zip(read.txts or (), read.scores, read.word_results, strict=True)
    ]


def _turn(picture: Any) -> Any:
    return np.ascontiguousarray(picture[::-1, ::-1])


def _locate_characters(reading: _Reading) -> tuple[list[float], list[float]]:
    """Return the position and the confidence of each character that is not white space."""
    text, score, info = reading
    count = sum(not char.isspace() for char in text)
    columns = [(column + 0.5) / info.line_txt_len for word in info.word_cols for column in word]
    confidences = [
        float(confidence)
        for char, confidence in zip(text, info.confs, strict=False)
        if not char.isspace()
    ]
    if not len(columns) == len(confidences) == count:
        return [(index + 0.5) / count for index in range(count)], [score] * count
    return columns, confidences


def _is_tall(quad: Any) -> bool:
    width, height = _measure(quad)
    return height >= _TALL * width


def _measure(quad: Any) -> tuple[float, float]:
    """Return the width and the height of a quadrilateral: the lengths of its longer sides."""
    sides = [float(np.hypot(*(quad[n] - quad[n - 1]))) for n in range(4)]
    return max(sides[1], sides[3]), max(sides[2], sides[0])


def split_line(line: Line) -> Iterator[LineWord]:
    """Yield the words of a line, as the readers of documents split a text into words."""
    half = _measure_character(line) / 2
    last, first_column = 0, 0
    for match in WORD.finditer(line.text):
        gap = line.text[last : match.start()]
        first_column += sum(not char.isspace() for char in gap)
        end_column = first_column + len(match[0])
        columns = line.columns[first_column:end_column]
        confidence = min(line.confidences[first_column:end_column])
        box = _compute_box(line, max(0.0, columns[0] - half), min(1.0, columns[-1] + half))
        yield LineWord(match[0], box, bool(gap), min(1.0, max(0.0, confidence)))
        last, first_column = match.end(), end_column


def _measure_character(line: Line) -> float:
    """Return the usual distance between two characters, from 0 to 1 along the line."""
    distances = np.diff(line.columns)
    return float(np.median(distances)) if len(distances) else 1.0


def _compute_box(line: Line, start: float, end: float) -> tuple[float, float, float, float]:
    """Return the box in pixels around the part of a line between two positions."""
    if line.is_upside_down:
        start, end = 1 - end, 1 - start
    upper_left, upper_right, lower_right, lower_left = line.corners
    sides = (upper_left, lower_left), (upper_right, lower_right)
    if not line.is_tall:
        sides = (upper_left, upper_right), (lower_left, lower_right)
    points = np.array(
        [begin + share * (stop - begin) for begin, stop in sides for share in (start, end)]
    )
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    return float(x0), float(y0), float(x1), float(y1)
