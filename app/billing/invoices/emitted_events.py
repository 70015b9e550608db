"""Events that invoices emit."""

from typing import TypedDict
from uuid import UUID

ISSUED = "invoices.issued"
"""Invoices or credit notes of the organization were issued; payload: {period_from}."""
PAID = "invoice.paid"
VOIDED = "invoice.voided"


class InvoicePayload(TypedDict):
    """The payload of `PAID` and `VOIDED`."""

    invoice_id: UUID
    number: str
