"""The demo's schemas are whole, and the documents' labels fit them."""

import re
from collections import Counter
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from demo.documents import DOCUMENTS, DemoDocument
from demo.schemas import CONTRACT, INVOICE

SCHEMAS = {"invoice": INVOICE, "contract": CONTRACT}
COMMON = {"key", "label", "type", "required", "multiple", "description"}
OPTIONAL = {"options", "columns", "constraints"}
POLICY = {
    "labels_per_artifact",
    "sample_rate",
    "auto_accept_agreement",
    "auto_accept_confidence",
    "max_rejections",
}
TYPES = {
    "invoice": {
        "invoice_number": "text",
        "invoice_date": "date",
        "due_date": "date",
        "supplier_name": "text",
        "supplier_address": "address",
        "supplier_vat_id": "text",
        "customer_name": "text",
        "iban": "text",
        "currency": "currency",
        "subtotal": "money",
        "tax_amount": "money",
        "total": "money",
        "line_items": "table",
        "line_items.description": "text",
        "line_items.quantity": "number",
        "line_items.unit_price": "money",
        "line_items.amount": "money",
        "paid": "boolean",
    },
    "contract": {
        "title": "text",
        "parties": "text",
        "effective_date": "date",
        "end_date": "date",
        "governing_law": "country",
        "contract_type": "choice",
        "termination_notice_days": "integer",
        "value": "money",
        "confidentiality_clause": "span",
        "signed": "boolean",
        "signature": "region",
    },
}


def fields(name: str) -> dict[str, dict[str, Any]]:
    """The schema's fields by key, columns as `table.column`."""
    found = {}
    for field in SCHEMAS[name]["fields"]:
        found[field["key"]] = field
        for column in field.get("columns", ()):
            found[f"{field['key']}.{column['key']}"] = column
    return found


def fits(kind: str, value: Any) -> bool:
    """Whether a value has the canonical form of its field's type."""
    if kind == "money":
        amount, currency = Decimal(value["amount"]), value["currency"]
        return amount >= 0 and re.fullmatch("[A-Z]{3}", currency) is not None and len(value) == 2
    if kind == "date":
        return date.fromisoformat(value).isoformat() == str(value)
    if kind in {"country", "currency"}:
        return re.fullmatch("[A-Z]{2,3}", value) is not None
    expected = {"boolean": bool, "integer": int, "number": int | float}.get(kind, str)
    return isinstance(value, expected) and (isinstance(value, bool) == (kind == "boolean"))


@pytest.mark.parametrize("name", SCHEMAS)
def test_fields_and_their_types(name: str) -> None:
    schema = SCHEMAS[name]
    found = fields(name)
    assert {key: field["type"] for key, field in found.items()} == TYPES[name]
    assert len(found) == sum(1 + len(field.get("columns", ())) for field in schema["fields"])
    for key, field in found.items():
        assert field.keys() >= COMMON, key
        assert field.keys() <= COMMON | OPTIONAL, key
        assert ("options" in field) == (field["type"] == "choice")
        assert ("columns" in field) == (field["type"] == "table")
        assert re.fullmatch("[a-z][a-z0-9_]{0,63}", field["key"])
        assert field["description"].endswith(".")


@pytest.mark.parametrize("name", SCHEMAS)
def test_everything_around_the_fields(name: str) -> None:
    schema = SCHEMAS[name]
    assert schema["document_type"] == name
    assert schema["name"]
    assert schema["description"]
    assert schema["review_policy"].keys() == POLICY
    # All submissions wait for a person, so that the demo's queue has something in it.
    assert schema["review_policy"]["sample_rate"] == 1.0
    assert schema["review_policy"]["auto_accept_agreement"] is None
    assert schema["review_policy"]["auto_accept_confidence"] is None
    assert len(schema["guidelines"]) > 300
    assert schema["guidelines"].count("\n- **") >= 5


@pytest.mark.parametrize("document", DOCUMENTS, ids=[document.name for document in DOCUMENTS])
def test_truth_fits_its_schema(document: DemoDocument) -> None:
    known = fields(document.schema)
    seen = Counter((str(tag["field"]), tag.get("row")) for tag in document.correct_tags)
    for tag in document.correct_tags:
        key, row = str(tag["field"]), tag.get("row")
        field = known[key]
        assert tag["evidence"] == []
        assert fits(field["type"], tag["value"]), key
        assert ("." in key) == (row is not None)
        assert seen[key, row] == 1 or field["multiple"], key
        if field["type"] == "choice":
            assert tag["value"] in {option["value"] for option in field["options"]}
    given = {key for key, _ in seen}
    assert given >= {k for k, field in known.items() if field["required"] and "." not in k}
    for row in {tag["row"] for tag in document.correct_tags if "row" in tag}:
        assert ("line_items.description", row) in seen
        assert ("line_items.amount", row) in seen
