"""Label sets as tasks of Label Studio; its own SDK reads them in test_label_studio_sdk.py."""

import io
import json
from typing import Any

import pytest
from defusedxml.ElementTree import fromstring

from app.engines.fields import CompiledFields, check_fields
from app.engines.formats import FORMATS, check_options
from app.engines.formats.labels import LabelBuilder
from app.engines.formats.sample import SAMPLE_ROW
from app.engines.imports.label_studio import convert_task
from app.engines.imports.marks import MarkConverter

TEXT = "😀 Invoice A-1\nTotal 5 €, paid"
FIELDS = check_fields(
    [
        {"key": "number", "type": "span"},
        {"key": "total", "type": "money"},
        {"key": "fees", "type": "money", "multiple": True},
        {"key": "paid", "type": "boolean"},
        {
            "key": "kind",
            "type": "choice",
            "options": [{"value": one} for one in ("in", "out", "$5", "\x01", 'a "b" <c>')],
        },
        {"key": "codes", "type": "text", "multiple": True},
        {"key": "home", "type": "address"},
        {"key": "place", "type": "region"},
        {"key": "text", "type": "text", "label": "$text"},
        {"key": "label", "type": "text"},
        {"key": "other", "type": "number"},
        {
            "key": "items",
            "type": "table",
            "columns": [
                {"key": "name", "type": "text"},
                {"key": "sizes", "type": "number", "multiple": True},
                {"key": "new", "type": "boolean"},
            ],
        },
    ]
)


def span(field: str, start: int, end: int, value: Any = None, **members: Any) -> dict[str, Any]:
    evidence = [{"start": start, "end": end}]
    return {"field": field, "value": value, "evidence": evidence, **members}


TAGS = CompiledFields(FIELDS).check_tags(
    [
        span("number", 10, 13, "A-1", confidence=0.5),
        span("total", 20, 23, "5 EUR"),
        {"field": "fees", "value": "1 EUR"},
        {"field": "fees", "value": "2.50 USD"},
        {"field": "paid", "value": True},
        {"field": "kind", "value": 'a "b" <c>'},
        {"field": "codes", "value": "x\ny"},
        {"field": "codes", "value": "z"},
        {"field": "home", "value": {"city": "Köln"}},
        {"field": "place", "value": None, "evidence": [{"page": 1, "box": [0, 0, 1, 1]}]},
        {"field": "other", "value": 1.5},
        span("items.name", 25, 29, "paid", row=3),
        {"field": "items.sizes", "value": 1, "row": 3},
        {"field": "items.sizes", "value": 2, "row": 4},
        {"field": "items.new", "value": False, "row": 4},
    ],
    text_length=len(TEXT),
    page_count=1,
)
ROW = {**SAMPLE_ROW, "labels": LabelBuilder(FIELDS).build(TAGS), "tags": TAGS, "text": TEXT}


def write(rows: list[Any], fields: Any = FIELDS, **options: Any) -> list[dict[str, Any]]:
    out = io.BytesIO()
    writer = FORMATS["label_studio"].writer(out, fields, check_options("label_studio", options))
    for row in rows:
        writer.write_json(json.dumps(row).encode())
    writer.close()
    writer.close()
    assert writer.row_count == len(rows)
    found = json.loads(out.getvalue())
    assert isinstance(found, list)
    return found


def results_of(row: dict[str, Any], fields: Any = FIELDS) -> list[dict[str, Any]]:
    (task,) = write([row], fields)
    (annotation,) = task["annotations"]
    return list(annotation["result"])


def values_of(row: dict[str, Any], fields: Any = FIELDS) -> dict[str, Any]:
    return {
        one["from_name"]: one["value"].get("choices") or one["value"].get("text")
        for one in results_of(row, fields)
        if one["type"] != "labels"
    }


def test_a_task_of_a_tag_set() -> None:
    (task,) = write([ROW])
    assert task["data"] == {
        "text": TEXT,
        "name": "invoice-1042.pdf",
        "external_id": "erp-1042",
        "language": "en",
        "artifact_id": SAMPLE_ROW["artifact"]["id"],
        "tag_set_id": SAMPLE_ROW["tag_set_id"],
        "status": "accepted",
        "schema": "Invoices",
        "schema_version": 2,
    }
    assert task["annotations"][0]["ground_truth"] is False
    ids = [result["id"] for result in task["annotations"][0]["result"]]
    assert len(set(ids)) == len(ids)


def test_stretches_count_utf16_units_and_keep_the_value() -> None:
    spans = [one for one in results_of(ROW) if one["type"] == "labels"]
    units = TEXT.encode("utf-16-le")
    found = []
    for one in spans:
        start, end = one["value"]["start"], one["value"]["end"]
        assert units[2 * start : 2 * end].decode("utf-16-le") == one["value"]["text"]
        found.append((one["value"]["labels"], one["value"]["text"], one["meta"]))
    assert found == [
        (["number"], "A-1", {"text": ["A-1"], "tag": 0, "row": None}),
        (["total"], "5 €", {"text": ["5.00 EUR"], "tag": 1, "row": None}),
        (["items.name"], "paid", {"text": ["paid"], "tag": 11, "row": 3}),
    ]
    assert [one.get("score") for one in spans] == [0.5, None, None]


