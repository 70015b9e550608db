"""The list of invoices, and the upcoming invoice, which equals what closing creates."""

import itertools
from datetime import UTC, datetime
from typing import Any

import pytest

from app.billing.plan_changes import service as plan_changes
from tests.billing.conftest import Customer
from tests.factories.orgs import get_data

_SAME = ("period", "currency", "lines", "subtotal", "tax", "total")


def get_upcoming(customer: Customer) -> dict[str, Any]:
    return dict(get_data(customer.org.api("admin").get("/billing/invoices/upcoming")))


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("day", [12, 31])
def test_the_upcoming_invoice_is_what_closing_creates(
    customer: Customer, monkeypatch: pytest.MonkeyPatch, day: int, language: str
) -> None:
    customer.set_profile(language=language, tax_number=None)
    customer.set_created_at("2001-03-02T08:00:00Z")
    customer.add_plan_change("business", "2001-03-07T10:11:12Z", "team")
    customer.record_usage("documents_per_month", "2001-03-06", 7_777)
    customer.record_usage("documents_per_month", "2001-03-09", 4_321)
    customer.record_usage("stored_bytes", "2001-03-09", 10**11 + 1)
    now = datetime(2001, 3, day, 23, 59, 59, tzinfo=UTC)
    monkeypatch.setattr(
        "app.billing.invoices.service.reading.plan_changes.get_database_time", lambda: now
    )
    upcoming = get_upcoming(customer)
    monkeypatch.undo()
    assert len(upcoming["lines"]) > 4
    invoice = customer.issue_invoice()
    assert {name: invoice[name] for name in _SAME} == upcoming


def test_nothing_to_pay(customer: Customer) -> None:
    customer.start_with_plan("free")
    upcoming = get_upcoming(customer)
    assert (upcoming["lines"], upcoming["subtotal"], upcoming["total"]) == ([], "0.00", "0.00")


def test_the_list_has_filters_and_an_order(customer: Customer) -> None:
    months = ("2001-03", "2001-01", "2001-02")
    for month in months:
        customer.issue(month)
    shown = [invoice["period"]["from"][:7] for invoice in customer.list_invoices()]
    assert shown == list(reversed(months))
    by_period = [i["period"]["from"][:7] for i in customer.list_invoices(sort="period")]
    assert by_period == sorted(months)
    assert customer.list_invoices(status="paid") == []
    assert customer.list_invoices(kind="credit_note") == []
    assert len(customer.list_invoices(status="issued", kind="invoice")) == 3
    created = customer.list_invoices()[0]["created_at"]
    assert len(customer.list_invoices(created_before=created)) == 2
    assert len(customer.list_invoices(created_after=created)) == 1
    pages = []
    cursor = None
    for _ in itertools.repeat(None, 3):
        query = {"page_size": 1, **({"cursor": cursor} if cursor else {})}
        answer = customer.org.api("admin").get("/billing/invoices", query_string=query)
        pages += [invoice["period"]["from"][:7] for invoice in answer.json["data"]]
        assert answer.json["meta"]["total"] == 3
        cursor = answer.json["meta"]["next_cursor"]
    assert (pages, cursor) == (list(reversed(months)), None)


def test_get_database_time_is_in_utc(customer: Customer) -> None:
    with customer.org.app.app_context():
        assert plan_changes.get_database_time().tzinfo is not None
