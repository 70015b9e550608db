"""Recognize the text of page images in sandboxed processes.

The models of PP-OCR are part of the `rapidocr` wheel, so nothing is downloaded. Each page is
rendered and recognized in a separate process, with one thread, no network access, and the limits in
`service.LIMITS`.
"""

from app.engines.ocr.service import RecognizedPage, RecognizedWord, recognize_page, stop_server

__all__ = ["RecognizedPage", "RecognizedWord", "recognize_page", "stop_server"]
