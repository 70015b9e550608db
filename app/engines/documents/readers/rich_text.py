"""Read RTF with striprtf: the visible text, with a tab between the cells of a table row."""

import re

from striprtf.striprtf import rtf_to_text

from app.engines.documents.model import ParseFailed
from app.engines.documents.text import normalize_text, replace_unstorable_chars

_SIGNATURE = b"{\\rtf"
# Images are written as digits, which the library would read one by one.
_IMAGE = re.compile(rb"(?:[0-9a-fA-F]{32,}[\r\n]*){4,}")
# The library separates cells by a character that the text may also contain.
_CELL_END = re.compile(r"\\(?:nest)?cell(?![a-z])")
# A run of hidden text, or of text that was deleted while changes were tracked.
_HIDDEN_RUN = re.compile(
    r"\{(?:\\(?!(?:v|deleted)(?![a-z0-9-]))[a-z]++-?[0-9]*+[ \r\n]*+)*+\\(?:v|deleted)(?![a-z0-9-])"
    r"(?:[^{}\\]|\\(?!v0)[^\n])*+\}"
)
_TRAILING_TABS = re.compile(r"\t+$", re.MULTILINE)


def extract_text(data: bytes) -> str:
    """Return the text of an RTF file. Raises `ParseFailed`."""
    if not data.lstrip().startswith(_SIGNATURE):
        raise ParseFailed("unreadable", "The file is damaged or not RTF.")
    source = _CELL_END.sub(r"\\tab", _IMAGE.sub(b"", data).decode("latin-1"))
    source = _HIDDEN_RUN.sub("{}", source)
    text: str = rtf_to_text(source, errors="replace")  # type: ignore[no-untyped-call]
    # Characters outside the basic multilingual plane are written as two surrogates.
    full_text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _TRAILING_TABS.sub("", normalize_text(replace_unstorable_chars(full_text))).strip("\n")
