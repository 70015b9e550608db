"""Read RTF with striprtf: the visible text, with a tab between the cells of a table row.

Headers come first, notes and footers after the body, and text boxes where they are anchored.
Paragraphs of lists begin with their number; bullets are left out.
"""

import re
from collections.abc import Callable

from striprtf.striprtf import font_table_group, rtf_to_text

from app.engines.documents.model import ParseFailed
from app.engines.documents.text import clean_text

_SIGNATURE = b"{\\rtf"
# Images are written as digits, which the library would read one by one.
_IMAGE = re.compile(rb"(?:[0-9a-fA-F]{32,}[\r\n]*){4,}")
# The library separates cells with a character that the text may also contain.
_CELL_END = re.compile(r"\\(?:nest)?cell(?![a-z])")
# A run of hidden text, or of text that was deleted while changes were tracked.
_HIDDEN_RUN = re.compile(
    r"\{(?:\\(?!(?:v|deleted)(?![a-z0-9-]))[a-z]++-?[0-9]*+[ \r\n]*+)*+\\(?:v|deleted)(?![a-z0-9-])"
    r"(?:[^{}\\]|\\(?!v0)[^\n])*+\}"
)
# The library appends the address after this word to the visible text of a link.
_LINK = re.compile(r'HYPERLINK(?=\s")')
# Parts of the page that the library leaves out: headers, footers, notes, and drawings (`_SHAPE`).
_PAGE_PART = re.compile(r"\{\s*(?:\\\*)?\\(header|footer|footnote)[lrf]?(?![a-z])")
_SHAPE = re.compile(r"\{\s*\\shp(?:grp)?(?![a-z])")
_TEXT_BOX = re.compile(r"\{\s*\\shptxt(?![a-z])")
# The number or bullet of a paragraph, which programs write for readers that do not support lists.
_LIST_NUMBER = re.compile(r"\{\s*\\(?:listtext|pntext)(?![a-z])")
_SYMBOL = re.compile(r"\\u-?\d+ ?(?:\?|\\'[0-9a-f]{2})?|\\'[0-9a-f]{2}|\\[^a-z]")
_CONTROL_WORD = re.compile(r"\\(?!u-?\d)[a-z]+-?\d* ?|[{}\r\n]")
_TAB = re.compile(r"\\tab(?![a-z]) ?")
_TABLE_WORD = re.compile(r"\\(trowd|intbl|row|pard|par|line)(?![a-z])-?\d* ?|\\[^a-z]|[{}]")
_BRACE = re.compile(r"\\[^a-z]|[{}]")
_CODE_PAGE = re.compile(r"\\ansicpg\d{1,5}")
_TRAILING_TABS = re.compile(r"\t+$", re.MULTILINE)


def extract_text(data: bytes) -> str:
    """Return the text of an RTF file. Raises `ParseFailed`."""
    if not data.lstrip().startswith(_SIGNATURE):
        raise ParseFailed("unreadable", "The file is damaged or not RTF.")
    source = _CELL_END.sub(r"\\tab", _IMAGE.sub(b"", data).decode("latin-1"))
    source = _LINK.sub("HYPERLINK{}", _HIDDEN_RUN.sub("{}", source))
    source = _replace_groups(source, _SHAPE, _read_text_boxes)
    source = _replace_groups(source, _LIST_NUMBER, _read_list_number)
    source = _join_cell_paragraphs(source)
    parts: dict[str, list[str]] = {"header": [], "footnote": [], "footer": []}

    def collect_part(name: str, content: str) -> str:
        parts[name].append(content)
        return "{}"

    body = _replace_groups(source, _PAGE_PART, collect_part)
    code_page_match = _CODE_PAGE.search(source)
    fonts: str = font_table_group(source)  # type: ignore[no-untyped-call]
    preamble = r"{\rtf1\ansi" + (code_page_match[0] if code_page_match else "") + fonts
    sections = [
        *_read_parts(preamble, parts["header"]),
        _read_source(body),
        *_read_parts(preamble, parts["footnote"]),
        *_read_parts(preamble, parts["footer"]),
    ]
    return "\n".join(section for section in sections if section)


def _replace_groups(
    source: str, opening: re.Pattern[str], replace: Callable[[str, str], str]
) -> str:
    """Replace each RTF group in `source` that starts with `opening`, and return the new source.

    `replace` returns the replacement. It receives the text of the pattern's first capturing group,
    or "" if the pattern has no capturing group, and the content after the match. If an RTF group
    has no end, the text from its start on is left unchanged.
    """
    pieces: list[str] = []
    position = 0
    while match := opening.search(source, position):
        end = _find_group_end(source, match.end())
        if end is None:
            break
        name = match[1] if opening.groups else ""
        pieces += [source[position : match.start()], replace(name, source[match.end() : end - 1])]
        position = end
    return "".join([*pieces, source[position:]])


def _find_group_end(source: str, start: int) -> int | None:
    """Return the end of the RTF group whose content starts at `start`, or None if it has no end."""
    depth = 1
    for match in _BRACE.finditer(source, start):
        if match[0] in ("{", "}"):
            depth += 1 if match[0] == "{" else -1
            if depth == 0:
                return match.end()
    return None


def _read_text_boxes(_name: str, shape: str) -> str:
    """Return the content of the text boxes of a drawing as RTF groups that striprtf reads."""
    texts: list[str] = []

    def collect_text(_name: str, content: str) -> str:
        end = "" if content.rstrip(" }\r\n").endswith(r"\par") else r"\par"
        texts.append(rf"{{\par{{{content.removeprefix(' ')}}}{end}}}")
        return ""

    _replace_groups(shape, _TEXT_BOX, collect_text)
    return "".join(texts)


def _read_list_number(_name: str, content: str) -> str:
    """Return a paragraph's number and a space as an RTF group, or an empty group for a bullet.

    A bullet is a single character other than a digit, or has no letters and digits.
    """
    text = _SYMBOL.sub("*", _CONTROL_WORD.sub("", content)).strip()
    if not text.isdecimal() and (len(text) == 1 or not any(map(str.isalnum, text))):
        return "{}"
    return f"{{{_TAB.sub('', content).removeprefix(' ')}{{ }}}}"


def _join_cell_paragraphs(source: str) -> str:
    """Replace the ends of paragraphs and lines inside table cells with spaces."""
    is_in_cell = [False]  # for each open group, whether its current paragraph is in a table

    def replace_word(match: re.Match[str]) -> str:
        if match[0] == "{":
            is_in_cell.append(is_in_cell[-1])
        elif match[0] == "}":
            del is_in_cell[max(1, len(is_in_cell) - 1) :]
        elif match[1] in ("par", "line"):
            return "{ }" if is_in_cell[-1] else match[0]
        elif match[1]:
            is_in_cell[-1] = match[1] in ("trowd", "intbl")
        return match[0]

    return _TABLE_WORD.sub(replace_word, source)


def _read_parts(preamble: str, contents: list[str]) -> list[str]:
    """Return the text of each header, footer or note, without duplicates."""
    sources = dict.fromkeys(contents)
    texts = (_read_source(f"{preamble}{{{content}}}}}").strip() for content in sources)
    return list(dict.fromkeys(texts))


def _read_source(source: str) -> str:
    text: str = rtf_to_text(source, errors="replace")  # type: ignore[no-untyped-call]
    # Characters outside the basic multilingual plane are written as two surrogates.
    full_text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _TRAILING_TABS.sub("", clean_text(full_text)).strip("\n")
