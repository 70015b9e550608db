"""The examples of docs/integrators/schema-import.md give what the page says."""

import json
import re
from pathlib import Path

import pytest

from app.engines.schema_sources import FORMATS
from app.engines.schema_sources.json_schema.reader import read_json_schema
from app.schemas.templates.catalog import load_templates

PAGE = (Path(__file__).parents[2] / "docs/integrators/schema-import.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(
    ("format_", "content", "fields"),
    [
        (
            "json_schema",
            _blocks("json")[1],
            {
                "number": "text",
                "order_date": "date",
                "state": "choice",
                "ship_to_street": "text",
                "lines": "table",
            },
        ),
        ("portable", _blocks("json")[2], {"total": "money"}),
        (
            "label_studio",
            _blocks("xml")[0],
            {"topic": "choice", "person": "span", "strasse": "span"},
        ),
    ],
)
def test_an_example_gives_its_fields(format_: str, content: str, fields: dict[str, str]) -> None:
    found = FORMATS[format_](content)
    assert {field["key"]: field["type"] for field in found.fields} == fields


def test_the_warning_shown_is_one() -> None:
    content = {"properties": {"color": {"type": "string", "default": "red"}}}
    (warning,) = read_json_schema(content).warnings
    shown = json.loads(_blocks("json")[0])
    assert (warning.path, warning.message) == (shown["path"], shown["message"])


def test_the_table_of_industries_is_that_of_the_templates() -> None:
    section = PAGE.partition("## Templates")[2].partition("## Import")[0]
    told = {
        template: industry
        for industry, listed in re.findall(r"^\| `(\w+)` \| (`.+`) \|$", section, re.MULTILINE)
        for template in re.findall(r"`(\w+)`", listed)
    }
    assert told == {template.id: template.industry for template in load_templates().values()}
