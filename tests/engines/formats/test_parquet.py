"""Label sets as Parquet, read back by pyarrow."""

import io
import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.formats import FORMATS
from app.engines.formats.sample import SAMPLE_FIELDS, SAMPLE_ROW
from tests.engines.formats import documents
from tests.engines.formats.documents import FullError, FullOutput, field, start
from tests.engines.formats.scripts import hash_sample_file, measure_peaks_of_format
from tests.engines.formats.test_jsonl import JSON
from tests.factories.properties import examples

FIELDS = [
    field("name", "text"),
    field("codes", "text", multiple=True),
    field("number", "number"),
    field("count", "integer"),
    field("total", "money"),
    field("fees", "money", multiple=True),
    field("day", "date"),
    field("clock", "time"),
    field("moment", "datetime"),
    field("paid", "boolean"),
    field("home", "address"),
    field("place", "region", multiple=True),
    field(
        "items",
        "table",
        columns=[field("what", "text"), field("sizes", "number", multiple=True)],
    ),
    # Names that other columns of the file have, too.
    field("tags", "text"),
    field("text", "text"),
    field("labels", "money"),
]


def write(rows: list[Any], fields: Any = FIELDS, **options: Any) -> io.BytesIO:
    return io.BytesIO(documents.write("parquet", rows, fields=fields, **options))


def read(out: io.BytesIO) -> list[dict[str, Any]]:
    return pq.read_table(out).to_pylist()


def labels_of(labels: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    (row,) = read(write([{**SAMPLE_ROW, "labels": labels}]))
    typed = {key: value for key, value in row["labels"].items() if value is not None}
    return typed, row["other_labels"] and json.loads(row["other_labels"])


def test_the_example() -> None:
    (row,) = read(write([SAMPLE_ROW], list(SAMPLE_FIELDS)))
    assert row["tag_set_id"] == SAMPLE_ROW["tag_set_id"]
    assert row["artifact"] == {**SAMPLE_ROW["artifact"], "metadata": '{"source":"mail"}'}
    assert row["schema"] == SAMPLE_ROW["schema"]
    assert row["decided_at"] == datetime(2024, 5, 13, 10, tzinfo=UTC)
    assert row["labels"] == {
        "invoice_number": "RE-1042",
        "total": {"amount": Decimal("119.000000000"), "currency": "EUR"},
        "items": [
            {"description": "Paper, A4", "quantity": 10.0},
            {"description": "Toner", "quantity": 1.0},
        ],
    }
    assert (row["other_labels"], row["tags"], row["text"]) == (None, None, None)


def test_every_type_has_a_column_of_its_type() -> None:
    labels = {
        "name": "A",
        "codes": ["a", "b"],
        "number": 1.5,
        "count": 2**53 - 1,
        "total": {"amount": "-5.50", "currency": "EUR"},
        "fees": [{"amount": "1.00", "currency": "EUR"}, {"amount": "2", "currency": "JPY"}],
        "day": "2024-05-13",
        "clock": "14:30:00.250000",
        "moment": "2024-05-13T12:30:00Z",
        "paid": False,
        "home": {"city": "Köln"},
        "place": ["x", None],
        "items": [{"what": "pen", "sizes": [1, 2.5]}, {}],
        "tags": "t",
        "text": "u",
        "labels": {"amount": "3.00", "currency": "USD"},
    }
    typed, others = labels_of(labels)
    assert others is None
    assert typed == {
        **labels,
        "total": {"amount": Decimal("-5.50"), "currency": "EUR"},
        "fees": [
            {"amount": Decimal(1), "currency": "EUR"},
            {"amount": Decimal(2), "currency": "JPY"},
        ],
        "day": date(2024, 5, 13),
        "clock": time(14, 30, 0, 250_000),
        "moment": datetime(2024, 5, 13, 12, 30, tzinfo=UTC),
        "home": '{"city":"Köln"}',
        "items": [{"what": "pen", "sizes": [1.0, 2.5]}, {"what": None, "sizes": None}],
        "labels": {"amount": Decimal(3), "currency": "USD"},
    }
    columns = pq.read_schema(write([])).field("labels").type
    assert columns.field("day").type == pa.date32()
    assert columns.field("total").type.field("amount").type == pa.decimal128(38, 9)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", 5),
        ("name", {"amount": "1", "currency": "EUR"}),
        ("codes", ["a", 1]),
        ("number", "0.30000000000000000001"),
        ("number", True),
        ("count", 1.5),
        ("count", 2**63),
        ("total", "5 EUR"),
        ("total", {"amount": "1" * 30, "currency": "EUR"}),
        ("total", {"amount": "0.0000000001", "currency": "EUR"}),
        ("total", {"amount": "NaN", "currency": "EUR"}),
        ("fees", [{"amount": "1.00", "currency": "EUR"}, "x"]),
        ("day", "soon"),
        ("day", "20240513"),
        ("clock", "14"),
        ("moment", "2024-05-13T12:30:00"),
        ("moment", "0001-01-01T00:00:00+14:00"),
        ("paid", 1),
        ("items", "x"),
        ("items", [{"what": "pen"}, {"gone": 1}]),
        ("gone", [1, {"a": None}]),
    ],
)
def test_a_value_of_another_type_is_kept_as_json(key: str, value: Any) -> None:
    typed, others = labels_of({"paid": True, key: value})
    assert others == {key: value}
    assert typed == ({} if key == "paid" else {"paid": True})


def test_a_single_value_of_an_older_version_becomes_a_list() -> None:
    assert labels_of({"codes": "a"}) == ({"codes": ["a"]}, None)


