"""Recognize the lines of an image with PP-OCR, run by RapidOCR on ONNX Runtime.

This module runs only in sandboxed processes. Models and method: C. Cui et al., "PaddleOCR 3.0
Technical Report" (2025).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rapidocr import RapidOCR
from rapidocr.ch_ppocr_rec.typings import WordInfo
from rapidocr.main import RapidOCRError
from rapidocr.utils.process_img import map_boxes_to_original

from app.engines.documents.text import WORD_PATTERN, replace_unstorable_chars

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
_MIN_TALL_RATIO = 1.5
"""The minimum ratio of height to width at which the recognizer rotates a line."""
_MIN_CONFIDENCE = 0.5
_MAX_COMPARED_LINES = 5
"""The maximum number of lines that are read upright and upside down, to find the right direction.

The models include a classifier for this purpose, but it is often wrong.
"""


class RecognizedLine(NamedTuple):
    """A recognized line of text.

    `corners` is a 4 x 2 array with the corners of the line's quadrilateral in pixels, clockwise
    from the top left. `is_tall` is True if the line is vertical: its text then runs down the page,
    or up the page if `is_upside_down` is True. `positions` contains the position of each character
    that is not white space, from 0 to 1 along the line. `confidences` contains the confidence of
    each of these characters.
    """

    text: str
    corners: NDArray[np.floating]
    is_tall: bool
    is_upside_down: bool
    positions: list[float]
    confidences: list[float]


class LineWord(NamedTuple):
    """A word of a line; `box` is in pixels, and `is_spaced` is True if white space precedes it."""

    text: str
    box: tuple[float, float, float, float]
    is_spaced: bool
    confidence: float


class DetectedLines(NamedTuple):
    """The lines that were detected in an image, before recognition.

    `quads` contains the corners of each line in pixels, as an array of n x 4 x 2. `pictures`
    contains an array of height x width x 3 for each line; pictures of tall lines are rotated by 90
    degrees.
    """

    quads: NDArray[np.floating]
    pictures: list[NDArray[np.uint8]]


def detect_lines(image: Image.Image) -> DetectedLines:
    """Detect the lines of text in an image, and return each line's corners and picture."""
    pixels = np.asarray(image.convert("RGB"))[:, :, ::-1]
    resized_pixels, record = _RECOGNIZER.preprocess_img(pixels)
    try:
        pictures, result = _RECOGNIZER.detect_and_crop(resized_pixels, record)
    except RapidOCRError:  # there is no text
        return DetectedLines(np.empty((0, 4, 2)), [])
    if result.boxes is None:
        return DetectedLines(np.empty((0, 4, 2)), [])
    return DetectedLines(map_boxes_to_original(result.boxes, record, *pixels.shape[:2]), pictures)


def find_rotation(detection: DetectedLines) -> int:
    """Return the rotation of most of the text, as a number of clockwise quarter turns.

    Returns 0 if there is no text.
    """
    if not detection.pictures:
        return 0
    lengths = [max(_measure_quad(quad)) for quad in detection.quads]
    tall_flags = [_is_tall(quad) for quad in detection.quads]
    tall_length = sum(
        length for length, is_tall in zip(lengths, tall_flags, strict=True) if is_tall
    )
    is_mostly_tall = 2 * tall_length > sum(lengths)
    main_indexes = [index for index, is_tall in enumerate(tall_flags) if is_tall == is_mostly_tall]
    longest_indexes = sorted(main_indexes, key=lambda index: -lengths[index])[:_MAX_COMPARED_LINES]
    pictures = [detection.pictures[index] for index in longest_indexes]
    upright_readings, rotated_readings = (
        _recognize_pictures(pictures),
        _recognize_pictures([_rotate_by_180(picture) for picture in pictures]),
    )
    is_upside_down = sum(reading.confidence for reading in rotated_readings) > sum(
        reading.confidence for reading in upright_readings
    )
    return is_mostly_tall + 2 * is_upside_down


