"""Closing a month writes the invoices of all organizations."""

from collections.abc import Callable

from flask import Flask

from tests.billing.conftest import Customer
from tests.factories import make_org, operator


def test_closing_a_month_issues_invoices_and_their_files(
    app: Flask, customer: Customer, work: Callable[[], None]
) -> None:
    draft = Customer(make_org(app))
    draft.set_created_at("2001-01-01T00:00:00Z")
    draft.start_with_plan("business")
    for _ in range(2):
        answer = operator(app).post("/internal/billing/close-period", json={"period": "2003-05"})
        assert answer.status_code == 202
    work()
    (invoice,) = customer.list_invoices()
    assert (invoice["status"], invoice["period"]["from"]) == ("issued", "2003-05-01T00:00:00Z")
    assert invoice["pdf"] is not None
    (other,) = draft.list_invoices()
    assert (other["status"], other["subtotal"]) == ("draft", "299.00")
    for old_customer in (customer, draft):
        old_customer.set_created_at("2026-11-01T00:00:00Z")
