"""Routes for invoices."""

from typing import Any
from uuid import UUID

from app.billing.invoices.schemas import Invoice, InvoiceFilters, UpcomingInvoice
from app.billing.invoices.service import reading
from app.kit.api.blueprint import Blueprint, File, Listing
from app.kit.api.responses import Download
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint(
    "billing-invoices", description="Invoices, credit notes and the billing profile."
)
_PERMISSION = "billing:manage"


@blueprint.get(
    "/billing/invoices",
    permission=_PERMISSION,
    query=Listing(sort_keys=("-created_at", "period"), filters=InvoiceFilters, has_period=True),
    returns=Invoice,
)
def list_invoices(caller: Caller, query: dict[str, Any]) -> Page:
    """List invoices.

    Returns invoices and credit notes with their lines. There is no invoice for a month in which no
    amount is due.
    """
    return reading.list_invoices(**query)


@blueprint.get("/billing/invoices/upcoming", permission=_PERMISSION, returns=UpcomingInvoice)
def get_upcoming_invoice(caller: Caller) -> dict[str, Any]:
    """Get the upcoming invoice.

    Returns the invoice that would be created if the current month were closed now. It contains the
    price of the current plan until the end of the month, and the usage so far.
    """
    return reading.get_upcoming_invoice(caller.org.id)


@blueprint.get("/billing/invoices/{invoice_id}", permission=_PERMISSION, returns=Invoice)
def get_invoice(caller: Caller, invoice_id: UUID) -> dict[str, Any]:
    """Get an invoice.

    Returns an invoice or a credit note with its lines. After an invoice is issued, only `status`,
    `paid_at`, `pdf` and `updated_at` change.
    """
    return reading.get(invoice_id)


@blueprint.get(
    "/billing/invoices/{invoice_id}/pdf", permission=_PERMISSION, returns=File(("application/pdf",))
)
def download_invoice_pdf(caller: Caller, invoice_id: UUID) -> Download:
    """Download the PDF of an invoice.

    Returns the stored PDF/A-3 file, or a byte range of it. The file contains the invoice as XML (EN
    16931) if the currency has at most two decimal places. Responds with 409 `conflict` if there is
    no file yet; `details.state` is `draft` or `pending`. If the operator has enabled
    `DOWNLOAD_LINKS`, the response is a redirect (307) to a signed link to the object store.
    """
    return reading.download_pdf(invoice_id)
