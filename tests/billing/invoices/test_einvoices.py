"""The XML of invoices and credit notes passes the schema and the rules of EN 16931."""

from decimal import Decimal
from typing import Any

import pytest

from app.billing.invoices.service import correcting
from app.kit import container, db
from tests.billing.conftest import Customer
from tests.engines.invoices.rules import find_violations, list_schema_errors
from tests.factories import run_jobs_of
from tests.factories.counts import run_sql

_BUYERS: dict[str, dict[str, Any]] = {
    "reverse charge": {},
    "domestic": {
        "address": {"lines": ["A 1"], "postal_code": "10115", "city": "Berlin", "country": "DE"},
        "tax_number": "DE136695976",
    },
    "consumer": {"tax_number": None, "language": "fr"},
    "outside": {
        "address": {"lines": ["1 Street"], "city": "Kowloon", "country": "HK"},
        "tax_number": None,
        "name": "株式会社サンプル",
        "language": "en",
    },
}


def list_xml(customer: Customer) -> dict[str, bytes]:
    """Render all files, and return the XML by number."""
    run_jobs_of(customer.org, "invoice_files")
    rows = run_sql(customer.org, "SELECT number, xml FROM invoices ORDER BY id")
    with customer.org.app.app_context():
        storage = container.current().storage
        return {row.number: b"".join(storage.stream(row.xml["key"])) for row in rows}


@pytest.mark.parametrize("buyer", _BUYERS)
def test_invoices_and_credit_notes_follow_the_rules(customer: Customer, buyer: str) -> None:
    customer.set_profile(**_BUYERS[buyer])
    customer.set_created_at("2001-03-02T08:00:00Z")
    customer.add_plan_change("business", "2001-03-07T10:11:12Z", "team")
    customer.record_usage("documents_per_month", "2001-03-06", 7_777)
    customer.record_usage("documents_per_month", "2001-03-09", 4_321)
    customer.record_usage("stored_bytes", "2001-03-09", 10**11 + 1)
    customer.issue("2001-03")
    customer.issue("2001-04")
    later, first = [invoice["number"] for invoice in customer.list_invoices()]
    with customer.org.app.app_context(), db.transaction():
        correcting.void(first, reason="Sent by mistake")
        correcting.credit(later, amount=Decimal("1.23"), reason="A day without service")
    documents = list_xml(customer)
    assert len(documents) == 4
    for number, xml in documents.items():
        assert list_schema_errors(xml) == [], number
        assert find_violations(xml) == [], number
