"""The database refuses changes of what was issued, whoever makes them."""

import itertools

import pytest

from app.billing.invoices.models import TRANSITIONS, InvoiceStatus
from tests.billing.conftest import Customer
from tests.factories.counts import run_sql

_CHANGES = {
    "number": "'X-1'",
    "kind": "'credit_note'",
    "lines": "'[]'",
    "subtotal": "subtotal + 1",
    "total": "0",
    "tax": "'{}'",
    "currency": "'USD'",
    "buyer": "'{}'",
    "seller": "'{}'",
    "notes": "'[1]'",
    "issued_at": "now()",
    "due_at": "now()",
    "period_from": "now()",
    "period_to": "now()",
    "language": "'en'",
    "time_zone": "'UTC'",
    "organization_id": "gen_random_uuid()",
    "id": "gen_random_uuid()",
    "created_at": "now()",
    "refers_to": "id",
}


@pytest.fixture
def issued_customer(customer: Customer) -> Customer:
    customer.issue("2001-03")
    return customer


@pytest.mark.parametrize("column", _CHANGES)
def test_nothing_of_an_issued_invoice_can_be_changed(
    issued_customer: Customer, column: str
) -> None:
    before = issued_customer.list_invoices()
    with pytest.raises(Exception, match="an issued invoice cannot be changed"):
        issued_customer.sql(f"UPDATE invoices SET {column} = {_CHANGES[column]}")
    assert issued_customer.list_invoices() == before


def test_every_column_is_tried(issued_customer: Customer) -> None:
    rows = run_sql(
        issued_customer.org,
        "SELECT attname FROM pg_attribute WHERE attrelid = CAST('invoices' AS regclass)"
        " AND attnum > 0 AND NOT attisdropped",
    )
    changing = {"status", "paid_at", "pdf", "xml", "updated_at", "revision"}
    assert {row.attname for row in rows} - changing == set(_CHANGES)


def test_an_issued_invoice_cannot_be_deleted(issued_customer: Customer) -> None:
    with pytest.raises(Exception, match="an issued invoice cannot be deleted"):
        issued_customer.sql("DELETE FROM invoices")
    assert len(issued_customer.list_invoices()) == 1


@pytest.mark.parametrize("file", ["pdf", "xml", "paid_at"])
def test_files_and_the_payment_are_stored_once(issued_customer: Customer, file: str) -> None:
    # The row stays, and other tests list the invoices of all organizations.
    stored_file = """'{"key": "stored", "sha256": "5a", "size": 1}'"""
    times = ("now()", "now() + interval '1 day'")
    first, second = times if file == "paid_at" else (stored_file, "'[]'")
    issued_customer.sql(f"UPDATE invoices SET {file} = {first}")
    for value in (second, "NULL"):
        with pytest.raises(Exception, match="an issued invoice cannot be changed"):
            issued_customer.sql(f"UPDATE invoices SET {file} = {value}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pair
        for pair in itertools.product(InvoiceStatus, InvoiceStatus)
        if pair[0] != pair[1] and pair[0] != InvoiceStatus.DRAFT
    ],
)
def test_the_trigger_has_the_table_of_transitions(
    issued_customer: Customer, before: InvoiceStatus, after: InvoiceStatus
) -> None:
    if before != InvoiceStatus.ISSUED:
        issued_customer.sql("UPDATE invoices SET status = :status", status=before.value)
    change = "UPDATE invoices SET status = :status"
    if after in TRANSITIONS[before]:
        issued_customer.sql(change, status=after.value)
        assert issued_customer.list_invoices()[0]["status"] == after
        return
    with pytest.raises(Exception, match=r"cannot become|cannot be changed"):
        issued_customer.sql(change, status=after.value)


def test_a_draft_has_no_number_and_everything_else_has_one(issued_customer: Customer) -> None:
    with pytest.raises(Exception, match="ck_invoices_numbered"):
        issued_customer.sql(
            """INSERT INTO invoices SELECT (jsonb_populate_record(i, jsonb_build_object(
                   'id', gen_random_uuid(), 'kind', 'credit_note', 'number', NULL))).*
               FROM invoices i"""
        )


def test_numbers_of_a_series_cannot_be_deleted(issued_customer: Customer) -> None:
    with pytest.raises(Exception, match="permission denied"):
        issued_customer.sql("DELETE FROM invoice_series")