def test_values_of_the_whole_document() -> None:
    assert values_of(ROW) == {
        "fees": ["1.00 EUR", "2.50 USD"],
        "paid": ["true"],
        "kind": ['a "b" <c>'],
        "codes": ["x\ny", "z"],
        "home": ['{"city":"Köln"}'],
        "other": ["1.5"],
        "items.sizes": ["1", "2"],
        "items.new": ["false"],
    }


def test_without_tags_the_labels_are_values() -> None:
    row = {key: value for key, value in ROW.items() if key not in ("tags", "text")}
    assert all(one["type"] != "labels" for one in results_of(row))
    assert values_of(row) == {
        **values_of(ROW),
        "number": ["A-1"],
        "total": ["5.00 EUR"],
        "items.name": ["paid"],
    }


def test_without_a_text_there_are_no_stretches() -> None:
    for text in ("", None, "short"):
        values = values_of({**ROW, "text": text})
        assert values["number"] == ["A-1"]
        assert values["items.name"] == ["paid"]


def test_values_that_fit_no_control() -> None:
    tags = [
        {"field": "kind", "value": "$5"},
        {"field": "kind", "value": "\x01"},
        {"field": "gone", "value": {"a": 1}},
        span("gone", 0, 1, "x"),
        {"field": "paid", "value": "maybe"},
    ]
    others = ["kind: $5", "kind: \x01", 'gone: {"a":1}', "gone: x", "paid: maybe"]
    assert values_of({**ROW, "tags": tags}) == {"Other": others}
    assert values_of({**ROW, "tags": tags[2:3]}, []) == {"Other": ['gone: {"a":1}']}


def test_the_configuration_is_in_the_first_task_only() -> None:
    first, second = write([ROW, ROW])
    tree = fromstring(first["meta"]["labeling_config"])
    assert "meta" not in second
    assert "meta" not in write([ROW], labeling_config=False)[0]
    names = [node.get("name") for node in tree.iter() if node.get("name")]
    assert len(set(names)) == len(names)
    assert {"Text", "text", "Label", "label", "Other", "other"} <= set(names)
    choices = [node.get("value") for node in tree.iter("Choice")]
    assert choices == ["true", "false", "in", "out", 'a "b" <c>', "true", "false"]
    assert not [node for node in tree.iter("Header") if node.get("value", "").startswith("$")]
    assert not list(fromstring(write([ROW], [])[0]["meta"]["labeling_config"]).iter("Labels"))


def test_predictions_and_ground_truths() -> None:
    (task,) = write([{**ROW, "source": "model"}], results="predictions")
    assert "annotations" not in task
    (prediction,) = task["predictions"]
    assert prediction["model_version"] == "model"
    assert prediction["result"] == results_of(ROW)
    gold = {**ROW, "artifact": {**ROW["artifact"], "gold": True}}
    assert write([gold])[0]["annotations"][0]["ground_truth"] is True


def test_what_this_service_imports_again() -> None:
    fields = [field for field in FIELDS if field["type"] != "table"]
    tags = [tag for tag in TAGS if tag["row"] is None and tag["value"] is not None]
    # Label Studio's labels are spans; a money field has its value in a control.
    tags = [
        {**tag, "evidence": tag["evidence"] if tag["field"] == "number" else []} for tag in tags
    ]
    (task,) = write([{**ROW, "tags": tags}], fields)
    content = convert_task(task)
    assert content.properties["text"] == TEXT
    marks = [mark for mark in content.mark_lists[0] if getattr(mark, "control", "") != "home"]
    built = MarkConverter(fields).build_tags(marks, TEXT)
    again = CompiledFields(fields).check_tags(
        # The service fills in the text of spans.
        [{**one, "value": "A-1"} if one["field"] == "number" else one for one in built],
        text_length=len(TEXT),
        page_count=1,
    )
    labels = LabelBuilder(fields).build([tag for tag in tags if tag["field"] != "home"])
    assert LabelBuilder(fields).build(again) == labels
    (number,) = [tag for tag in again if tag["field"] == "number"]
    assert [(one["start"], one["end"]) for one in number["evidence"]] == [(10, 13)]


@pytest.mark.parametrize("text", ["a\r\nb", '"', "x" * 1_000_000, "a\ud800b", "\u2028", "\x01"])
def test_any_text_is_read_back(text: str) -> None:
    tags = [span("codes", 0, 1, text), {"field": "label", "value": text}]
    (task,) = write([{**ROW, "text": text, "tags": tags}])
    expected = text.replace("\ud800", "?")
    assert task["data"]["text"] == expected
    stretch, value = task["annotations"][0]["result"]
    assert stretch["value"]["text"] == expected[0]
    assert stretch["meta"]["text"] == value["value"]["text"] == [expected]


def test_no_rows_and_rows_without_anything() -> None:
    assert write([]) == []
    assert write([], []) == []
    (task,) = write([{}])
    assert task["data"]["text"] == ""
    assert task["annotations"] == [{"ground_truth": False, "result": []}]
