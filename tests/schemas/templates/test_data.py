"""Every template file by itself: complete, and of use to somebody who labels with it."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from app.engines.fields import check_fields
from app.schemas.templates.catalog import DATA_DIR, INDUSTRIES, load_templates

FILES = sorted(DATA_DIR.glob("*.toml"))
WANTED = {
    *("invoice", "receipt", "purchase_order", "delivery_note", "bill_of_lading"),
    *("bank_statement", "bank_check", "pay_stub", "w2", "w9", "passport", "driving_licence"),
    *("health_insurance_card", "insurance_claim", "contract", "non_disclosure_agreement", "lease"),
    *("resume", "utility_bill", "lab_report", "discharge_summary", "know_your_customer"),
}
_PLAIN = re.compile(r"^[A-Z0-9].*")


def _load_fields(path: Path) -> list[dict[str, Any]]:
    return check_fields(tomllib.loads(path.read_text(encoding="utf-8"))["fields"])


def _list_fields_and_columns(path: Path) -> list[dict[str, Any]]:
    fields = _load_fields(path)
    return [*fields, *(column for field in fields for column in field["columns"])]


def test_all_of_them_are_there() -> None:
    assert set(load_templates()) == WANTED == {path.stem for path in FILES}
    assert {template.industry for template in load_templates().values()} == set(INDUSTRIES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_template_says_what_it_is_for(path: Path) -> None:
    template = load_templates()[path.stem]
    assert template.id == template.document_type == path.stem
    assert template.name == template.name.strip()
    assert template.industry in INDUSTRIES
    assert len(template.description.split()) >= 10
    assert template.guidelines.startswith("## What to label\n")
    assert "\n## Edge cases\n" in template.guidelines
    assert len(template.guidelines.split()) >= 100
    assert template.field_count >= 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_its_fields_are_complete(path: Path) -> None:
    raw = tomllib.loads(path.read_text(encoding="utf-8"))["fields"]
    told = [*raw, *(column for field in raw for column in field.get("columns", []))]
    assert all(field["label"].strip() and field["description"].strip() for field in told)
    for field in _list_fields_and_columns(path):
        assert field["description"].endswith((".", "?")), field["key"]
        assert _PLAIN.match(field["label"]) or field["label"][0] in "abcdef", field["key"]
        assert not field["options"] or len(field["options"]) >= 2, field["key"]
    required = [field["key"] for field in _load_fields(path) if field["required"]]
    assert 1 <= len(required) <= len(_load_fields(path)) / 2


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_its_labels_tell_its_fields_apart(path: Path) -> None:
    fields = _load_fields(path)
    for members in [fields, *(field["columns"] for field in fields if field["columns"])]:
        labels = [field["label"].casefold() for field in members]
        assert len(labels) == len(set(labels))
        for field in members:
            named = [option["label"].casefold() for option in field["options"]]
            assert len(named) == len(set(named)), field["key"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_field_wants_what_paper_does_not_say(path: Path) -> None:
    """An instant needs a time and its zone: paper has a day, and at times a time of day."""
    assert [
        field["key"] for field in _list_fields_and_columns(path) if field["type"] == "datetime"
    ] == []


@pytest.mark.parametrize(
    ("template", "table"), [("invoice", "tax_breakdown"), ("receipt", "taxes")]
)
def test_a_tax_whose_rate_is_not_printed_has_a_row(template: str, table: str) -> None:
    fields = {field["key"]: field for field in load_templates()[template].fields}
    needed = [column["key"] for column in fields[table]["columns"] if column["required"]]
    assert needed == ["tax_amount"]


def test_an_invoice_has_what_is_booked_by() -> None:
    fields = {field["key"]: field for field in load_templates()["invoice"].fields}
    assert len(fields) >= 25
    columns = {column["key"] for column in fields["line_items"]["columns"]}
    assert columns >= {"quantity", "unit_price", "tax_rate", "net_amount", "gross_amount"}
    assert fields["iban"]["constraints"] == {"formats": ["iban"]}
    assert fields["bic"]["constraints"] == {"formats": ["bic"]}


def test_a_wage_statement_has_all_of_its_boxes() -> None:
    labels = []
    for field in load_templates()["w2"].fields:
        labels += [field["label"], *(column["label"] for column in field["columns"])]
    boxes = {int(found[0]) for found in map(re.compile(r"\d+").match, labels) if found}
    assert boxes >= set(range(1, 21))
