"""The files of an invoice: rendered once, stored with their checksums, and kept."""

import hashlib

import pypdfium2
import pytest

from app.billing.invoices.service import documents
from app.engines.invoices.model import Document, InvoiceError
from app.kit import container, db, jobs, tenancy
from tests.billing.conftest import Customer
from tests.factories import run_jobs_of
from tests.factories.counts import run_sql


def download(customer: Customer, invoice_id: str) -> bytes:
    answer = customer.org.api("admin").get(f"/billing/invoices/{invoice_id}/pdf")
    assert answer.status_code == 200, answer.json
    assert answer.mimetype == "application/pdf"
    content: bytes = answer.data
    return content


def render(customer: Customer) -> None:
    run_jobs_of(customer.org, "invoice_files")


def test_the_download_is_the_stored_file(customer: Customer) -> None:
    customer.record_usage("documents_per_month", "2001-03-05", 1_200)
    invoice = customer.issue_invoice()
    path = f"/billing/invoices/{invoice['id']}/pdf"
    pending = customer.org.api("admin").get(path)
    assert (pending.status_code, pending.json["error"]["details"]) == (409, {"state": "pending"})
    assert invoice["pdf"] is None
    render(customer)
    (invoice,) = customer.list_invoices()
    content = download(customer, invoice["id"])
    assert invoice["pdf"] == {
        "sha256": hashlib.sha256(content).hexdigest(),
        "size_bytes": len(content),
    }
    answer = customer.org.api("admin").get(path, headers={"Range": "bytes=0-4"})
    assert (answer.status_code, answer.data) == (206, b"%PDF-")
    disposition = customer.org.api("admin").get(path).headers["Content-Disposition"]
    assert f'filename="{invoice["number"]}.pdf"' in disposition


def test_the_pdf_contains_the_stored_xml_and_all_amounts(customer: Customer) -> None:
    customer.record_usage("documents_per_month", "2001-03-05", 1_200)
    customer.issue("2001-03")
    render(customer)
    (invoice,) = customer.list_invoices()
    document = pypdfium2.PdfDocument(download(customer, invoice["id"]))
    (attachment,) = [document.get_attachment(n) for n in range(document.count_attachments())]
    (row,) = run_sql(customer.org, "SELECT xml FROM invoices WHERE id = :id", id=invoice["id"])
    with customer.org.app.app_context():
        stored = b"".join(container.current().storage.stream(row.xml["key"]))
    assert bytes(attachment.get_data()) == stored
    assert hashlib.sha256(stored).hexdigest() == row.xml["sha256"]
    assert invoice["number"].encode() in stored
    text = "".join(page.get_textpage().get_text_bounded() for page in document)
    for seen in (invoice["number"], "Muster & Söhne <b>GmbH</b>", "49,00", "10,00", "59,00"):
        assert seen in text.replace("\xa0", " "), text


def test_files_are_rendered_once(customer: Customer, monkeypatch: pytest.MonkeyPatch) -> None:
    customer.issue("2001-03")
    render(customer)
    before = customer.list_invoices()
    monkeypatch.setattr(documents, "render_pdf", lambda *_: pytest.fail("rendered again"))
    with customer.org.app.app_context(), tenancy.organization(customer.org.id):
        args = {"data": {"invoice_id": before[0]["id"]}}
        jobs.enqueue("invoices.render", args, organization_id=customer.org.id)
        db.session().commit()
    assert run_jobs_of(customer.org, "invoice_files") == 1
    assert customer.list_invoices() == before


def test_a_second_run_gives_the_same_bytes(
    customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer.issue("2001-03")
    rendered = []
    original = documents.render_pdf

    def render_twice(*arguments: object) -> bytes:
        rendered.extend(original(*arguments) for _ in range(2))  # type: ignore[arg-type]
        return rendered[0]

    monkeypatch.setattr(documents, "render_pdf", render_twice)
    render(customer)
    assert rendered[0] == rendered[1]


def test_the_period_has_the_same_days_in_every_time_zone(customer: Customer) -> None:
    customer.set_profile(time_zone="America/New_York", language="en")
    customer.issue("2001-03")
    render(customer)
    (invoice,) = customer.list_invoices()
    document = pypdfium2.PdfDocument(download(customer, invoice["id"]))
    text = "".join(page.get_textpage().get_text_bounded() for page in document)
    assert "1 Mar 2001" in text
    assert "31 Mar 2001" in text
    assert "28 Feb 2001" not in text


def test_an_invoice_that_cannot_be_rendered_does_not_block_later_ones(
    customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (broken_id,) = customer.issue("2001-03")
    (sound_id,) = customer.issue("2001-04")
    render_xml = documents.render_xml

    def fail_for_march(document: Document) -> bytes | None:
        if document.period_from.month == 3:
            raise InvoiceError("payment.bic", "is not a valid BIC")
        return render_xml(document)

    monkeypatch.setattr(documents, "render_xml", fail_for_march)
    render(customer)
    has_pdf = {one["id"]: one["pdf"] is not None for one in customer.list_invoices()}
    assert has_pdf == {str(broken_id): False, str(sound_id): True}
    jobs_of_files = run_sql(
        customer.org,
        "SELECT status, attempts, error FROM jobs"
        " WHERE organization_id = :org AND function = 'invoices.render' AND error IS NOT NULL",
    )
    assert {(row.status, row.attempts) for row in jobs_of_files} == {("queued", 1)}
    message = f"{broken_id}: payment.bic: is not a valid BIC"
    assert all(message in row.error for row in jobs_of_files)
