"""Compose the text of a page from its recognized lines, only in sandboxed processes."""

from PIL import Image

from app.engines.documents.readers.pdf_text import PageText, compose_text
from app.engines.documents.readers.pdf_words import OBLIQUE, rotate_box
from app.engines.documents.readers.segments import Token
from app.engines.ocr.lines import RecognizedLine, detect, find_rotation, recognize, split_line

_ROTATIONS = {
    1: Image.Transpose.ROTATE_90,
    2: Image.Transpose.ROTATE_180,
    3: Image.Transpose.ROTATE_270,
}


def recognize_page(image: Image.Image, width: float, height: float) -> tuple[PageText, list[float]]:
    """Recognize a page image; return its text and words, and the confidence of each word.

    `width` and `height` are the size of the page in points. A page that is rotated by quarter turns
    is first rotated upright, because its words would otherwise be in the wrong order.
    """
    detection = detect(image)
    quarter_turns = find_rotation(detection)
    if quarter_turns:
        detection = detect(image.transpose(_ROTATIONS[quarter_turns]))
    scale = width / image.width
    size = (height, width) if quarter_turns % 2 else (width, height)
    confidences: list[float] = []
    groups: dict[int, list[Token]] = {}
    for line in recognize(detection):
        # Only lines in the main direction are sorted into rows.
        is_oblique = line.is_tall or line.is_upside_down
        for token in _build_tokens(line, scale, confidences):
            if is_oblique:
                token.x0, token.y0, token.x1, token.y1 = rotate_box(token.box, quarter_turns, *size)
            groups.setdefault(OBLIQUE if is_oblique else quarter_turns, []).append(token)
    page_text = compose_text(groups, width, height)
    return page_text, [confidences[index] for index in page_text.words.token_indexes]


def _build_tokens(line: RecognizedLine, scale: float, confidences: list[float]) -> list[Token]:
    """Build a token for each word of a line, and append the word's confidence to `confidences`.

    The boxes of the tokens are in points.
    """
    tokens: list[Token] = []
    for word in split_line(line):
        x0, y0, x1, y1 = (side * scale for side in word.box)
        gap = (" " if word.is_spaced else "") if tokens else "\n"
        tokens.append(Token(word.text, x0, y0, x1, y1, y0, y1, len(confidences), gap, None))
        confidences.append(round(word.confidence, 4))
    return tokens
