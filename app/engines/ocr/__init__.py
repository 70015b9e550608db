"""Recognize the text of page images in sandboxed processes.

The models of PP-OCR are part of the `rapidocr` wheel: nothing is downloaded. Each page is drawn and
recognized in a separate process, with one thread, no network and the limits of `LIMITS`.
"""

from app.engines.ocr.model import LIMITS, RecognizedPage, RecognizedWord
from app.engines.ocr.service import recognize_page, stop_server

__all__ = ["LIMITS", "RecognizedPage", "RecognizedWord", "recognize_page", "stop_server"]
