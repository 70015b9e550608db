"""Events that invoices emit."""

from typing import TypedDict
from uuid import UUID

ISSUED = "invoice.issued"
PAID = "invoice.paid"
VOIDED = "invoice.voided"


class InvoicePayload(TypedDict):
    """The payload of `ISSUED`, `PAID` and `VOIDED`; `kind` is `invoice` or `credit_note`."""

    invoice_id: UUID
    number: str
    kind: str
