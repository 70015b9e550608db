"""Label sets as a workbook, read back by openpyxl and calamine."""

import io
import re
from datetime import datetime
from typing import Any

import openpyxl
import pytest
from python_calamine import CalamineWorkbook

from app.engines.formats import xlsx
from app.engines.formats.labels import merge_fields
from app.engines.formats.sample import SAMPLE_FIELDS, SAMPLE_ROW
from app.engines.formats.xlsx_values import MAX_TEXT_LENGTH
from tests.engines.formats import documents
from tests.engines.formats.documents import field
from tests.engines.formats.test_csv import OLD_ITEMS

FIELDS = [
    field("name", "text"),
    field("codes", "text", multiple=True),
    field("number", "number"),
    field("count", "integer"),
    field("total", "money"),
    field("day", "date"),
    field("moment", "datetime"),
    field("paid", "boolean"),
    field("items", "table", columns=[field("what", "text"), field("price", "money")]),
]


def write(rows: list[Any], fields: Any = FIELDS, **options: Any) -> bytes:
    return documents.write("xlsx", rows, fields=fields, **options)


def decode(value: Any) -> Any:
    """Decode `_xHHHH_`, which Excel does and openpyxl does not."""
    if not isinstance(value, str):
        return value
    return re.sub("_x([0-9A-F]{4})_", lambda match: chr(int(match[1], 16)), value)


def read(file: bytes) -> dict[str, list[dict[str, Any]]]:
    book = openpyxl.load_workbook(io.BytesIO(file))
    sheets: dict[str, list[dict[str, Any]]] = {}
    for sheet in book.worksheets:
        assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
        header, *lines = sheet.iter_rows(values_only=True)
        sheets[sheet.title] = [dict(zip(header, map(decode, line), strict=True)) for line in lines]
    return sheets


def labels_of(labels: dict[str, Any], **options: Any) -> dict[str, Any]:
    (row,) = read(write([{**SAMPLE_ROW, "labels": labels}], **options))["Tag sets"]
    return {
        name.removeprefix("labels."): value
        for name, value in row.items()
        if name.startswith("labels.") and value is not None
    }


def test_the_example() -> None:
    file = write([SAMPLE_ROW, SAMPLE_ROW], list(SAMPLE_FIELDS))
    sheets = read(file)
    assert list(sheets) == ["Tag sets", "items"]
    first, second = sheets["Tag sets"]
    assert first == second
    assert first["tag_set_id"] == SAMPLE_ROW["tag_set_id"]
    assert first["artifact.name"] == "invoice-1042.pdf"
    assert first["artifact.metadata"] == '{"source":"mail"}'
    assert (first["artifact.page_count"], first["artifact.gold"]) == (1, False)
    assert (first["schema.version"], first["labels.total.amount"]) == (2, 119)
    assert first["decided_at"] == "2024-05-13T10:00:00Z"
    items = [
        {"tag_set_id": SAMPLE_ROW["tag_set_id"], "row": row, "description": name, "quantity": n}
        for row, (name, n) in enumerate([("Paper, A4", 10), ("Toner", 1)])
    ]
    assert sheets["items"] == items * 2
    book = CalamineWorkbook.from_filelike(io.BytesIO(file))
    assert book.get_sheet_by_name("items").to_python()[1][2:] == ["Paper, A4", 10.0]


def test_values_have_the_types_of_excel() -> None:
    labels = {
        "name": "12",
        "codes": ["a", "b"],
        "number": 1.5,
        "count": 10**15 - 1,
        "total": {"amount": "-5.50", "currency": "EUR"},
        "day": "2024-05-13",
        "moment": "2024-05-13T12:30:00Z",
        "paid": True,
    }
    assert labels_of(labels) == {
        "name": "12",
        "codes": "a|b",
        "number": 1.5,
        "count": 10**15 - 1,
        "total.amount": -5.5,
        "total.currency": "EUR",
        "day": datetime(2024, 5, 13),  # noqa: DTZ001 - Excel has no time zones
        "moment": datetime(2024, 5, 13, 12, 30),  # noqa: DTZ001 - UTC
        "paid": True,
    }


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("name", 5, "5"),
        ("name", {"a": None}, '{"a":null}'),
        ("number", "0.30000000000000000001", "0.30000000000000000001"),
        ("number", 0.30000000000000004, "0.30000000000000004"),
        ("number", [1, -2.5], "1|-2.5"),
        ("count", 2**53 - 1, "9007199254740991"),
        ("number", True, "true"),
        ("paid", "yes", "yes"),
        ("paid", 1, "1"),
        ("day", "1899-12-31", "1899-12-31"),
        ("day", "20240513", "20240513"),
        ("day", 7, "7"),
        ("moment", "2024-05-13T12:30:00.250000Z", "2024-05-13T12:30:00.250000Z"),
        ("moment", "2024-05-13T12:30:00+02:00", "2024-05-13T12:30:00+02:00"),
        ("moment", "2024-05-13", "2024-05-13"),
    ],
)
def test_what_excel_cannot_hold_is_text(key: str, value: Any, expected: str) -> None:
    assert labels_of({key: value}) == {key: expected}


