"""Label sets as CSV: what is written is what Python's reader gets back."""

import csv
import io
import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.formats import FORMATS
from app.engines.formats.labels import merge_fields
from tests.engines.formats.documents import field, start, write
from tests.factories.properties import examples

FIELDS: list[dict[str, Any]] = [
    field("number", "text"),
    field("total", "money"),
    field("tags", "text", multiple=True),
    field(
        "items",
        "table",
        columns=[
            field("name", "text"),
            field("price", "money"),
            field("codes", "text", multiple=True),
        ],
    ),
]


def export(*rows: dict[str, Any], fields: Any = FIELDS, **options: Any) -> bytes:
    return write("csv", rows, fields=fields, **options)


def read(data: bytes, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline=""), delimiter=delimiter))


def labels(**values: Any) -> dict[str, Any]:
    return {"tag_set_id": "1", "labels": values}


def cell(value: Any, **options: Any) -> str:
    (line,) = read(export(labels(number=value), **options))
    return line["labels.number"]


def test_columns_are_named_by_the_path_in_the_json_row() -> None:
    row = {
        "tag_set_id": "1",
        "status": "accepted",
        "artifact": {"id": "2", "name": "a.pdf", "metadata": {"kind": "x"}, "page_count": 3},
        "schema": {"id": "3", "name": "Invoices", "version_id": "4", "version": 2},
        "labeler_id": "5",
        "reviewer_id": None,
        "submitted_at": "2024-05-13T09:30:00Z",
        "labels": {"total": {"amount": "-1.50", "currency": "EUR"}, "tags": ["a", "b"]},
    }
    (line,) = read(export(row))
    filled = {name: value for name, value in line.items() if value}
    assert filled == {
        "tag_set_id": "1",
        "status": "accepted",
        "artifact.id": "2",
        "artifact.name": "a.pdf",
        "artifact.metadata": '{"kind":"x"}',
        "artifact.page_count": "3",
        "schema.id": "3",
        "schema.name": "Invoices",
        "schema.version_id": "4",
        "schema.version": "2",
        "labeler_id": "5",
        "submitted_at": "2024-05-13T09:30:00Z",
        "labels.total.amount": "-1.50",
        "labels.total.currency": "EUR",
        "labels.tags": "a|b",
    }
    assert list(line)[-5:] == [
        "labels.number",
        "labels.total.amount",
        "labels.total.currency",
        "labels.tags",
        "labels.items",
    ]


def test_no_field_can_shadow_what_the_row_says_of_itself() -> None:
    fields = [{"key": key, "type": "text"} for key in ("status", "artifact", "table", "row")]
    header = export(fields=fields, rows="explode").decode().strip().split(",")
    assert len(header) == len(set(header))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        ("", ""),
        ("plain", "plain"),
        (True, "true"),
        (False, "false"),
        (-5, "-5"),
        (-0.25, "-0.25"),
        ("-12.00", "-12.00"),
        ("+49301234567", "+49301234567"),
        ("1152921504606846976", "1152921504606846976"),
        ({"street": "A 1"}, '{"street":"A 1"}'),
        (["a", 5, True, None], "a|5|true|"),
        ('say "hi", twice\r\nor\nthrice', 'say "hi", twice\r\nor\nthrice'),
        ("naïve – 日本語 😀 \u202eabc", "naïve – 日本語 😀 \u202eabc"),  # noqa: RUF001
        ("a\x00b", "a\x00b"),
        ("half \ud800", "half ?"),
        ("x" * 100_000, "x" * 100_000),
    ],
)
def test_cells(value: object, expected: str) -> None:
    assert cell(value) == expected


@pytest.mark.parametrize(
    "formula",
    [
        "=1+1",
        "+1+cmd|' /C calc'!A0",
        "-2+3+cmd|' /C calc'!A0",
        "@SUM(A1:A9)",
        "\t=1+1",
        "\r=1+1",
        "\n=1+1",
        "\x00=1+1",
        "\ufeff=1+1",
        "\uff1d1+1",
        '=HYPERLINK("https://x.example";"y")',
        "+4930 1234567",
        "+",
        "-",
        "--1",
        "-1e5x",
    ],
)
def test_formulas_are_defused(formula: str) -> None:
    assert cell(formula) == "'" + formula
    assert cell(formula, raw=True) == formula
    row = {"artifact": {"name": formula}, "labels": {"tags": [formula, "x"]}}
    (line,) = read(export(row))
    assert line["artifact.name"] == "'" + formula
    assert line["labels.tags"] == "'" + formula + "|x"
    money = {"total": {"amount": formula, "currency": formula}}
    (line,) = read(export(labels(**money)))
    assert line["labels.total.amount"] == line["labels.total.currency"] == "'" + formula


