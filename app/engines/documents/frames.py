"""Define the types of frames that the entry functions send; see `app.engines.sandbox`."""

PAGE = b"P"  # JSON, one page of a document
PAGES = b"G"  # the next pages of a paged document in the format of `PAGE`, one on each line
TEXT = b"T"  # UTF-8, the whole text of a document without pages
LANGUAGE = b"L"  # UTF-8, ISO 639-1, empty if unknown; sent after the pages or the text
IMAGE = b"I"  # an image file of a rendered page
FAILED = b"F"  # JSON {code, message}
ATTACHMENT = b"A"  # UTF-8, the name of an attachment
CONTENT = b"C"  # the bytes of the attachment named in the preceding frame
PAGE_NOT_FOUND = b"M"  # JSON {count}: the requested page does not exist; `count` pages exist
FRAME_TYPES = frozenset(
    (PAGE, PAGES, TEXT, LANGUAGE, IMAGE, FAILED, ATTACHMENT, CONTENT, PAGE_NOT_FOUND)
)

BOX_UNITS = 100_000
"""The width and the height of every page in the unit of box coordinates, which are integers."""

PAGES_FRAME_BYTES = 1 << 15
"""The size in bytes at which buffered pages are sent: half the capacity of a pipe."""
