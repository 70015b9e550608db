"""The SDK of Label Studio reads what is exported for it: configuration, tasks and results."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.engines.formats import FORMATS
from tests.engines.formats.scripts import run_with_library
from tests.engines.formats.test_label_studio import FIELDS, ROW, write

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".venv" / "label-studio-sdk"
SCRIPT = ROOT / "tools" / "label_studio" / "validate.py"


def validate(tasks: list[Any], folder: Path) -> dict[str, Any]:
    assert FOLDER.is_dir(), "make .venv/label-studio-sdk.stamp installs the SDK"
    file = folder / "tasks.json"
    file.write_text(json.dumps(tasks), encoding="utf-8")
    return dict(run_with_library(FOLDER, SCRIPT, file))


@pytest.mark.parametrize("results", ["annotations", "predictions"])
def test_the_sdk_reads_tasks_and_configuration(tmp_path: Path, results: str) -> None:
    odd = [
        {"field": "kind", "value": "$5"},
        {"field": "gone", "value": 'name="Text"'},
        {"field": "text", "value": "a\nb"},
    ]
    tasks = write([ROW, {**ROW, "tags": odd, "text": None}, {}], results=results)
    found = validate(tasks, tmp_path)
    assert found["errors"] == []
    columns = {"items.name", "items.sizes", "items.new"}
    names = {field["key"] for field in FIELDS if field["type"] != "table"} | columns
    assert set(found["labels"]) == names | {"true", "false", "in", "out", 'a "b" <c>'}
    assert set(found["controls"]) == names | {"Label", "Other"}
    for task, read in zip(tasks, found["tasks"], strict=True):
        assert read["data"] == task["data"]
        assert [one["result"] for one in read[results]] == [one["result"] for one in task[results]]


def test_the_sdk_finds_what_is_wrong(tmp_path: Path) -> None:
    tasks = write([ROW])
    tasks[0]["annotations"][0]["result"][0]["value"]["labels"] = ["unknown"]
    del tasks[0]["data"]["text"]
    assert len(validate(tasks, tmp_path)["errors"]) == 2


def test_the_sdk_reads_the_sample_and_tasks_without_fields(tmp_path: Path) -> None:
    assert validate(json.loads(FORMATS["label_studio"].sample), tmp_path)["errors"] == []
    assert validate(write([ROW], []), tmp_path)["errors"] == []