@pytest.mark.parametrize("amount", ["1" * 16, "0." + "1" * 16, "x"])
def test_amounts_that_excel_cannot_hold_are_text(amount: str) -> None:
    value = {"amount": amount, "currency": "EUR"}
    assert labels_of({"total": value}) == {"total.amount": amount, "total.currency": "EUR"}


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", '=HYPERLINK("http://x")', "\uff1d1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_neutralised(text: str) -> None:
    labels = {"name": text, "codes": [text, "b"], "items": [{"what": text}]}
    row = {**SAMPLE_ROW, "labels": labels, "artifact": {"name": text, "metadata": {}}}
    sheets = read(write([row]))
    (main,) = sheets["Tag sets"]
    assert main["labels.name"] == main["artifact.name"] == "'" + text
    assert main["labels.codes"] == f"'{text}|b"
    assert sheets["items"][0]["what"] == "'" + text
    assert labels_of(labels, raw=True)["name"] == text
    currency = {"total": {"amount": "1", "currency": text}}
    assert labels_of(currency)["total.currency"] == "'" + text


def test_numbers_as_text_are_unchanged_and_lists_are_not_formulas() -> None:
    assert labels_of({"name": "+4930123456"}) == {"name": "+4930123456"}
    assert labels_of({"codes": ["1", "2"]}, separator="+") == {"codes": "1+2"}


TEXTS = {
    "a\nb": "a\nb",
    "a\r\nb\rc": "a\nb\nc",
    "\"<&>'": "\"<&>'",
    "\u2028\x7f": "\u2028\x7f",
    "a\x01\x1f": "a\x01\x1f",
    "a\ufffe": "a\ufffe",
    "a_x0041_": "a_x0041_",
    " a ": " a ",
    "<r><t>a</t></r>": "<r><t>a</t></r> ",
    "<r></c><c><f>1+1</f></c></r>": "<r></c><c><f>1+1</f></c></r> ",
    "<r>" + "x" * MAX_TEXT_LENGTH + "</r>": "<r>" + "x" * (MAX_TEXT_LENGTH - 4) + "…",
    "日本語 🧾": "日本語 🧾",
    "a\ud800b": "a?b",
    "x" * MAX_TEXT_LENGTH: "x" * MAX_TEXT_LENGTH,
    "x" * 1_000_000: "x" * (MAX_TEXT_LENGTH - 1) + "…",
    "🧾" * 20_000: "🧾" * ((MAX_TEXT_LENGTH - 1) // 2) + "…",
}


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_any_text_is_read_back(text: str) -> None:
    assert labels_of({"name": text}) == {"name": TEXTS[text]}


def test_lone_surrogates_and_a_table_that_is_none() -> None:
    sheets = read(write([{"tag_set_id": "half \ud800", "labels": {"items": "no rows"}}]))
    assert sheets["Tag sets"][0]["tag_set_id"] == "half ?"
    assert sheets["items"] == []


@pytest.mark.parametrize(("value", "expected"), OLD_ITEMS)
def test_a_value_from_before_the_field_was_a_table_has_a_column(value: Any, expected: str) -> None:
    fields = merge_fields([FIELDS, [field("items", "text", multiple=True)]])
    rows = [{"tag_set_id": "1", "labels": {"items": value}}, {**SAMPLE_ROW, "tag_set_id": "2"}]
    rows[1]["labels"] = {"items": [{"what": "Paper"}]}
    sheets = read(write(rows, fields))
    assert [row["labels.items"] for row in sheets["Tag sets"]] == [expected, None]
    items = [(row["tag_set_id"], row["what"]) for row in sheets["items"]]
    assert items == [("2", "Paper")]
    assert "labels.items" not in read(write(rows))["Tag sets"][0]


def test_sheets_of_tables_have_different_names() -> None:
    long = "a" * 40
    columns = [field("row", "text"), field("tag_set_id", "text")]
    keys = [long + "_b", long + "_c", "history", "tag_sets"]
    fields = [field(key, "table", columns=columns) for key in keys]
    labels = {key: [{"row": key}] for key in keys}
    file = write([{"tag_set_id": "1", "labels": labels}], fields)
    book = openpyxl.load_workbook(io.BytesIO(file))
    names = ["Tag sets", "a" * 31, "a" * 27 + " (2)", "history (1)", "tag_sets"]
    assert book.sheetnames == names
    for name, key in zip(names[1:], keys, strict=True):
        header, line = book[name].iter_rows(values_only=True)
        assert header == ("tag_set_id", "row", f"{key}.row", f"{key}.tag_set_id")
        assert line == ("1", 0, key, None)


def test_rows_beyond_a_sheet_go_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "MAX_ROWS", 4)
    rows = [{**SAMPLE_ROW, "tag_set_id": str(number)} for number in range(7)]
    sheets = read(write(rows, list(SAMPLE_FIELDS)))
    tag_sets = {name: lines for name, lines in sheets.items() if name.startswith("Tag sets")}
    assert list(tag_sets) == ["Tag sets", "Tag sets (2)", "Tag sets (3)"]
    ids = [row["tag_set_id"] for lines in tag_sets.values() for row in lines]
    assert ids == [str(number) for number in range(7)]
    assert sum(len(lines) for name, lines in sheets.items() if name.startswith("items")) == 14


def test_no_rows_and_no_fields() -> None:
    assert read(write([])) == {"Tag sets": [], "items": []}
    assert read(write([], [])) == {"Tag sets": []}
    assert read(write([{"status": "draft"}], []))["Tag sets"][0]["tag_set_id"] is None
