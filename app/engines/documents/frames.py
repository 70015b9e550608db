"""Define the types of frames that the entry functions send; see `app.engines.sandbox`."""

PAGE = b"P"  # JSON, one page of a paged document
TEXT = b"T"  # UTF-8, the whole text of a flowing document
LANGUAGE = b"L"  # UTF-8, ISO 639-1, empty if uncertain; sent after the pages or the text
IMAGE = b"I"  # the bytes of a rendered page
FAILED = b"F"  # JSON {code, message}
ATTACHMENT = b"A"  # UTF-8, the name of a file that an email carries
CONTENT = b"C"  # the bytes of that file
PAGE_NOT_FOUND = b"M"  # JSON {count}: the document has no page of the requested number
FRAME_TYPES = frozenset((PAGE, TEXT, LANGUAGE, IMAGE, FAILED, ATTACHMENT, CONTENT, PAGE_NOT_FOUND))

BOX_UNITS = 100_000
"""The width and the height of a page in the boxes of a `PAGE`, whose sides are whole numbers."""