UNFIT = {
    **dict.fromkeys(("name", "day", "moment"), 1),
    **dict.fromkeys(("number", "count", "paid", "total"), "x"),
}


def test_a_value_that_does_not_fit_leaves_the_others_of_its_column_unchanged() -> None:
    amount = {"amount": "1.50", "currency": "EUR"}
    fit = {"name": "a", "day": "2024-05-13", "moment": "2024-05-13T12:30:00Z", "number": 0.5}
    fit |= {"count": 2, "paid": False, "total": amount}
    rows = [{**SAMPLE_ROW, "labels": labels} for labels in (fit, UNFIT, fit)]
    first, unfit, last = read(write(rows))
    assert first == last
    assert {key: first["labels"][key] for key in fit} == {
        **fit,
        "day": date(2024, 5, 13),
        "moment": datetime(2024, 5, 13, 12, 30, tzinfo=UTC),
        "total": {"amount": Decimal("1.50"), "currency": "EUR"},
    }
    assert all(value is None for value in unfit["labels"].values())
    assert json.loads(unfit["other_labels"]) == UNFIT


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("count", -(2**63)),
        ("count", 2**63 - 1),
        ("number", 1.7e308),
        ("number", -0.0),
        ("total", {"amount": "-" + "9" * 29 + "." + "9" * 9, "currency": None}),
    ],
)
def test_the_largest_values_fit(key: str, value: Any) -> None:
    (typed, others) = labels_of({key: value})
    assert others is None
    if key == "total":
        value = {"amount": Decimal(value["amount"]), "currency": None}
    assert typed == {key: value}


def test_tags_and_text() -> None:
    evidence = [
        {"page": 1, "box": [0.1, 0.2, 0.3, 1], "start": 0, "end": 3, "text": "abc"},
        {"page": 2, "box": None, "start": None, "end": None, "text": None},
    ]
    about = {"row": 1, "confidence": 1, "source": "human", "evidence": evidence}
    values = ["a", 1, None, {"amount": "1.00", "currency": "EUR"}]
    tags = [{"field": "name", "value": value, **about} for value in values]
    (row,) = read(write([{**SAMPLE_ROW, "tags": tags, "text": "abc\n", "history": [{}]}]))
    assert [json.loads(tag.pop("value")) for tag in row["tags"]] == values
    assert row["tags"] == [{"field": "name", **about}] * len(values)
    assert row["text"] == "abc\n"


TEXTS = ["a\nb\r\n", '"', "\\", "\u2028", "x" * 1_000_000, "\x01\x1f", "=1+1", "", "🧾", "\ufffe"]


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_is_read_back(text: str) -> None:
    assert labels_of({"name": text, "codes": [text]})[0] == {"name": text, "codes": [text]}


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert labels_of({"name": "a\ud800b", "gone": ["\udfff"]}) == ({"name": "a?b"}, {"gone": ["?"]})


@examples(100)
@given(labels=st.dictionaries(st.sampled_from([f["key"] for f in FIELDS] + ["gone"]), JSON))
def test_any_labels_are_typed_or_kept(labels: dict[str, Any]) -> None:
    typed, others = labels_of(labels)
    assert (others or {}).keys() <= labels.keys()
    for key, value in labels.items():
        assert key in typed or key in (others or {}) or value in (None, [])


def test_no_rows_and_no_fields() -> None:
    table = pq.read_table(write([], []))
    assert table.num_rows == 0
    assert "labels" not in table.column_names
    (row,) = read(write([SAMPLE_ROW], []))
    assert json.loads(row["other_labels"]) == SAMPLE_ROW["labels"]
    assert pq.read_table(write([])).num_rows == 0
    assert read(write([{}]))[0]["tag_set_id"] is None


@pytest.mark.parametrize("compression", ["snappy", "zstd", "gzip", "none"])
def test_the_same_rows_give_the_same_bytes(compression: str) -> None:
    rows = [{**SAMPLE_ROW, "tag_set_id": str(number)} for number in range(3_000)]
    first, second = (write(rows, compression=compression).getvalue() for _ in range(2))
    assert first == second
    found = pq.ParquetFile(io.BytesIO(first)).metadata.row_group(0).column(0).compression
    assert found == {"none": "UNCOMPRESSED"}.get(compression, compression.upper())


def test_the_same_bytes_in_another_process() -> None:
    hashes = {hash_sample_file("parquet") for _ in range(2)}
    assert len(hashes) == 1


def test_row_groups_are_bounded_and_written_while_rows_arrive() -> None:
    out, writer = start("parquet", fields=FIELDS)
    for number in range(100):
        text = f"{number:01000000}"
        writer.write_json(json.dumps({**SAMPLE_ROW, "text": text}).encode())
    assert len(out.getvalue()) > 1_000_000
    writer.close()
    file = pq.ParquetFile(out)
    assert 9 <= file.num_row_groups <= 15
    texts = [row["text"] for row in file.read(["text"]).to_pylist()]
    assert texts == [f"{number:01000000}" for number in range(100)]


def test_row_groups_of_wide_files_have_thousands_of_rows() -> None:
    fields = [field(f"field_{number}", "text") for number in range(3_000)]
    out = write([{"tag_set_id": str(number)} for number in range(2_000)], fields)
    assert pq.ParquetFile(out).num_row_groups == 1


def test_what_the_output_raises_is_raised() -> None:
    with pytest.raises(FullError):
        FORMATS["parquet"].create_writer(FullOutput(), FIELDS, {}).close()


def test_memory_does_not_grow() -> None:
    early, late = measure_peaks_of_format(
        "parquet", early_rows=40_000, rows=120_000, text="x" * 500
    )
    assert late < early * 1.15
    assert late < 200_000  # KiB
