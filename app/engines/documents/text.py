"""Decode bytes to text, and split text into words."""

import codecs
import re

from app.engines.documents.language import identify_language
from app.engines.normalization import limit_combining_marks, normalize

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Legacy encodings with the languages written in them (ISO 639-1). On a tie, the encoding that comes
# first is used, so the more common encodings come first.
_LEGACY_ENCODINGS = {
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
# Programs declare these encodings for text in a superset of the encoding, so browsers decode the
# superset (WHATWG Encoding Standard, 4.2). Some of these labels are unknown to Python.
_ACTUAL_ENCODINGS = {
    "ascii": "cp1252",
    "big5": "cp950",
    "euc_jp": "euc_jis_2004",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso-8859-8-i": "iso8859-8",
    "iso8859-1": "cp1252",
    "iso8859-11": "cp874",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "tis-620": "cp874",
    "windows-874": "cp874",
    "x-sjis": "cp932",
}
_ISO_2022_JP_ESCAPE = re.compile(rb"\x1b(\$[@B]|\([BIJ])")
_HIGH_BYTE_TABLE = bytes.maketrans(bytes(range(0x21, 0x7F)), bytes(range(0xA1, 0xFF)))
# Python codecs that are not for text files; one codec even takes quadratic time.
_UNSUITABLE_CODECS = {"idna", "punycode", "raw_unicode_escape", "unicode_escape", "undefined"}
_SAMPLE_BYTES = 1 << 16
_CONTEXT_BYTES = 200
_NON_ASCII = re.compile(rb"[\x80-\xff]")
_MIN_NON_ASCII_BYTES = 4
# Encodings whose chaos exceeds the best result by at most this much are compared by language. Chaos
# is the measure of charset_normalizer for text that looks wrong, from 0 to 1.
_CHAOS_TOLERANCE = 0.2

# Han and kana characters are written without spaces, so each character is a word.
UNSPACED_CHARS = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_VARIATION_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
WORD_PATTERN = re.compile(rf"[{UNSPACED_CHARS}][{_VARIATION_SELECTORS}]*|[^\s{UNSPACED_CHARS}]+")

_UNSTORABLE_CHARS = re.compile("[\x00\ud800-\udfff]")
# Soft hyphens, zero width spaces, word joiners and byte order marks are not displayed.
_INVISIBLE_CHARACTERS = "\xad\u200b\u2060\ufeff"
_CONTROL_CHARACTERS = re.compile(
    f"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff{_INVISIBLE_CHARACTERS}]"
)
_CONTROL_REPLACEMENTS: dict[int, str | None] = {
    **dict.fromkeys((*range(0x01, 0x09), *range(0x0E, 0x20), *range(0x7F, 0xA0), 0xFFFE, 0xFFFF)),
    **dict.fromkeys(map(ord, _INVISIBLE_CHARACTERS)),
    **dict.fromkeys((0x0B, 0x1C, 0x1D, 0x1E, 0x85), "\n"),
    0x1F: " ",
}


def replace_unstorable_chars(text: str) -> str:
    """Replace each NUL and each lone surrogate with one U+FFFD, so that offsets are preserved.

    Also replaces excessive combining marks (see `limit_combining_marks`), so that the search index
    can normalize the text.
    """
    return limit_combining_marks(_UNSTORABLE_CHARS.sub("\ufffd", text))


def normalize_text(text: str) -> str:
    """Normalize text to composed form (NFC), and remove control and invisible characters.

    Tabs, line feeds, carriage returns, form feeds and NULs are kept. Other control characters that
    break lines become line feeds, and U+001F becomes a space.
    """
    if text.isascii() and text.isprintable():
        return text
    if _CONTROL_CHARACTERS.search(text):
        text = text.translate(_CONTROL_REPLACEMENTS)
    return normalize("NFC", text)


def clean_text(text: str) -> str:
    """Replace unstorable characters (see `replace_unstorable_chars`), and normalize the text."""
    return normalize_text(replace_unstorable_chars(text))


def detect_bom(data: bytes) -> tuple[str, int] | None:
    """Return the encoding and the length of the byte order mark, or None if there is no mark."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return encoding, len(bom)
    return None


def detect_utf16_without_bom(data: bytes) -> str | None:
    """Return the codec of UTF-16 without a byte order mark, or None if UTF-16 is not recognized.

    Only mostly Latin text is recognized: in UTF-16, every other byte of such text is NUL.
    """
    head = data[:4096]
    half = len(head) // 2
    even_nul_count, odd_nul_count = head[0::2].count(0), head[1::2].count(0)
    if odd_nul_count and odd_nul_count > 0.6 * half and even_nul_count < 0.1 * half:
        return "utf-16-le"
    if even_nul_count and even_nul_count > 0.6 * half and odd_nul_count < 0.1 * half:
        return "utf-16-be"
    return None


def decode_text(data: bytes, declared_encoding: str | None = None) -> str:
    """Decode bytes to text in their most likely encoding.

    Tries the byte order mark, `declared_encoding`, UTF-16 without a mark, ISO-2022-JP and UTF-8,
    and then guesses. The mark is not part of the result; line breaks are unchanged. Bytes that
    cannot be decoded become U+FFFD, like unstorable characters, so this function never fails.
    """
    if bom := detect_bom(data):
        encoding, length = bom
        return replace_unstorable_chars(data[length:].decode(encoding, "replace"))
    if declared_encoding and (text := _decode_as(data, declared_encoding)) is not None:
        return replace_unstorable_chars(text)
    return replace_unstorable_chars(_decode_undeclared(data))


def _decode_undeclared(data: bytes) -> str:
    if utf16 := detect_utf16_without_bom(data):
        return data.decode(utf16, "replace")
    if b"\x1b$" in data and (text := _decode_iso_2022_jp(data)) is not None:
        return text  # before UTF-8, because these seven-bit bytes are valid UTF-8
    if (text := _decode_as(data, "utf-8")) is not None:
        return text
    if (text := _decode_damaged_utf8(data)) is not None:
        return text
    return data.decode(_guess_legacy_encoding(data), "replace")


def find_codec(encoding: str) -> str | None:
    """Return the codec name for a declared encoding, or None if it is unknown or unsuitable."""
    label = encoding.strip().lower()
    try:
        name = codecs.lookup(_ACTUAL_ENCODINGS.get(label, label)).name
    except (LookupError, ValueError):
        return None
    return None if name in _UNSUITABLE_CODECS else _ACTUAL_ENCODINGS.get(name, name)


def _decode_as(data: bytes, encoding: str) -> str | None:
    """Decode bytes, or return None if they are invalid or the encoding is unknown or unsuitable."""
    codec = find_codec(encoding)
    try:
        return None if codec is None else data.decode(codec)
    except (LookupError, ValueError):  # LookupError: the codec is not for text
        return None


def _decode_iso_2022_jp(data: bytes) -> str | None:
    """Decode ISO-2022-JP, or return None if the bytes are invalid.

    Python's codec rejects half-width katakana and the additional characters of Windows, such as
    `㈱`, which email programs send in this encoding. CP932 encodes the katakana, and EUC-JP the
    other characters, in the same bytes with the high bit set.
    """
    if (text := _decode_as(data, "iso2022_jp")) is not None:
        return text
    start, *sections = _ISO_2022_JP_ESCAPE.split(data)
    texts = [_decode_as(start, "ascii")]
    for escape, section in zip(sections[::2], sections[1::2], strict=True):
        if escape in (b"(B", b"(J"):
            texts.append(_decode_as(section, "ascii"))
        else:
            high_bytes = section.translate(_HIGH_BYTE_TABLE)
            texts.append(_decode_as(high_bytes, "cp932" if escape == b"(I" else "euc_jp"))
    return None if None in texts else "".join(filter(None, texts))


def _decode_damaged_utf8(data: bytes) -> str | None:
    """Decode UTF-8 that has a few invalid bytes, or return None if it has too many.

    Valid multi-byte sequences rarely arise by chance in other encodings.
    """
    text = data.decode("utf-8", "replace")
    invalid_count = text.count("\ufffd")
    valid_count = len(re.findall(r"[^\x00-\x7f\ufffd]", text))
    return text if invalid_count * 10 <= valid_count else None


def _guess_legacy_encoding(data: bytes) -> str:
    sample = _sample_lines(data)
    if len(_NON_ASCII.findall(sample)) < _MIN_NON_ASCII_BYTES and _decode_as(sample, "cp1252"):
        return "cp1252"
    from charset_normalizer import from_bytes  # noqa: PLC0415 - takes 30 ms, rarely needed

    matches = list(from_bytes(sample, cp_isolation=list(_LEGACY_ENCODINGS)))
    if not matches:
        return "cp1252"
    max_chaos = matches[0].chaos + _CHAOS_TOLERANCE
    likely_encodings = {
        name
        for match in matches
        if match.chaos <= max_chaos
        for name in match.could_be_from_charset
    }
    return max(
        (name for name in _LEGACY_ENCODINGS if name in likely_encodings),
        key=lambda name: _score_encoding(sample.decode(name, "replace"), name),
        default="cp1252",
    )


def _score_encoding(text: str, encoding: str) -> float:
    """Score an encoding by the probability of the language of `text`, which was decoded with it.

    The probability is halved if the encoding is not used for this language.
    """
    language, probability = identify_language(text)
    return probability if language in _LEGACY_ENCODINGS[encoding].split() else probability / 2


def _sample_lines(data: bytes) -> bytes:
    """Return at most `_SAMPLE_BYTES` bytes of the lines with non-ASCII bytes.

    Only non-ASCII bytes distinguish encodings.
    """
    lines, size = [], 0
    for line in data.split(b"\n"):
        match = None if line.isascii() else _NON_ASCII.search(line)
        if match:
            start = max(0, match.start() - _CONTEXT_BYTES)
            lines.append(line[start : start + _SAMPLE_BYTES])
            size += len(lines[-1])
        if size >= _SAMPLE_BYTES:
            break
    return b"\n".join(lines)[:_SAMPLE_BYTES]
