"""Exports in every format, read back by a library of the format."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import openpyxl
import pyarrow.parquet as pq
import pytest
import spacy
from spacy.tokens import DocBin

from app.engines.formats import FORMATS
from tests.delivery.exports.conftest import read_answer
from tests.delivery.exports.test_rows import FIELDS, HOSTILE, tag
from tests.engines.formats.documents import parse_file, unpack
from tests.engines.formats.test_xlsx import decode
from tests.factories.labels import make_schema


def read_jsonl(file: bytes) -> list[Any]:
    return [json.loads(line)["labels"].get("number") for line in file.splitlines()]


def read_csv(file: bytes) -> list[Any]:
    lines = csv.DictReader(io.StringIO(file.decode(), newline=""))
    return [line["labels.number"] for line in lines]


def read_json(file: bytes) -> list[Any]:
    return [row["labels"].get("number") for row in json.loads(file)]


def read_parquet(file: bytes) -> list[Any]:
    table = pq.read_table(io.BytesIO(file))
    assert table.num_rows == 0 or table.schema.field("labels").type.field("number").type == "string"
    return [row["labels"]["number"] for row in table.to_pylist()]


def read_label_studio(file: bytes) -> list[Any]:
    return [
        result["value"]["text"][0]
        for task in json.loads(file)
        for result in task["annotations"][0]["result"]
        if result["from_name"] == "number"
    ]


def read_xlsx(file: bytes) -> list[Any]:
    lines = openpyxl.load_workbook(io.BytesIO(file))["Tag sets"].iter_rows(values_only=True)
    header = next(lines)
    if "labels.number" not in header:
        return list(lines)
    values = [line[header.index("labels.number")] for line in lines]
    return [decode(value) for value in values]


def read_spacy(file: bytes) -> list[Any]:
    vocab = spacy.blank("xx").vocab
    docs = [
        doc for part in unpack(file).values() for doc in DocBin().from_bytes(part).get_docs(vocab)
    ]
    return [json.loads(doc.user_data["labels"])["number"] for doc in docs]


def read_docile(file: bytes) -> list[Any]:
    files = unpack(file)
    annotations = [
        parse_file(files, f"annotations/{id_}.json") for id_ in parse_file(files, "train.json")
    ]
    return [annotation["metadata"]["labels"]["number"] for annotation in annotations]


def read_coco(file: bytes) -> list[Any]:
    annotations = parse_file(unpack(file), "annotations.json")["annotations"]
    return [annotation["attributes"]["value"] for annotation in annotations]


def read_conll(file: bytes) -> list[Any]:
    return [line for line in file.decode().splitlines() if line]


READERS: dict[str, Callable[[bytes], list[Any]]] = {
    "jsonl": read_jsonl,
    "csv": read_csv,
    "json": read_json,
    "parquet": read_parquet,
    "xlsx": read_xlsx,
    "label_studio": read_label_studio,
    "spacy": read_spacy,
    "docile": read_docile,
    "coco": read_coco,
    "conll": read_conll,
}
WITH_VALUES = [id_ for id_, format_ in FORMATS.items() if "values" in format_.keeps]
"""The formats that keep values without evidence; test_documents.py has the others."""
OPTIONS: dict[str, dict[str, Any]] = {"csv": {"raw": True}, "xlsx": {"raw": True}}


def test_every_format_has_a_reader() -> None:
    assert set(READERS) == set(FORMATS)


@pytest.mark.parametrize("format_id", WITH_VALUES)
def test_the_values_of_every_tag_set_in_order_and_again_the_same(
    exports: Any, format_id: str
) -> None:
    schema_id, _ = make_schema(exports.org, FIELDS)
    values = [text for text in HOSTILE if text]
    for text in values:
        # Its evidence is not in the text, so that its value stands alone in every format.
        tags = [tag("number", text, evidence=[]), tag("note", text), tag("items.what", text, 0)]
        exports.label(schema_id, tags, text=text, artifact={"name": text})
    options = OPTIONS.get(format_id, {})
    first, second = (exports.make(format_id, options=options) for _ in range(2))
    if format_id == "xlsx":  # a cell has line feeds only
        values = [text.replace("\r\n", "\n") for text in values]
    assert READERS[format_id](exports.download_file(first["id"])) == values
    assert first["row_count"] == len(values)
    assert first["sha256"] == second["sha256"]


@pytest.mark.parametrize("format_id", FORMATS)
def test_no_tag_set_is_a_valid_file_without_rows(exports: Any, format_id: str) -> None:
    export = exports.make(format_id)
    assert export["row_count"] == 0
    assert READERS[format_id](exports.download_file(export["id"])) == []


@pytest.mark.parametrize("format_id", FORMATS)
def test_unknown_options_are_refused(exports: Any, format_id: str) -> None:
    answer = exports.api.post("/exports", {"format": format_id, "options": {"colour": 1}})
    assert read_answer(answer, 400)["field"] == "options.colour"


@pytest.mark.parametrize("format_id", FORMATS)
def test_the_download_has_the_type_and_extension_of_the_format(
    exports: Any, format_id: str
) -> None:
    export = exports.make(format_id)
    answer = exports.api.get(f"/exports/{export['id']}/download")
    assert answer.headers["Content-Type"].split(";")[0] == FORMATS[format_id].media_type
    name = f"export-{export['id']}.{FORMATS[format_id].extension}"
    assert name in answer.headers["Content-Disposition"]


def test_label_studio_gets_the_text_unless_it_is_declined(exports: Any) -> None:
    schema_id, _ = make_schema(exports.org, FIELDS)
    exports.label(schema_id, [tag("number", "abc")], text="abc")
    export = exports.make("label_studio")
    assert export["include"]["text"] is True
    (task,) = json.loads(exports.download_file(export["id"]))
    (result,) = task["annotations"][0]["result"]
    assert task["data"]["text"] == "abc"
    assert (result["type"], result["value"]["end"]) == ("labels", 3)
    export = exports.make("label_studio", include={"text": False, "evidence": False})
    (task,) = json.loads(exports.download_file(export["id"]))
    assert task["data"]["text"] == ""
    assert task["annotations"][0]["result"][0]["from_name"] == "number"
    assert exports.make("parquet")["include"]["text"] is False


@pytest.mark.parametrize(
    ("format_id", "part"),
    [
        *((id_, "evidence") for id_ in ("conll", "spacy", "coco", "docile")),
        ("spacy", "text"),
    ],
)
def test_parts_that_a_format_needs_cannot_be_declined(
    exports: Any, format_id: str, part: str
) -> None:
    answer = exports.api.post("/exports", {"format": format_id, "include": {part: False}})
    error = read_answer(answer, 400)
    assert error["field"] == f"include.{part}"
    assert "requires" in error["message"]
