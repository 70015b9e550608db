"""The events that invoices emit."""

from datetime import datetime
from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class IssuedPayload(TypedDict):
    """The payload of `ISSUED`; `period_from` is the start of the invoices' period."""

    period_from: datetime


class InvoicePayload(TypedDict):
    """The payload of `PAID` and `VOIDED`."""

    invoice_id: UUID
    number: str


ISSUED = EventName[IssuedPayload]("invoices.issued")
"""Invoices or credit notes of the organization were issued."""
PAID = EventName[InvoicePayload]("invoice.paid")
VOIDED = EventName[InvoicePayload]("invoice.voided")
