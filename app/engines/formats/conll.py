"""Write CoNLL files: one word per line with its IOB2 tag, and one block per tag set."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from app.engines.formats.model import Fields, Format, Options, Page, Row, Source, Word
from app.engines.formats.parsing import DocumentWriter
from app.engines.formats.text_spans import list_text_spans, select_disjoint_spans, tag_words

_CHUNK_CHARS = 1 << 18
_BLOCK_START = "-DOCSTART-"
_TOKEN = re.compile(r"\S+")
# Characters at which a reader may split the line: white space, controls and line separators.
_BREAKING_CHARACTERS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_FILLER_COLUMNS = {"plain": "", "boxes": " -X- -X- -X- -X-", "conll2003": " -X- O"}
"""The columns between the token and its tag, for each value of the option `columns`.

For `boxes`, only the first line of a block has these columns; words have their boxes instead.
"""
_NO_BOX = (0.0, 0.0, 0.0, 0.0)

_OPTIONS: dict[str, Any] = {
    "columns": {
        "enum": list(_FILLER_COLUMNS),
        "default": "plain",
        "description": (
            "The columns of each line. plain: token and tag. boxes: token, x0, y0, x1, y1 "
            "(from 0 to 1, measured from the top left of the page) and tag. conll2003: token, "
            "-X-, O and tag, the four columns of CoNLL-2003."
        ),
    },
}


class ConllWriter(DocumentWriter):
    """A writer of one block per tag set, in which the words of each page are one sequence."""

    def __init__(self, out: BinaryIO, _fields: Fields, options: Options, source: Source) -> None:
        # Each tag names its field, so the fields are not needed.
        super().__init__(source)
        self._out = out
        self._columns = options.get("columns", "plain")
        self._lines: list[str] = []
        self._char_count = 0

    def _write_document(self, row: Row, pages: Iterator[Page]) -> None:
        text_spans = select_disjoint_spans(list_text_spans(row))
        self._add_line(f"{_BLOCK_START}{_FILLER_COLUMNS[self._columns]} O")
        self._add_line("")
        has_words = False
        for page in pages:
            if page.words:
                self._add_sequence(tag_words(page.words, text_spans))
                has_words = True
        if not has_words:
            words = list(_split_text(row.get("text") or ""))
            if words:
                self._add_sequence(tag_words(words, text_spans))

    def _end_file(self) -> None:
        self._flush()

    def _add_sequence(self, tagged_words: Sequence[tuple[Word, str]]) -> None:
        for word, tag in tagged_words:
            self._add_line(f"{_clean_token(word.text)}{self._format_columns(word)} {tag}")
        self._add_line("")

    def _format_columns(self, word: Word) -> str:
        if self._columns == "boxes":
            return "".join(f" {side:.5f}" for side in word.box)
        return _FILLER_COLUMNS[self._columns]

    def _add_line(self, line: str) -> None:
        self._lines.append(line)
        self._char_count += len(line)
        if self._char_count > _CHUNK_CHARS:
            self._flush()

    def _flush(self) -> None:
        if self._lines:
            text = "\n".join([*self._lines, ""])
            self._out.write(text.encode("utf-8", "replace"))
        self._lines, self._char_count = [], 0


def _split_text(text: str) -> Iterator[Word]:
    """Split text at white space, and yield the tokens as words without a box."""
    for match in _TOKEN.finditer(text):
        yield Word(match.group(), _NO_BOX, *match.span())


def _clean_token(text: str) -> str:
    """Replace white space and control characters, and escape a token that would begin a block."""
    token = _BREAKING_CHARACTERS.sub("\ufffd", text) or "\ufffd"
    return f"_{token}" if token.startswith(_BLOCK_START) else token


def _render_sample() -> str:
    rows = [
        ("Invoice", "O"),
        ("RE-1042", "B-invoice_number"),
        ("Total", "O"),
        ("119.00", "B-total"),
        ("EUR", "I-total"),
    ]
    lines = [f"{_BLOCK_START} O", "", *(f"{token} {tag}" for token, tag in rows), "", ""]
    return "\n".join(lines)


FORMAT = Format(
    id="conll",
    name="CoNLL (IOB2)",
    media_type="text/plain",
    extension="conll",
    description=(
        "One word per line with its IOB2 tag, for token classification, and one -DOCSTART- block "
        "per tag set. Keeps only tags with offsets in the text, without their values; if tags "
        "overlap, the longest tag is kept."
    ),
    options=_OPTIONS,
    keeps=("evidence", "text"),
    default_parts=("evidence", "text"),
    required_parts=("evidence",),
    sample=_render_sample(),
    document_writer=ConllWriter,
)
