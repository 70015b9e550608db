"""What the operator does with issued invoices: mark them as paid, void and credit them."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from app.billing.invoices import queries
from app.billing.invoices.service import correcting, documents, issuing
from app.billing.seller.configuration import require_configuration
from app.kit import db
from tests.billing.conftest import Customer
from tests.billing.invoices.test_einvoices import list_xml
from tests.engines.invoices.rules import find_violations
from tests.factories import run_jobs_of
from tests.factories.printing import assert_printed_while_read, trace_list


@pytest.fixture
def invoice(customer: Customer) -> dict[str, Any]:
    customer.set_profile(
        tax_number=None, address={"lines": ["A 1"], "city": "Berlin", "country": "DE"}
    )
    invoice = customer.issue_invoice()
    assert (invoice["subtotal"], invoice["total"]) == ("49.00", "58.31")
    return invoice


def run_billing_command(customer: Customer, *arguments: str) -> tuple[int, str]:
    """Run a command, and return its exit status and its output."""
    result = customer.org.app.test_cli_runner().invoke(args=["billing", *arguments])
    return result.exit_code, result.output


def mark_paid(customer: Customer, invoice: dict[str, Any], *options: str) -> tuple[int, str]:
    return run_billing_command(customer, "invoices", "mark-paid", invoice["number"], *options)


def void(customer: Customer, invoice: dict[str, Any], reason: str = "x") -> tuple[int, str]:
    return run_billing_command(customer, "invoices", "void", invoice["number"], "--reason", reason)


def get_invoice(customer: Customer, invoice: dict[str, Any]) -> dict[str, Any]:
    invoice_data: dict[str, Any] = (
        customer.org.api("admin").get(f"/billing/invoices/{invoice['id']}").json["data"]
    )
    return invoice_data


def test_marking_an_invoice_as_paid(customer: Customer, invoice: dict[str, Any]) -> None:
    status, output = mark_paid(customer, invoice)
    assert status == 0, output
    paid = get_invoice(customer, invoice)
    assert (paid["status"], paid["paid_at"] is not None) == ("paid", True)
    changing = ("status", "paid_at", "updated_at")
    assert {k: v for k, v in paid.items() if k not in changing} == {
        k: v for k, v in invoice.items() if k not in changing
    }
    status, output = mark_paid(customer, invoice)
    assert (status, "only issued invoices can be paid" in output) == (1, True)


@pytest.mark.parametrize("day", ["2001-01-01", "2999-01-01"])
def test_a_day_of_payment_that_cannot_be(
    customer: Customer, invoice: dict[str, Any], day: str
) -> None:
    status, output = mark_paid(customer, invoice, "--on", day)
    assert (status, "between the day of issue and today" in output) == (1, True)
    assert get_invoice(customer, invoice)["status"] == "issued"


@pytest.mark.parametrize(("hour", "status"), [(9, 1), (11, 0)])
def test_today_is_that_of_any_time_zone(
    customer: Customer,
    invoice: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    hour: int,
    status: int,
) -> None:
    """At 11:00 UTC, the next day has begun in Kiritimati."""
    now = (datetime.fromisoformat(invoice["issued_at"]) + timedelta(days=1)).replace(hour=hour)
    day = str(now.date() + timedelta(days=1))
    with monkeypatch.context() as patch:
        patch.setattr(db, "utc_now", lambda: now)
        result = mark_paid(customer, invoice, "--on", day)
    assert result[0] == status, result
    if status == 0:
        assert datetime.fromisoformat(get_invoice(customer, invoice)["paid_at"]) == now


def test_the_day_of_issue_is_that_of_any_time_zone(
    customer: Customer, invoice: dict[str, Any]
) -> None:
    issued_at = datetime.fromisoformat(invoice["issued_at"])
    day = str((issued_at - timedelta(hours=12)).date())
    status, output = mark_paid(customer, invoice, "--on", day)
    assert status == 0, output
    assert get_invoice(customer, invoice)["paid_at"] == invoice["issued_at"]


def test_voiding_an_invoice_by_a_credit_note(customer: Customer, invoice: dict[str, Any]) -> None:
    status, output = void(customer, invoice, "Sent by mistake")
    assert status == 0, output
    assert get_invoice(customer, invoice)["status"] == "void"
    (note,) = customer.list_invoices(kind="credit_note")
    for member in ("lines", "subtotal", "tax", "total", "buyer", "seller", "period", "currency"):
        assert note[member] == invoice[member]
    assert (note["status"], note["refers_to"], note["notes"], note["due_at"]) == (
        *("issued", invoice["id"]),
        *(["Sent by mistake"], None),
    )
    assert note["number"].startswith("CN-")
    run_jobs_of(customer.org, "invoice_files")
    assert customer.org.api("admin").get(f"/billing/invoices/{note['id']}/pdf").status_code == 200
    status, output = void(customer, invoice, "Again")
    assert (status, "The invoice is void" in output) == (1, True)
    assert len(customer.list_invoices()) == 2


def test_crediting_parts_of_an_invoice(customer: Customer, invoice: dict[str, Any]) -> None:
    credit = ("credit-note", invoice["number"], "--reason", "A day without service", "--amount")
    assert run_billing_command(customer, *credit, "9.99")[0] == 0
    (note,) = customer.list_invoices(kind="credit_note")
    assert (note["subtotal"], note["tax"]["amount"], note["total"]) == ("9.99", "1.90", "11.89")
    assert note["lines"][0]["description"] == "A day without service"
    assert get_invoice(customer, invoice) == invoice
    status, output = run_billing_command(customer, *credit, "39.02")
    assert (status, "Only 39.01 EUR before tax can still be credited" in output) == (1, True)
    status, output = void(customer, invoice)
    assert (status, "A part of the invoice has been credited" in output) == (1, True)
    assert run_billing_command(customer, *credit, "39.01")[0] == 0
    assert get_invoice(customer, invoice)["status"] == "void"
    notes = customer.list_invoices(kind="credit_note")
    assert sum(Decimal(note["subtotal"]) for note in notes) == Decimal("49.00")


@pytest.mark.parametrize(
    ("amounts", "taxes"),
    [
        (["33.33", "33.33", "33.34"], ["6.33", "6.34", "6.33"]),
        (["0.02", "0.02", "0.02", "99.94"], ["0.00", "0.01", "0.00", "18.99"]),
    ],
)
def test_credit_notes_for_a_whole_invoice_reverse_its_tax(
    customer: Customer, amounts: list[str], taxes: list[str]
) -> None:
    customer.set_profile(tax_number=None, address={"lines": ["A"], "city": "B", "country": "DE"})
    # 49.00, and 1,020 documents for 0.05 each.
    customer.record_usage("documents_per_month", "2001-03-05", 2_020)
    invoice = customer.issue_invoice()
    assert (invoice["subtotal"], invoice["tax"]["amount"]) == ("100.00", "19.00")
    for amount in amounts:
        note = ("credit-note", invoice["number"], "--amount", amount, "--reason", "Outage")
        assert run_billing_command(customer, *note)[0] == 0
    notes = customer.list_invoices(kind="credit_note", sort="created_at")
    assert [note["tax"]["amount"] for note in notes] == taxes
    assert sum(Decimal(note["total"]) for note in notes) == Decimal("119.00")
    assert get_invoice(customer, invoice)["status"] == "void"
    rendered = list_xml(customer)
    assert len(rendered) == len(notes) + 1
    assert [find_violations(xml) for xml in rendered.values()] == [[]] * len(rendered)


def test_a_credit_note_needs_an_account_that_can_be_rendered(
    customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with customer.org.app.app_context():
        valid = require_configuration()
    assert valid.payment is not None
    wrong = replace(valid, payment=replace(valid.payment, bic="COBA"))
    with monkeypatch.context() as earlier_release:
        earlier_release.setattr(issuing, "require_configuration", lambda: wrong)
        earlier_release.setattr(documents, "check_document", lambda _: None)
        customer.issue("2001-03")
    (invoice,) = customer.list_invoices()
    monkeypatch.setattr(correcting, "require_configuration", lambda: wrong)
    status, output = void(customer, invoice, "It has no PDF")
    assert (status, "cannot be rendered: payment.bic: is not a valid BIC" in output) == (1, True)
    assert customer.list_invoices() == [invoice]
    monkeypatch.setattr(correcting, "require_configuration", lambda: valid)
    status, output = void(customer, invoice, "It has no PDF")
    assert status == 0, output
    run_jobs_of(customer.org, "invoice_files")
    (note,) = customer.list_invoices(kind="credit_note")
    assert note["pdf"] is not None


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        ("0", "Must be a positive amount"),
        ("-1", "Must be a positive amount"),
        ("0.001", "at most 2 decimal places"),
        ("NaN", "Must be a positive amount"),
        ("1e30", "before tax can still be credited"),
        ("many", "is not a decimal number"),
    ],
)
def test_amounts_that_cannot_be_credited(
    customer: Customer, invoice: dict[str, Any], amount: str, message: str
) -> None:
    status, output = run_billing_command(
        *(customer, "credit-note", invoice["number"]), f"--amount={amount}", "--reason", "x"
    )
    assert status in (1, 2)
    assert message in output, output
    assert customer.list_invoices() == [invoice]


@pytest.mark.parametrize(
    "arguments",
    [
        ("invoices", "mark-paid", "NONE-1"),
        ("invoices", "void", "NONE-1", "--reason", "x"),
        ("credit-note", "NONE-1", "--amount", "1", "--reason", "x"),
    ],
)
def test_a_number_that_is_not_one(customer: Customer, arguments: tuple[str, ...]) -> None:
    status, output = run_billing_command(customer, *arguments)
    assert (status, "No invoice has this number" in output) == (1, True)


def test_a_credit_note_cannot_be_credited(customer: Customer, invoice: dict[str, Any]) -> None:
    void(customer, invoice)
    (note,) = customer.list_invoices(kind="credit_note")
    status, output = void(customer, note)
    assert (status, "This is a credit note" in output) == (1, True)


def test_listing_invoices(customer: Customer, invoice: dict[str, Any]) -> None:
    slug = customer.org.slug
    _, output = run_billing_command(customer, "invoices", "list", "--org", slug)
    assert invoice["number"] in output
    assert "2001-03" in output
    for option in (("--status", "void"), ("--period", "2001-04")):
        assert (
            invoice["number"]
            not in run_billing_command(customer, "invoices", "list", "--org", slug, *option)[1]
        )
    status, output = run_billing_command(customer, "invoices", "list", "--period", "2001-13")
    assert (status, "is not a month" in output) == (2, True)


@pytest.mark.usefixtures("invoice")
def test_the_list_is_not_kept_in_memory(
    customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer.issue("2001-04")
    monkeypatch.setattr(queries, "_BATCH_SIZE", 1)
    trace = trace_list(monkeypatch, queries, "list_all")
    status, output = run_billing_command(customer, "invoices", "list", "--org", customer.org.slug)
    assert status == 0, output
    assert_printed_while_read(trace)


@pytest.mark.parametrize(
    "command", [("invoices",), ("invoices", "list"), ("invoices", "mark-paid"), ("credit-note",)]
)
def test_each_command_has_help(customer: Customer, command: tuple[str, ...]) -> None:
    status, output = run_billing_command(customer, *command, "--help")
    assert (status, "Usage:" in output) == (0, True)