def recognize_lines(detection: DetectedLines) -> list[RecognizedLine]:
    """Recognize the text of the detected lines; lines with a low confidence are left out.

    Most of the lines must be upright. Tall lines may run up or down the page.
    """
    tall_flags = [_is_tall(quad) for quad in detection.quads]
    pictures = detection.pictures
    upright_readings = _recognize_pictures(pictures)
    rotated_readings = iter(
        _recognize_pictures(
            [
                _rotate_by_180(picture)
                for picture, is_tall in zip(pictures, tall_flags, strict=True)
                if is_tall
            ]
        )
    )
    lines = []
    for quad, is_tall, reading in zip(detection.quads, tall_flags, upright_readings, strict=True):
        rotated_reading = next(rotated_readings) if is_tall else reading
        best_reading = max(reading, rotated_reading, key=lambda item: item.confidence)
        if best_reading.text.strip() and best_reading.confidence >= _MIN_CONFIDENCE:
            positions, confidences = _locate_characters(best_reading)
            lines.append(
                RecognizedLine(
                    best_reading.text,
                    quad,
                    is_tall,
                    best_reading is not reading,
                    positions,
                    confidences,
                )
            )
    return lines


class _Reading(NamedTuple):
    """The text of a line, its mean confidence, and the recognizer's result for each word."""

    text: str
    confidence: float
    word_info: WordInfo


def _recognize_pictures(pictures: list[NDArray[np.uint8]]) -> list[_Reading]:
    if not pictures:
        return []
    result = _RECOGNIZER.recognize_txt(pictures)
    # RapidOCR's type annotation describes the tuples of a later step, which is not run.
    word_results = cast("Sequence[WordInfo]", result.word_results)
    return [
        _Reading(replace_unstorable_chars(text), float(confidence), word_info)
        for text, confidence, word_info in zip(
            result.txts or (), result.scores, word_results, strict=True
        )
    ]


def _rotate_by_180(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(picture[::-1, ::-1])


def _locate_characters(reading: _Reading) -> tuple[list[float], list[float]]:
    """Locate the characters that are not white space; return their positions and confidences.

    If the recognizer does not return one position and one confidence for each character, the
    positions are evenly spaced, and all confidences are the confidence of the line.
    """
    text, line_confidence, word_info = reading
    count = sum(not char.isspace() for char in text)
    positions = [
        (column + 0.5) / word_info.line_txt_len for word in word_info.word_cols for column in word
    ]
    confidences = [
        float(confidence)
        for char, confidence in zip(text, word_info.confs, strict=False)
        if not char.isspace()
    ]
    if not len(positions) == len(confidences) == count:
        return [(index + 0.5) / count for index in range(count)], [line_confidence] * count
    return positions, confidences


def _is_tall(quad: NDArray[np.floating]) -> bool:
    width, height = _measure_quad(quad)
    return height >= _MIN_TALL_RATIO * width


def _measure_quad(quad: NDArray[np.floating]) -> tuple[float, float]:
    """Return the width and height of a quadrilateral: the longer of each two opposite sides."""
    sides = [float(np.hypot(*(quad[n] - quad[n - 1]))) for n in range(4)]
    return max(sides[1], sides[3]), max(sides[2], sides[0])


def split_line(line: RecognizedLine) -> Iterator[LineWord]:
    """Split a line into words in the same way as the document readers, and yield the words."""
    half_distance = _measure_character_distance(line) / 2
    last_end, first_index = 0, 0  # an offset in the text, and an index into `line.positions`
    for match in WORD_PATTERN.finditer(line.text):
        gap = line.text[last_end : match.start()]
        first_index += sum(not char.isspace() for char in gap)
        end_index = first_index + len(match[0])
        positions = line.positions[first_index:end_index]
        confidence = min(line.confidences[first_index:end_index])
        start = max(0.0, positions[0] - half_distance)
        box = _compute_box(line, start, min(1.0, positions[-1] + half_distance))
        yield LineWord(match[0], box, bool(gap), min(1.0, max(0.0, confidence)))
        last_end, first_index = match.end(), end_index


def _measure_character_distance(line: RecognizedLine) -> float:
    """Measure the median distance between neighboring characters, from 0 to 1 along the line."""
    distances = np.diff(line.positions)
    return float(np.median(distances)) if len(distances) else 1.0


def _compute_box(
    line: RecognizedLine, start: float, end: float
) -> tuple[float, float, float, float]:
    """Compute the box, in pixels, of the part of a line from `start` to `end` (0 to 1)."""
    if line.is_upside_down:
        start, end = 1 - end, 1 - start
    upper_left, upper_right, lower_right, lower_left = line.corners
    sides = (upper_left, lower_left), (upper_right, lower_right)
    if not line.is_tall:
        sides = (upper_left, upper_right), (lower_left, lower_right)
    points = np.array(
        [begin + position * (stop - begin) for begin, stop in sides for position in (start, end)]
    )
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    return float(x0), float(y0), float(x1), float(y1)
