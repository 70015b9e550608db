"""Decode bytes to text, and split text into words."""

import codecs
import re
import unicodedata

from app.engines.documents.language import score

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Legacy encodings with the languages written in them (ISO 639-1). On a tie the first one is used,
# so the encodings that are more common today come first.
_LEGACY = {
    "cp1252": "af ca da de en es eu fi fr ga gl is it lb nl nn no oc pt sv",
    "cp1250": "bs cs hr hu pl ro sh sk sl sq sr",
    "cp1251": "be bg mk ru sr uk",
    "cp932": "ja",
    "gb18030": "zh",
    "cp949": "ko",
    "big5": "zh",
    "euc_jp": "ja",
    "cp1253": "el",
    "cp1254": "az tr",
    "cp1255": "he yi",
    "cp1256": "ar fa ur",
    "koi8_r": "ru",
    "iso8859_2": "bs cs hr hu pl ro sh sk sl sq sr",
    "cp1257": "et lt lv",
}
# Python codecs that are not for text files; one of them takes quadratic time.
_NOT_FOR_FILES = {"idna", "punycode", "raw_unicode_escape", "unicode_escape", "undefined"}
_SAMPLE = 1 << 16
_LEAD = 200
_HIGH = re.compile(rb"[\x80-\xff]")
_FEW_HIGH_BYTES = 4
_MORE_CHAOS = 0.2

# Han and kana are written without spaces, so each of these characters is a word.
UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
WORD = re.compile(rf"[{UNSPACED}][{_SELECTORS}]*|[^\s{UNSPACED}]+")

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_WITHOUT_CONTROLS: dict[int, str | None] = {
    **dict.fromkeys((*range(0x01, 0x09), *range(0x0E, 0x20), *range(0x7F, 0xA0), 0xFFFE, 0xFFFF)),
    **dict.fromkeys((0x0B, 0x1C, 0x1D, 0x1E, 0x85), "\n"),
    0x1F: " ",
}


def clean(text: str) -> str:
    """Replace NUL and lone surrogates by U+FFFD one for one, so that offsets are preserved."""
    return _UNSTORABLE.sub("\ufffd", text)


def normalize(text: str) -> str:
    """Return text in composed form (NFC) and without control characters.

    Tabs, line feeds, carriage returns and form feeds are kept; other line ends become line feeds.
    """
    if text.isascii() and text.isprintable():
        return text
    if _CONTROLS.search(text):
        text = text.translate(_WITHOUT_CONTROLS)
    return unicodedata.normalize("NFC", text)


def bom_encoding(data: bytes) -> tuple[str, int] | None:
    """Return the encoding of the byte order mark and the mark's length, or None without a mark."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding, len(mark)
    return None


def bare_utf16(data: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark by the NUL in every other byte of Latin text."""
    head = data[:4096]
    half = len(head) // 2
    low, high = head[1::2].count(0), head[0::2].count(0)
    if low and low > 0.6 * half and high < 0.1 * half:
        return "utf-16-le"
    if high and high > 0.6 * half and low < 0.1 * half:
        return "utf-16-be"
    return None


def decode(data: bytes, declared: str | None = None) -> str:
    """Decode text of any encoding.

    Tries the byte order mark, then `declared`, then UTF-8, then a guess. The mark is not part of
    the result; line ends are unchanged. Never raises: bytes that cannot be decoded become U+FFFD.
    """
    if mark := bom_encoding(data):
        encoding, length = mark
        return clean(data[length:].decode(encoding, "replace"))
    if declared and (text := _decode_as(data, declared)) is not None:
        return clean(text)
    return clean(_decode_undeclared(data))


def _decode_undeclared(data: bytes) -> str:
    if wide := bare_utf16(data):
        return data.decode(wide, "replace")
    if b"\x1b$" in data and (text := _decode_as(data, "iso2022_jp")) is not None:
        return text  # before UTF-8, because these seven-bit bytes are valid UTF-8
    if (text := _decode_as(data, "utf-8")) is not None:
        return text
    if (text := _decode_damaged_utf8(data)) is not None:
        return text
    return data.decode(_guess_legacy(data), "replace")


def _decode_as(data: bytes, encoding: str) -> str | None:
    try:
        name = codecs.lookup(encoding.strip()).name
        if name in _NOT_FOR_FILES:
            return None
        # All browsers decode these two as Windows-1252 (WHATWG Encoding Standard, 4.2).
        return data.decode("cp1252" if name in ("iso8859-1", "ascii") else name)
    except (LookupError, ValueError):
        return None


def _decode_damaged_utf8(data: bytes) -> str | None:
    """Decode UTF-8 with a few invalid bytes; valid multi-byte sequences rarely arise by chance."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    valid = len(re.findall(r"[^\x00-\x7f\ufffd]", text))
    return text if broken * 10 <= valid else None


def _guess_legacy(data: bytes) -> str:
    sample = _sample_lines(data)
    if len(_HIGH.findall(sample)) < _FEW_HIGH_BYTES and _decode_as(sample, "cp1252"):
        return "cp1252"
    from charset_normalizer import from_bytes  # noqa: PLC0415 - 30 ms that few documents need

    matches = list(from_bytes(sample, cp_isolation=list(_LEGACY)))
    if not matches:
        return "cp1252"
    limit = matches[0].chaos + _MORE_CHAOS
    likely = {name for m in matches if m.chaos <= limit for name in m.could_be_from_charset}
    return max(
        (name for name in _LEGACY if name in likely),
        key=lambda name: _score_encoding(sample.decode(name, "replace"), name),
        default="cp1252",
    )


def _score_encoding(text: str, encoding: str) -> float:
    """Return how likely the text is in a language for which the encoding is used."""
    language, probability = score(text)
    return probability if language in _LEGACY[encoding].split() else probability / 2


def _sample_lines(data: bytes) -> bytes:
    """Return a sample of the lines with non-ASCII bytes, which distinguish encodings."""
    lines, size = [], 0
    for line in data.split(b"\n"):
        first = None if line.isascii() else _HIGH.search(line)
        if first:
            start = max(0, first.start() - _LEAD)
            lines.append(line[start : start + _SAMPLE])
            size += len(lines[-1])
        if size >= _SAMPLE:
            break
    return b"\n".join(lines)[:_SAMPLE]
