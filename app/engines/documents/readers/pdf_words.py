"""Extract the words of a PDF page with their positions from pdfium."""

import math
import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from pypdfium2 import PdfPage, raw  # type: ignore[import-untyped]

from app.engines.documents.model import Limits, ParseFailed
from app.engines.documents.readers import right_to_left
from app.engines.documents.readers.pdf_positions import CharacterPositions, read_characters
from app.engines.documents.readers.segments import MAX_WORD_GAP, Box, Glyph, Line, Token
from app.engines.documents.text import WORD_PATTERN, normalize_text, replace_unstorable_chars

OBLIQUE = -1
"""The direction of text that is more than `_MAX_TILT` away from every multiple of 90 degrees."""

# pdfium's character for a hyphen at a line end, where pdfium joins two lines.
_HYPHEN = "\x02"
_TOKEN = re.compile(WORD_PATTERN.pattern.replace(r"[^\s", rf"[^\s{_HYPHEN}") + f"{_HYPHEN}?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(rf"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029{_HYPHEN}]")
# Glyphs that represent letters: Latin ligatures, and Hebrew and Arabic presentation forms.
_PRESENTATION_FORMS = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc]+")
_UNKNOWN_RECTANGLE = (math.nan, math.nan, math.nan, math.nan)
_QUARTER_DEGREES = 90.0
_MAX_TILT = 15.0  # degrees; text tilted further does not belong to a row
_MAX_METRICS_DIFFERENCE = 0.1  # in line heights; between the font boxes of one line
_MIN_FONT_HEIGHT = 0.8  # as a fraction of the ink's height; fonts may have wrong metrics


def read_words(
    page: PdfPage, text_page: raw.FPDF_TEXTPAGE, limits: Limits
) -> dict[int, list[Token | Line]]:
    """Return the words that a page shows, grouped by writing direction, in file order.

    Directions are clockwise quarter turns (0 to 3), or `OBLIQUE`. The words of a plain line form
    one `Line`. Positions are in points from the top left of the displayed page, rotated so that the
    text is upright, unless it is oblique. Raises `ParseFailed` (`too_large_unpacked`) if the page
    has too many characters or words.
    """
    count = raw.FPDFText_CountChars(text_page)
    if count > limits.max_text_chars:
        message = f"A page has more than {limits.max_text_chars} characters."
        raise ParseFailed("too_large_unpacked", message)
    return _WordExtractor(page, text_page, count, limits).extract_words() if count > 0 else {}


def rotate_box(box: Box, quarter_turns: int, width: float, height: float) -> Box:
    """Return a box after rotating its page by `quarter_turns` clockwise quarter turns.

    `width` and `height` are the size of the page before the rotation.
    """
    x0, y0, x1, y1 = box
    for _ in range(quarter_turns % 4):
        x0, y0, x1, y1 = height - y1, x0, height - y0, x1
        width, height = height, width
    return x0, y0, x1, y1


