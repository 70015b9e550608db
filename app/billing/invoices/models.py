"""Models for invoices and number series."""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Index, Numeric, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel, build_foreign_key


class InvoiceKind(StrEnum):
    """The types of billing documents. Each type has a separate number series."""

    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note"


class InvoiceStatus(StrEnum):
    """The statuses of invoices and credit notes.

    A draft is not issued and has no number. An invoice becomes void when its credit notes together
    cover its whole amount.
    """

    DRAFT = "draft"
    ISSUED = "issued"
    PAID = "paid"
    VOID = "void"


TRANSITIONS: dict[InvoiceStatus, frozenset[InvoiceStatus]] = {
    InvoiceStatus.DRAFT: frozenset((InvoiceStatus.ISSUED,)),
    InvoiceStatus.ISSUED: frozenset((InvoiceStatus.PAID, InvoiceStatus.VOID)),
    InvoiceStatus.PAID: frozenset((InvoiceStatus.VOID,)),
    InvoiceStatus.VOID: frozenset(),
}
"""The statuses that may follow each status. A trigger on the table also enforces this rule."""


class Invoice(TenantModel, db.Revised, db.Base):
    """An invoice or a credit note. Once it is issued, a trigger rejects changes to its content.

    `number` is null only for drafts. The period is from `period_from` (inclusive) to `period_to`
    (exclusive). `seller` and `buyer` have the fields of `engines.invoices.model.Party`; `seller`
    also has `payment`, the bank account. `buyer` is null for a draft without a billing profile.
    Decimals in `lines` and `tax` are stored as text. `refers_to` is the id of the invoice that a
    credit note corrects. `pdf` and `xml` describe the stored files: {key, sha256, size}, with the
    size in bytes. They are null if there is no file.
    """

    __tablename__ = "invoices"
    __table_args__ = (
        build_foreign_key("refers_to", "invoices", name="fk_invoices_organization_id_refers_to"),
        Index("ix_invoices_list", "organization_id", "created_at", "id"),
        Index("ix_invoices_period", "organization_id", "period_from", "id"),
        Index("uq_invoices_number", "number", unique=True),
        Index(
            "uq_invoices_of_period",
            "organization_id",
            "period_from",
            "currency",
            unique=True,
            postgresql_where=text("kind = 'invoice'"),
        ),
        CheckConstraint("(status = 'draft') = (number IS NULL)", name="numbered"),
        # The operator must keep invoices by law. See decision 0072.
        {"info": {"kept": True}},
    )

    kind: Mapped[str]
    number: Mapped[str | None]
    status: Mapped[str] = mapped_column(default=InvoiceStatus.DRAFT.value)
    period_from: Mapped[datetime]
    period_to: Mapped[datetime]
    currency: Mapped[str]
    language: Mapped[str]
    time_zone: Mapped[str]
    seller: Mapped[dict[str, Any]]
    buyer: Mapped[dict[str, Any] | None]
    lines: Mapped[list[Any]]
    subtotal: Mapped[Decimal] = mapped_column(Numeric())
    tax: Mapped[dict[str, Any]]
    total: Mapped[Decimal] = mapped_column(Numeric())
    notes: Mapped[list[Any]] = mapped_column(default=list)
    refers_to: Mapped[UUID | None]
    issued_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None]
    paid_at: Mapped[datetime | None]
    pdf: Mapped[dict[str, Any] | None]
    xml: Mapped[dict[str, Any] | None]


class InvoiceSeries(db.Base):
    """The last number in each number series. Claiming a number locks the row until the commit."""

    __tablename__ = "invoice_series"

    prefix: Mapped[str] = mapped_column(primary_key=True)
    last_number: Mapped[int] = mapped_column(BigInteger)
