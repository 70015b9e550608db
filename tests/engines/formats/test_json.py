"""Label sets as one JSON array."""

import io
import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.formats import FORMATS
from app.engines.formats.model import Writer
from tests.engines.formats.test_jsonl import JSON
from tests.factories.properties import examples


def start() -> tuple[io.BytesIO, Writer]:
    out = io.BytesIO()
    return out, FORMATS["json"].writer(out, [], {})


def test_no_rows_are_an_empty_array() -> None:
    out, writer = start()
    writer.close()
    writer.close()
    assert out.getvalue() == b"[\n]\n"
    assert json.loads(out.getvalue()) == []


@examples(200)
@given(rows=st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5))
def test_what_goes_in_comes_out(rows: list[dict[str, Any]]) -> None:
    out, writer = start()
    for row in rows:
        writer.write_json(json.dumps(row).encode())
    writer.close()
    assert json.loads(out.getvalue()) == rows
    assert writer.row_count == len(rows)
    assert len(out.getvalue().splitlines()) == len(rows) + 2


def test_each_tag_set_has_its_line_however_it_arrives() -> None:
    out, writer = start()
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
    out, writer = start()
    for _ in range(2):
        writer.write_json(json.dumps({"text": text}).encode())
    writer.close()
    assert orjson.loads(out.getvalue()) == [{"text": text}] * 2


def test_it_is_written_in_chunks() -> None:
    out, writer = start()
    for _ in range(1000):
        writer.write_json(orjson.dumps({"text": "x" * 1000}))
    assert 500_000 < len(out.getvalue()) < 1_010_000
    writer.close()
    assert not out.closed
    assert len(json.loads(out.getvalue())) == 1000
