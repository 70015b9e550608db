"""Define the supported media types and their groups."""

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLS = "application/vnd.ms-excel"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
EPUB = "application/epub+zip"
RTF = "application/rtf"
HTML = "text/html"
MAIL = "message/rfc822"
MSG = "application/vnd.ms-outlook"
PLAIN = "text/plain"
MARKDOWN = "text/markdown"
CSV = "text/csv"
PNG = "image/png"
JPEG = "image/jpeg"
TIFF = "image/tiff"
WEBP = "image/webp"
GIF = "image/gif"
BMP = "image/bmp"
HEIC = "image/heic"

COMPOUND_FILE_SIGNATURE = bytes.fromhex("d0cf11e0a1b11ae1")
"""The first bytes of older Office files, Outlook emails and Office files with a password."""

MEDIA_TYPES: dict[str, tuple[str, ...]] = {
    PDF: (".pdf",),
    DOCX: (".docx",),
    XLSX: (".xlsx",),
    XLS: (".xls",),
    PPTX: (".pptx",),
    ODT: (".odt",),
    ODS: (".ods",),
    EPUB: (".epub",),
    RTF: (".rtf",),
    HTML: (".html", ".htm", ".xhtml"),
    MAIL: (".eml", ".mbox"),
    MSG: (".msg",),
    PLAIN: (".txt", ".text", ".log"),
    MARKDOWN: (".md", ".markdown"),
    CSV: (".csv",),
    PNG: (".png",),
    JPEG: (".jpg", ".jpeg", ".jpe", ".jfif"),
    TIFF: (".tif", ".tiff"),
    WEBP: (".webp",),
    GIF: (".gif",),
    BMP: (".bmp", ".dib"),
    HEIC: (".heic", ".heif", ".hif"),
}
"""The supported media types with their file name extensions, the most common extension first."""

MAIL_TYPES = frozenset({MAIL, MSG})
"""The media types of emails and mailboxes, from which attachments are extracted."""
VERBATIM_TYPES = frozenset({PLAIN, MARKDOWN, CSV})
"""The media types whose files are read as they are, without interpreting markup."""
SPREADSHEET_TYPES = frozenset({XLSX, XLS})
TEXT_BASED_TYPES = VERBATIM_TYPES | {HTML, MAIL}
IMAGE_TYPES = frozenset({PNG, JPEG, TIFF, WEBP, GIF, BMP, HEIC})
THREADED_TYPES = frozenset({HEIC})
"""The media types whose decoding library starts threads."""
PAGED_TYPES = IMAGE_TYPES | {PDF}
"""The media types whose files have pages; the text of other types is laid out on virtual pages."""
