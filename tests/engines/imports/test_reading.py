"""Readers of import files continue at any position, and count records."""

import io
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.imports import READERS, lines
from app.engines.imports.detection import detect_format
from app.engines.imports.encodings import open_as_utf8
from app.engines.imports.records import START, ImportFileError

_LINES = st.lists(
    st.one_of(
        st.sampled_from([b"", b"  ", b"{", b"[1]", b'{"text": "x"}', b"\xff", b'"a,b"', b"x" * 50]),
        st.binary(max_size=20),
    ),
    max_size=12,
)


def _read(format_id: str, data: bytes, start: Any = START) -> list[Any]:
    return list(READERS[format_id].read(io.BytesIO(data), start))


def _build_file(format_id: str, rows: list[bytes], end: bytes) -> bytes:
    if format_id == "label_studio":
        # The elements must be valid JSON.
        return b"[" + (b"," + end).join(orjson.dumps(row.hex()) for row in rows) + b"]"
    return b"text,lot\n" + end.join(rows)


@pytest.mark.parametrize("format_id", READERS)
@given(rows=_LINES, end=st.sampled_from([b"\n", b"\r\n"]))
def test_reading_continues_at_every_record(format_id: str, rows: list[bytes], end: bytes) -> None:
    data = _build_file(format_id, rows, end)
    whole = _read(format_id, data)
    assert READERS[format_id].count(io.BytesIO(data)) == len(whole)
    assert [record.number for record in whole] == list(range(1, len(whole) + 1))
    for position, record in enumerate(whole):
        assert (record.content is None) == (record.error is not None)
        rest = _read(format_id, data, record.next)
        assert [r[:3] for r in rest] == [r[:3] for r in whole[position + 1 :]]


def test_lines_over_the_limit_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 10)
    data = b"short\n" + b"x" * 11 + b"\n" + b"y" * 5_000_000 + b"\nlast"
    found = list(lines.read_lines(io.BytesIO(data), 0))
    assert [line.data for line in found] == [b"short\n", None, None, b"last"]
    assert found[-1].end == len(data)


def test_the_file_stays_open_for_its_owner() -> None:
    file = io.BytesIO(b'{"a": 1}\n{"b": 2}\n')
    next(iter(READERS["jsonl"].read(file, START)))
    assert not file.closed


@pytest.mark.parametrize("header", ['text,"a; b; c; d"', "text\ta;b", 'text|"a,b,c"', "text;a,b,c"])
def test_the_delimiter_separates_the_text(header: str) -> None:
    (record,) = _read("csv", f"{header}\nx{header[4]}y\n".encode())
    assert record.content is not None
    assert record.content.properties["text"] == "x"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_line_of_excel_before_the_header_states_the_delimiter(mark: str) -> None:
    data = f"{mark}sep=;\r\ntext;a,b\r\nx;y\r\n".encode()
    assert detect_format(data, "rows.txt") == "csv"
    (record,) = _read("csv", data)
    assert record.content is not None
    assert record.content.properties == {"text": "x", "metadata": {"a,b": "y"}}
    assert _read("csv", data, record.next) == []


def test_a_file_without_a_header() -> None:
    for data in (b"", b"\n", b"a;b\n"):
        with pytest.raises(ImportFileError):
            _read("csv", data)


@given(
    text=st.text(),
    encoding=st.sampled_from(["utf-16-le", "utf-16-be", "utf-8"]),
    offset=st.integers(0, 40),
)
def test_utf16_is_read_as_utf8_from_any_offset(text: str, encoding: str, offset: int) -> None:
    mark = "" if encoding == "utf-8" else "\ufeff"
    file = open_as_utf8(io.BytesIO((mark + text).encode(encoding)))
    file.seek(offset)
    assert file.read() == text.encode()[offset:]


def test_only_damaged_characters_of_utf16_are_rejected() -> None:
    data = "\ufefftext\na\ud800b\nc\nd".encode("utf-16-le", "surrogatepass")
    records = list(READERS["csv"].read(open_as_utf8(io.BytesIO(data + b"\x41")), START))
    texts = [record.content and record.content.properties["text"] for record in records]
    assert texts == [None, "c", None]
