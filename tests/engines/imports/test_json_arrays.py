"""The reader of JSON arrays: its memory, its positions, and files that are damaged."""

import io
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.imports import json_arrays
from app.engines.imports.json_arrays import JsonArrayReader
from app.engines.imports.records import START, ImportFileError, Record, RecordContent

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def _read(data: bytes) -> list[Record]:
    return list(JsonArrayReader(RecordContent).read(io.BytesIO(data), START))


@given(
    values=st.lists(st.dictionaries(st.text(max_size=3), _JSON, max_size=3), max_size=6),
    gap=st.sampled_from([b",", b" ,\n", b",\r\n\t"]),
    chunk=st.sampled_from([1, 2, 7, 1000]),
)
def test_elements_are_found_across_chunks(
    values: list[dict[str, Any]], gap: bytes, chunk: int
) -> None:
    data = b"\xef\xbb\xbf [" + gap.join(map(orjson.dumps, values)) + b"\n]\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_arrays, "_CHUNK_BYTES", chunk)
        records = _read(data)
    assert [record.content and record.content.properties for record in records] == values
    for record, value in zip(records, values, strict=True):
        assert data[: record.next.offset].endswith(orjson.dumps(value))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "must be a JSON array"),
        (b'{"a": 1}', "must be a JSON array"),
        (b"[", "is incomplete"),
        (b'[{"a": 1}', "is incomplete"),
        (b'[{"a": 1},', "is incomplete"),
        (b'[{"a": ', "Malformed JSON near byte"),
        (b'[{"a": 1}, oops]', "Malformed JSON near byte 11"),
        (b'[{"a" 1}]', "Malformed JSON near byte"),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_a_damaged_array(data: bytes, reason: str) -> None:
    with pytest.raises(ImportFileError, match=reason):
        _read(data)


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        (b"1", "must be a JSON object"),
        (b'"text"', "must be a JSON object"),
        (b"[1, 2]", "must be a JSON object"),
        (b'{"a": "\\ud800"}', "Malformed JSON"),
        (b'{"a": "\xff"}', "Malformed JSON"),
        (b'{"a": NaN}', "Malformed JSON"),
    ],
)
def test_a_wrong_element_fails_alone(element: bytes, reason: str) -> None:
    first, second = _read(b"[" + element + b', {"b": ' + b"9" * 5 + b"}]")
    assert first.error is not None
    assert reason in first.error[1]
    assert second.content == RecordContent({"b": 99999})


def test_a_number_of_any_length_is_read_in_linear_time() -> None:
    (record,) = _read(b'[{"a": ' + b"7" * 1_000_000 + b"}]")
    assert record.number == 1


def test_an_element_over_the_limit_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_arrays, "MAX_LINE_BYTES", 20)
    first, second = _read(b'[{"a": "' + b"x" * 14 + b'"}, {"b": 1}]')
    assert first.error is not None
    assert first.error[0] == "payload_too_large"
    assert second.content == RecordContent({"b": 1})


def test_a_text_without_an_end_is_not_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_arrays, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(json_arrays, "_CHUNK_BYTES", 100)
    file = io.BytesIO(b'[{"a": "' + b"x" * 1_000_000)
    with pytest.raises(ImportFileError, match="Malformed JSON"):
        list(JsonArrayReader(RecordContent).read(file, START))
    assert file.tell() < 10_000
