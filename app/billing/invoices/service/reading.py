"""Read invoices and their files, and compute the upcoming invoice."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack
from uuid import UUID

from app.billing.invoices import queries
from app.billing.invoices.models import Invoice, InvoiceStatus
from app.billing.invoices.queries import InvoiceFilters
from app.billing.invoices.service import computing
from app.billing.invoices.service.computing import InvoiceContent, InvoiceInputs
from app.billing.invoices.service.dumping import dump_line, dump_tax
from app.billing.plan_changes import service as plan_changes
from app.billing.plan_changes.versions import PlanVersions
from app.billing.plans import catalog
from app.billing.profiles import service as profiles
from app.billing.seller.configuration import find_configuration
from app.billing.usage.service import measuring
from app.identity.organizations.models import Organization
from app.kit import db, errors, tenancy
from app.kit.api.responses import Download
from app.kit.days import get_month_bounds
from app.kit.pagination import Page, PageRequest
from app.kit.stored_files import build_linked_download


def list_invoices(*, page: PageRequest, **filters: Unpack[InvoiceFilters]) -> Page:
    """Return a page of the invoices and credit notes of the current organization."""
    invoice_page = queries.list_invoices(page, filters)
    return replace(invoice_page, items=[render(invoice) for invoice in invoice_page.items])


def list_all(
    *, slug: str | None = None, status: str | None = None, period_start: datetime | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the invoices and credit notes of all organizations, oldest first.

    Arguments that are not None are filters. `period_start` is the start of a billing period.
    """
    with tenancy.across_organizations(reason="the operator sees the invoices of all organizations"):
        rows = queries.list_all(slug=slug, status=status, period_start=period_start)
        for organization_slug, invoice in rows:
            yield {"organization": organization_slug, **render(invoice)}


def get(invoice_id: UUID) -> dict[str, Any]:
    """Return an invoice or a credit note. Raises 404 if it does not exist."""
    return render(errors.require_found(queries.get(invoice_id)))


def get_upcoming_invoice(organization_id: UUID) -> dict[str, Any]:
    """Return the invoice that would be created if the current month were closed now.

    The invoice contains the price of the current plan until the end of the month, and the usage so
    far. If amounts in several currencies are due, returns the invoice in the currency of the
    current plan, or the first invoice if there is none in this currency. If no amount is due,
    returns an invoice without lines. Raises BillingFileError if the billing file is invalid.
    """
    organization = db.session().get_one(Organization, organization_id)
    month = get_month_bounds(plan_changes.get_database_time())
    profile, configuration = profiles.find(), find_configuration()
    changes = plan_changes.get_changes([organization_id], month.start)[organization_id]
    inputs = InvoiceInputs(organization, changes, profile, PlanVersions(), measuring.measure_period)
    contents = computing.compute(inputs, month, configuration)
    currency = catalog.get_plan(organization.plan).currency
    content = next(
        (content for content in contents if content.currency == currency),
        contents[0]
        if contents
        else computing.build_empty_content(currency, profile, configuration),
    )
    return {"period": {"from": month.start, "to": month.end}, **_dump_content(content)}


def render(invoice: Invoice) -> dict[str, Any]:
    """Render an invoice or a credit note in the API's format."""
    return {
        "id": invoice.id,
        "kind": invoice.kind,
        "number": invoice.number,
        "status": invoice.status,
        "period": {"from": invoice.period_from, "to": invoice.period_to},
        "currency": invoice.currency,
        "language": invoice.language,
        "seller": profiles.render_party(invoice.seller),
        "buyer": None if invoice.buyer is None else profiles.render_party(invoice.buyer),
        "lines": invoice.lines,
        "subtotal": f"{invoice.subtotal:f}",
        "tax": invoice.tax,
        "total": f"{invoice.total:f}",
        "notes": invoice.notes,
        "refers_to": invoice.refers_to,
        "issued_at": invoice.issued_at,
        "due_at": invoice.due_at,
        "paid_at": invoice.paid_at,
        "pdf": _dump_file(invoice.pdf),
        "created_at": invoice.created_at,
        "updated_at": invoice.updated_at,
    }


def download_pdf(invoice_id: UUID) -> Download:
    """Return the stored PDF of an invoice as a download.

    Raises 404 if the invoice does not exist, and 503 if the file storage is not available. If there
    is no PDF yet, raises 409 with `draft` or `pending` as `details.state`.
    """
    invoice = errors.require_found(queries.get(invoice_id))
    if invoice.status == InvoiceStatus.DRAFT:
        message = "The invoice is a draft. Its PDF is created after it is issued."
        raise errors.conflict(message, state="draft")
    if invoice.pdf is None:
        message = "The PDF is being rendered. Try again in a few seconds."
        raise errors.conflict(message, state="pending")
    return build_linked_download(
        invoice.pdf["key"],
        size=invoice.pdf["size"],
        media_type="application/pdf",
        name=f"{invoice.number}.pdf".replace("/", "-"),
        sha256=invoice.pdf["sha256"],
        # An invoice keeps its PDF, so the file is missing only while the storage is being restored.
        build_missing_error=errors.storage_unavailable,
    )


def _dump_content(content: InvoiceContent) -> dict[str, Any]:
    totals = content.totals
    return {
        "currency": content.currency,
        "lines": [dump_line(line) for line in content.lines],
        "subtotal": f"{totals.subtotal:f}",
        "tax": dump_tax(totals.taxes[0]) if totals.taxes else None,
        "total": f"{totals.total:f}",
    }


def _dump_file(file: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if file is None else {"sha256": file["sha256"], "size_bytes": file["size"]}