@pytest.mark.parametrize("separator", ["|", ";", ", ", " | "])
def test_a_list_of_numbers_is_no_formula(separator: str) -> None:
    for values in (
        ["+49301234567", "+49307654321"],
        ["+49301234567"],
        ["-1.50", "+2", "3e5"],
        ["+49301234567", None, ""],
        [-5, 0.25],
    ):
        (line,) = read(export(labels(tags=values), separator=separator))
        assert not line["labels.tags"].startswith("'")
        assert line["labels.tags"] == cell_text(values, separator)
    money = [{"amount": "-1.00", "currency": "EUR"}, {"amount": "+2", "currency": "JPY"}]
    (line,) = read(export(labels(total=money), separator=separator))
    assert line["labels.total.amount"] == f"-1.00{separator}+2"


def cell_text(values: list[Any], separator: str) -> str:
    return separator.join("" if value is None else str(value) for value in values)


@pytest.mark.parametrize(
    ("values", "separator"),
    [
        (["+1", "cmd|' /C calc'!A0"], "|"),
        (["+1", "=1+1"], "|"),
        (["+1", "@SUM(A1:A9)"], ";"),
        (["+1", "Excel!A0"], "|"),
        (["+cmd|' /C calc'!A0", "+49301234567"], "|"),
        (["=1+1", "+49301234567"], "|"),
        (["@x"], "|"),
        (["+49301234567", "ext. 5"], "|"),
        (["+1", "+2"], "+"),
        (["+1", "+2"], " "),
        (["+1", "+2"], "/"),
        (["+1", "+2"], "|=cmd|"),
        (["+1", "+2"], "!"),
        (["+1", "+2"], "\n"),
        (["", "+2"], "="),
    ],
)
def test_a_list_that_may_be_a_formula_is_defused(values: list[str], separator: str) -> None:
    (line,) = read(export(labels(tags=values), separator=separator))
    assert line["labels.tags"] == "'" + separator.join(values)


def test_options() -> None:
    row = labels(number="a;b", tags=["x", "y"])
    data = export(row, delimiter=";", separator=" / ", bom=True)
    assert data.startswith(b"\xef\xbb\xbftag_set_id;status;")
    assert data.endswith(b"\r\n")
    (line,) = read(data.removeprefix(b"\xef\xbb\xbf"), ";")
    assert (line["labels.number"], line["labels.tags"]) == ("a;b", "x / y")
    assert export(row, header=False).count(b"\r\n") == 1
    assert export(header=False) == b""


ITEMS = [
    {"name": "Paper", "price": {"amount": "1.00", "currency": "EUR"}},
    {"name": "=x", "codes": ["1", "2"]},
]


def test_a_table_is_json_in_one_cell() -> None:
    (line,) = read(export(labels(items=ITEMS)))
    assert json.loads(line["labels.items"]) == ITEMS


def test_an_exploded_table_is_a_line_per_row() -> None:
    other = {"key": "taxes", "type": "table", "columns": [{"key": "rate", "type": "number"}]}
    rows = [
        labels(number="A", items=ITEMS, taxes=[{"rate": 0.19}]),
        labels(number="B", items=[]),
        labels(number="C"),
    ]
    lines = read(export(*rows, fields=[*FIELDS, other], rows="explode"))
    names = ("labels.number", "table", "row", "labels.items.name", "labels.items.price.amount")
    names += ("labels.items.codes", "labels.taxes.rate")
    assert [tuple(line[name] for name in names) for line in lines] == [
        ("A", "items", "0", "Paper", "1.00", "", ""),
        ("A", "items", "1", "'=x", "", "1|2", ""),
        ("A", "taxes", "0", "", "", "", "0.19"),
        ("B", "", "", "", "", "", ""),
        ("C", "", "", "", "", "", ""),
    ]


def test_several_amounts_of_money() -> None:
    fields = [{"key": "paid", "type": "money", "multiple": True}]
    paid = [{"amount": "1.00", "currency": "EUR"}, {"amount": "2", "currency": "JPY"}]
    (line,) = read(export(labels(paid=paid), fields=fields))
    assert (line["labels.paid.amount"], line["labels.paid.currency"]) == ("1.00|2", "EUR|JPY")


