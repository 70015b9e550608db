"""Invoices in currencies without decimal places, and with three of them."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest

from app.billing.invoices.models import Invoice
from app.billing.invoices.service import documents
from app.billing.plans import catalog
from app.kit import db
from app.kit.ids import uuid7
from tests.billing.conftest import Customer, insert_plan
from tests.factories import run_jobs_of


def test_a_valid_draft_does_not_hide_an_invalid_one(monkeypatch: pytest.MonkeyPatch) -> None:
    organization_id = uuid7()
    invalid, valid = (
        Invoice(organization_id=organization_id, status="draft", buyer={}) for _ in range(2)
    )
    problems = {invalid: "The BIC is not valid.", valid: None}
    monkeypatch.setattr(documents, "find_problem", problems.get)
    expected = {organization_id: "The BIC is not valid."}
    for drafts in ([invalid, valid], [valid, invalid]):
        assert documents.find_problems(drafts) == expected


@pytest.fixture(params=["JPY", "KWD"])
def currency(request: pytest.FixtureRequest, customer: Customer) -> Iterator[str]:
    """Give the customer a plan in a currency; afterwards, the plan is one that exists."""
    name = f"plan-{uuid7().hex}"
    plan = replace(catalog.get_plan("team"), currency=request.param, price=Decimal("4999.5"))
    with customer.org.app.app_context(), db.transaction():
        insert_plan(plan, name)
    customer.sql("UPDATE organizations SET plan = :name WHERE id = :org", name=name)
    customer.sql("DELETE FROM plan_changes WHERE organization_id = :org")
    customer.sql("UPDATE billing_profiles SET currency = :currency", currency=request.param)
    yield request.param
    customer.sql("UPDATE organizations SET plan = 'unlimited' WHERE id = :org")


def test_amounts_have_the_decimal_places_of_their_currency(
    customer: Customer, currency: str
) -> None:
    customer.record_usage("documents_per_month", "2001-03-05", 1_111)
    customer.record_usage("documents_per_month", "2001-04-05", 10**12)
    customer.issue("2001-03")
    customer.issue("2001-04")
    large, small = customer.list_invoices()
    amounts = [line["amount"] for line in small["lines"]]
    assert amounts == {"JPY": ["5000", "6"], "KWD": ["4999.500", "5.550"]}[currency]
    assert small["subtotal"] == {"JPY": "5006", "KWD": "5005.050"}[currency]
    last = {"JPY": "39999999760", "KWD": "39999999760.000"}[currency]
    assert large["lines"][-1]["amount"] == last
    run_jobs_of(customer.org, "invoice_files")
    for invoice in (large, small):
        path = f"/billing/invoices/{invoice['id']}/pdf"
        assert customer.org.api("admin").get(path).status_code == 200
    rows = [invoice["pdf"] is not None for invoice in customer.list_invoices()]
    assert rows == [True, True]
