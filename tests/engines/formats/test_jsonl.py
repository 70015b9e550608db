"""Label sets as JSON Lines."""

import json
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.formats.documents import start, write
from tests.factories.properties import examples

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def lines(data: bytes) -> list[Any]:
    assert data == b"" or data.endswith(b"\n")
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


@examples(200)
@given(rows=st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5))
def test_what_goes_in_comes_out(rows: list[dict[str, Any]]) -> None:
    assert lines(write("jsonl", rows)) == rows


def test_json_passes_through_unread() -> None:
    out, writer = start("jsonl")
    writer.write_json(b'{"big":123456789012345678901234567890,"n":1.0}')
    writer.close()
    assert out.getvalue() == b'{"big":123456789012345678901234567890,"n":1.0}\n'


def test_pieces_are_written_as_they_come() -> None:
    out, writer = start("jsonl")
    for piece in (b'{"a":[', b"1", b",2", b"]"):
        writer.write_chunk(piece, is_last=False)
    assert writer.row_count == 0
    writer.write_chunk(b"}", is_last=True)
    writer.write_chunk(b"x" * 300_000, is_last=False)
    assert out.getvalue().startswith(b'{"a":[1,2]}\nxxx')


def test_a_line_is_a_line_whatever_the_layout() -> None:
    out, writer = start("jsonl")
    writer.write_json(json.dumps({"a": ["x\ny", "\u2028"]}, indent=2).encode())
    writer.write_json(b'{"b":\r\n1}\n')
    writer.close()
    assert lines(out.getvalue()) == [{"a": ["x\ny", "\u2028"]}, {"b": 1}]


def test_it_is_written_in_chunks_and_the_file_stays_open() -> None:
    out, writer = start("jsonl")
    line = orjson.dumps({"text": "x" * 1000})
    for _ in range(1000):
        writer.write_json(line)
    assert 500_000 < len(out.getvalue()) < 1_010_000
    writer.close()
    writer.close()
    assert not out.closed
    assert lines(out.getvalue()) == [{"text": "x" * 1000}] * 1000
