"""Label sets as one JSON array."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.formats.documents import start, write
from tests.engines.formats.test_jsonl import JSON
from tests.factories.properties import examples


def test_no_rows_are_an_empty_array() -> None:
    data = write("json", [])
    assert data == b"[\n]\n"
    assert json.loads(data) == []


@examples(200)
@given(rows=st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5))
def test_what_goes_in_comes_out(rows: list[dict[str, Any]]) -> None:
    data = write("json", rows)
    assert json.loads(data) == rows
    assert len(data.splitlines()) == len(rows) + 2


def test_each_tag_set_has_its_line_however_it_arrives() -> None:
    out, writer = start("json")
    writer.write_json(b'{"big":123456789012345678901234567890,\r\n"n":1.0}')
    for piece in (b'{"a":[', b"1", b",2", b"]"):
        writer.write_chunk(piece, is_last=False)
    writer.write_chunk(b"}", is_last=True)
    writer.write_json(b'{"half":"\\ud800"}')
    writer.close()
    assert out.getvalue().split(b"\n") == [
        b"[",
        b'{"big":123456789012345678901234567890,  "n":1.0},',
        b'{"a":[1,2]},',
        b'{"half":"\\ud800"}',
        b"]",
        b"",
    ]


@pytest.mark.parametrize("text", ["a\nb\r\n", '"', "\\", "\u2028", "x" * 1_000_000, "\x00\x01"])
def test_any_text_is_read_back(text: str) -> None:
    rows = [{"text": text}] * 2
    assert orjson.loads(write("json", rows)) == rows


def test_it_is_written_in_chunks() -> None:
    out, writer = start("json")
    for _ in range(1000):
        writer.write_json(orjson.dumps({"text": "x" * 1000}))
    assert 500_000 < len(out.getvalue()) < 1_010_000
    writer.close()
    assert not out.closed
    assert len(json.loads(out.getvalue())) == 1000