class _WordExtractor:
    """Reads the words of one page and their positions from pdfium."""

    def __init__(
        self, page: PdfPage, text_page: raw.FPDF_TEXTPAGE, count: int, limits: Limits
    ) -> None:
        self._max_words = limits.max_words_per_page
        self._positions = CharacterPositions(text_page)
        self._characters = read_characters(text_page, count)
        self._has_right_to_left_letters = right_to_left.LETTERS.search(self._characters) is not None
        self._rotation = page.get_rotation()
        self._size: tuple[float, float] = page.get_size()
        self._crop_box: Box = page.get_bbox()  # left, bottom, right, top in user space
        self._word_count = 0

    def extract_words(self) -> dict[int, list[Token | Line]]:
        """Return the readable words inside the crop box, grouped by writing direction."""
        words_by_direction: dict[int, list[Token | Line]] = {}
        first = 0
        for characters in self._characters.split("\n"):
            line = self._read_plain_line(first, characters.rstrip("\r"))
            if line is not None:
                words_by_direction.setdefault(0, []).append(line)
            else:
                for direction, token in self._read_line(first, first + len(characters)):
                    words_by_direction.setdefault(direction, []).append(token)
            first += len(characters) + 1
        return words_by_direction

    def _reserve_indexes(self, count: int) -> int:
        """Reserve indexes for `count` words, and return the first index.

        Raises `ParseFailed` if the page has too many words.
        """
        first_index = self._word_count + 1
        self._word_count += count
        if self._word_count > self._max_words:
            message = f"A page has more than {self._max_words} words."
            raise ParseFailed("too_large_unpacked", message)
        return first_index

    def _read_plain_line(self, first: int, line: str) -> Line | None:
        """Return a line of ASCII characters that one text object draws horizontally.

        Returns None if the line may be different, for example if its words are far apart. The words
        of a plain line share their font's metrics, so reading it takes only a third of the calls.
        """
        text = line.strip(" ")
        is_plain = text.isascii() and text.isprintable() and "  " not in text
        if not (text and is_plain) or self._rotation or self._has_right_to_left_letters:
            return None
        words = text.split(" ")
        lengths = list(map(len, words))
        first += line.index(text)
        metrics = self._get_line_metrics(first, first + len(text), first + len(text) - lengths[-1])
        if metrics is None:
            return None
        left, _, _, crop_top = self._crop_box
        boxes = self._positions.get_boxes(first, lengths, (left, crop_top))
        if boxes is None:
            return None
        extent, top, bottom = metrics
        gaps = [box[0] - last[2] for last, box in pairwise(boxes)]
        if gaps and not (min(gaps) >= 0 and max(gaps) <= MAX_WORD_GAP * (bottom - top)):
            return None
        return Line(
            text, words, extent, boxes, gaps, top, bottom, self._reserve_indexes(len(words))
        )

    def _get_line_metrics(self, first: int, end: int, last: int) -> tuple[Box, float, float] | None:
        """Return the box of a line's ink, and the top and bottom of its font's box.

        The line has the characters from `first` up to `end`, and its last word begins at `last`.
        Returns None if words may have different metrics, if the metrics are implausible, or if the
        line exceeds the crop box.
        """
        positions, (width, height) = self._positions, self._size
        ink = positions.get_single_rectangle(first, end)
        if ink is None or positions.get_angle(first) != 0:
            return None
        shape = positions.get_shape_rectangle(first)
        font, last_font = positions.get_font_rectangle(first), positions.get_font_rectangle(last)
        if shape is None or font is None or last_font is None:
            return None
        if font[1::2] == shape[1::2]:
            return None  # the font specifies no metrics
        left, _, _, crop_top = self._crop_box
        x0, y0, x1, y1 = ink[0] - left, crop_top - ink[3], ink[2] - left, crop_top - ink[1]
        # pdfium enlarges the font's box if a glyph exceeds it.
        top, bottom = crop_top - min(font[3], last_font[3]), crop_top - max(font[1], last_font[1])
        difference = max(abs(font[1] - last_font[1]), abs(font[3] - last_font[3]))
        if difference > _MAX_METRICS_DIFFERENCE * (bottom - top):
            return None  # the line is not horizontal
        is_inside = x0 >= 0 and y0 >= 0 and x1 <= width and y1 <= height
        is_plausible = _MIN_FONT_HEIGHT * (y1 - y0) <= bottom - top <= max(width, height)
        return ((x0, y0, x1, y1), top, bottom) if is_inside and is_plausible else None

    def _read_line(self, first: int, end: int) -> Iterator[tuple[int, Token]]:
        """Yield the direction and token of each readable word whose center is in the crop box."""
        width, height = self._size
        for start, stop, gap in self._iterate_spans(first, end):
            text = _convert_to_readable(self._characters[start:stop])
            box = self._get_ink_box(start, stop)
            x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
            if not text or not (0 <= x <= width and 0 <= y <= height):
                continue  # unreadable, or outside the crop box
            index = self._reserve_indexes(1)
            direction = self._get_direction(start)
            yield direction, self._build_token(text, box, index, gap, start, stop, direction)

    def _iterate_spans(self, line_start: int, line_end: int) -> Iterator[tuple[int, int, str]]:
        """Yield the start and end of each word of a line, and the white space before it."""
        last = 0 if line_start == 0 else line_start - 1
        for match in _TOKEN.finditer(self._characters, line_start, line_end):
            first, end = match.span()
            separator = self._characters[max(0, last - 1) : first]
            gap = "\n" if _LINE_END.search(separator) else " " * (first > last)
            last = end
            if end - first > 1 and self._positions.count_rectangles(first, end) > 1:
                for start, stop in pairwise(self._find_line_starts(first, end)):
                    yield start, stop, gap if start == first else "\n"
            else:
                yield first, end, gap

    def _find_line_starts(self, first: int, end: int) -> list[int]:
        """Return the offsets at which to split a word that spans lines, including start and end.

        pdfium joins single characters that are below each other, such as a table's row numbers.
        """
        starts = [first]
        quarter_turns = max(self._get_direction(first), 0)
        previous: Box | None = None
        for index in range(first, end):
            box = rotate_box(self._get_font_box(index), -quarter_turns, *self._size)
            if previous is not None:
                height = previous[3] - previous[1]
                is_apart = min(previous[3], box[3]) - max(previous[1], box[1]) < height / 2
                if is_apart and not unicodedata.combining(self._characters[index]):
                    starts.append(index)
            previous = box
        return [*starts, end]

    def _build_token(
        self, text: str, box: Box, index: int, gap: str, first: int, end: int, direction: int
    ) -> Token:
        """Return the word of the characters `first` to `end`, rotated upright unless oblique."""
        width, height = self._size
        font_box = self._get_font_box(first)
        glyphs = self._build_glyphs(first, end) if self._has_right_to_left_letters else None
        if direction > 0:
            box = rotate_box(box, -direction, width, height)
            font_box = rotate_box(font_box, -direction, width, height)
            if glyphs is not None:
                glyphs = [
                    Glyph(glyph.text, rotate_box(glyph.box, -direction, width, height))
                    for glyph in glyphs
                ]
        top, bottom = font_box[1], font_box[3]
        if not _MIN_FONT_HEIGHT * (box[3] - box[1]) <= bottom - top <= max(width, height):
            top, bottom = box[1], box[3]  # the metrics of the font are implausible, or not numbers
        return Token(text, *box, top, bottom, index, gap, glyphs)

    def _get_ink_box(self, first: int, end: int) -> Box:
        """Return the bounding box of the characters, or of the first one if all are invisible."""
        rectangle = self._positions.get_rectangle(first, end)
        if rectangle is None:
            return self._get_glyph_box(first)
        return self._map_to_displayed_box(*rectangle)

    def _get_glyph_box(self, index: int) -> Box:
        """Return the box of a character's shape; all coordinates are NaN if it is unknown."""
        return self._map_to_displayed_box(
            *(self._positions.get_shape_rectangle(index) or _UNKNOWN_RECTANGLE)
        )

    def _get_font_box(self, index: int) -> Box:
        """Return the box of a character according to the font's metrics instead of its shape."""
        rectangle = self._positions.get_font_rectangle(index)
        if rectangle is None:
            return self._get_glyph_box(index)
        return self._map_to_displayed_box(*rectangle)

    def _map_to_displayed_box(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        """Map a rectangle in user space (PDF 1.7, 8.3.2.3) to a box on the displayed page."""
        left, bottom, right, top = self._crop_box
        box = x0 - left, top - y1, x1 - left, top - y0
        if not self._rotation:
            return box
        return rotate_box(box, self._rotation // 90, right - left, top - bottom)

    def _get_direction(self, index: int) -> int:
        """Return the writing direction of a character in clockwise quarter turns, or `OBLIQUE`."""
        degrees = math.degrees(self._positions.get_angle(index))
        quarter_turns = (degrees + self._rotation) / _QUARTER_DEGREES
        nearest = round(quarter_turns)
        return (
            nearest % 4 if abs(quarter_turns - nearest) * _QUARTER_DEGREES <= _MAX_TILT else OBLIQUE
        )

    def _build_glyphs(self, first: int, end: int) -> list[Glyph]:
        """Return the readable characters of a word; characters with the same box are combined."""
        glyphs: list[Glyph] = []
        for index in range(first, end):
            box = self._get_glyph_box(index)
            char = self._characters[index]
            if glyphs and glyphs[-1].box == box:
                glyphs[-1] = Glyph(glyphs[-1].text + char, box)
            else:
                glyphs.append(Glyph(char, box))
        readable_glyphs = (Glyph(_convert_to_readable(glyph.text), glyph.box) for glyph in glyphs)
        return [glyph for glyph in readable_glyphs if glyph.text]


def _convert_to_readable(word: str) -> str:
    """Normalize a word: decompose ligatures, replace invalid and remove control characters."""
    if word.isascii() and word.isprintable():
        return word
    if word.endswith(_HYPHEN):
        word = word[:-1] + "-"
    if _SURROGATE.search(word):
        word = word.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return normalize_text(_PRESENTATION_FORMS.sub(_decompose_form, replace_unstorable_chars(word)))


def _decompose_form(form: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", form.group()).strip()