def test_values_of_another_version_are_kept_as_text() -> None:
    values = labels(total="about 5", number={"amount": "5", "currency": "EUR"}, items="none")
    (line,) = read(export(values))
    assert line["labels.total.amount"] == "about 5"
    assert line["labels.number"] == '{"amount":"5","currency":"EUR"}'
    assert line["labels.items"] == '"none"'
    (line,) = read(export(values, rows="explode"))
    assert line["table"] == ""


OLD_ITEMS = [
    ("none", "none"),
    ("=1+1", "'=1+1"),
    (5, "5"),
    (["a", "b"], "a|b"),
    ({"amount": "5", "currency": "EUR"}, '{"amount":"5","currency":"EUR"}'),
    ([{"street": "A 1"}], '{"street":"A 1"}'),
]


@pytest.mark.parametrize(("value", "expected"), OLD_ITEMS)
def test_a_value_from_before_the_field_was_a_table_has_a_column(value: Any, expected: str) -> None:
    fields = merge_fields([FIELDS, [{"key": "items", "type": "text", "multiple": True}]])
    old, new = labels(items=value), labels(items=ITEMS, number="A")
    lines = read(export(old, new, labels(), fields=fields, rows="explode"))
    names = ("labels.number", "labels.items", "table", "row", "labels.items.name")
    assert [tuple(line[name] for name in names) for line in lines] == [
        ("", expected, "", "", ""),
        ("A", "", "items", "0", "Paper"),
        ("A", "", "items", "1", "'=x"),
        ("", "", "", "", ""),
    ]


@pytest.mark.parametrize("options", [{}, {"rows": "explode"}])
def test_no_column_is_added_for_tables_of_several_versions(options: dict[str, Any]) -> None:
    older = [{"key": "gone", "type": "text"}, FIELDS[-1]]
    fields = merge_fields([FIELDS, older])
    row = labels(items=ITEMS, number="A")
    expected = export(row, fields=[*FIELDS, field("gone", "text")], **options)
    assert export(row, fields=fields, **options) == expected


def test_json_lines_are_taken_too() -> None:
    out, writer = start("csv", fields=FIELDS)
    writer.write_json(orjson.dumps(labels(number="é")))
    writer.write_chunk(b'{"tag_set_id": "2", ', is_last=False)
    writer.write_chunk(b'"labels": {"number": "\\ud800x"}}', is_last=True)
    for wrong in (b"", b"{", b"[]", b"null", b"\xff"):
        with pytest.raises(ValueError):
            writer.write_json(wrong)
    writer.close()
    assert [line["labels.number"] for line in read(out.getvalue())] == ["é", "?x"]
    assert writer.row_count == 2


def test_memory_stays_bounded_and_the_file_open() -> None:
    class Counting(io.BytesIO):
        largest = 0

        def write(self, data: Any) -> int:
            self.largest = max(self.largest, len(data))
            return super().write(data)

    out = Counting()
    writer = FORMATS["csv"].writer(out, FIELDS, {})
    for number in range(2000):
        writer.write_json(json.dumps(labels(number=f"{number} " + "ü" * 1000)).encode())
    written = len(out.getvalue())
    assert written > 3_000_000
    assert out.largest < 1_000_000
    writer.close()
    assert not out.closed
    assert len(read(out.getvalue())) == 2000


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
VALUE = st.none() | TEXT | st.integers() | st.floats(allow_nan=False) | st.booleans()
LABELS = st.fixed_dictionaries(
    {},
    optional={
        "number": VALUE,
        "total": VALUE | st.fixed_dictionaries({"amount": TEXT, "currency": TEXT}),
        "tags": VALUE | st.lists(TEXT, max_size=3),
        "items": VALUE | st.lists(st.dictionaries(st.sampled_from(["name", "x"]), VALUE)),
    },
)


@examples(200)
@given(
    rows=st.lists(LABELS, max_size=4),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    raw=st.booleans(),
)
def test_round_trip(rows: list[dict[str, Any]], delimiter: str, *, raw: bool) -> None:
    sets = [labels(**row) for row in rows]
    lines = read(export(*sets, delimiter=delimiter, raw=raw), delimiter)
    assert len(lines) == len(rows)
    for row, line in zip(rows, lines, strict=True):
        assert None not in line
        written = row.get("number")
        if isinstance(written, str):
            cell_content = line["labels.number"]
            assert cell_content == written or (not raw and cell_content == "'" + written)
        if not raw:
            assert not any(value[:1] in {"=", "+", "@", "\t", "\r"} for value in line.values())
    exploded = read(export(*sets, delimiter=delimiter, rows="explode"), delimiter)
    assert len(exploded) >= len(rows)
