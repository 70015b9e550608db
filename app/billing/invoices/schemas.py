"""Request and response schemas for invoices."""

from app.billing.invoices.models import InvoiceKind, InvoiceStatus
from app.billing.profiles.schemas import BillingAddress
from app.engines.invoices.texts import LANGUAGES
from app.kit.api.fields import Int, List, Nested, OneOf, Response, Schema, Str, UtcDateTime, Uuid

_AMOUNT = "A decimal number in the currency of the invoice."
_STATUS = (
    "`draft`: not issued yet, because the billing profile is missing or the invoice cannot be"
    " rendered. `void`: credit notes cover the whole invoice."
)
_CATEGORY = (
    "Tax category (UNTDID 5305): `S` standard rate, `Z` zero rate, `AE` reverse charge, `O` outside"
    " the scope of tax."
)


class InvoiceFilters(Schema):
    """Filters for the list of invoices."""

    status = Str(validate=OneOf(tuple(InvoiceStatus)))
    kind = Str(validate=OneOf(tuple(InvoiceKind)))


class InvoicePeriod(Response):
    """A billing period. `from` is inclusive, and `to` is exclusive."""

    from_ = UtcDateTime(data_key="from", attribute="from")
    to = UtcDateTime()


class InvoiceParty(Response):
    """The seller or the buyer, as recorded in the invoice."""

    name = Str()
    address = Nested(BillingAddress)
    tax_number = Str(allow_none=True)
    email = Str(allow_none=True)


class InvoiceLine(Response):
    """An invoice line.

    `amount` is `quantity` times `unit_price`, rounded to the minor unit of the currency.
    """

    description = Str()
    quantity = Str(description="The quantity as a decimal number.")
    unit = Str(description="Unit code (UN/ECE Rec. 20), such as `C62` (piece) or `MON` (month).")
    unit_price = Str(description=_AMOUNT)
    amount = Str(description=_AMOUNT)


class InvoiceTax(Response):
    """The tax on the subtotal of an invoice."""

    name = Str()
    category = Str(description=_CATEGORY)
    rate = Str(description="The tax rate in percent.")
    base = Str(description=f"The amount that is taxed. {_AMOUNT}")
    amount = Str(description=f"The amount of tax. {_AMOUNT}")
    reason = Str(allow_none=True, description="The reason why no tax is charged, or null.")


class InvoiceFile(Response):
    """The stored PDF file of an invoice."""

    sha256 = Str()
    size_bytes = Int()


class Invoice(Response):
    """An invoice or a credit note. The amounts of a credit note are also positive."""

    id = Uuid()
    kind = Str(validate=OneOf(tuple(InvoiceKind)))
    number = Str(allow_none=True, description="The invoice number; null for drafts.")
    status = Str(validate=OneOf(tuple(InvoiceStatus)), description=_STATUS)
    period = Nested(InvoicePeriod)
    currency = Str()
    language = Str(validate=OneOf(LANGUAGES))
    seller = Nested(InvoiceParty)
    buyer = Nested(InvoiceParty, allow_none=True)
    lines = List(Nested(InvoiceLine))
    subtotal = Str(description=_AMOUNT)
    tax = Nested(InvoiceTax)
    total = Str(description=_AMOUNT)
    notes = List(Str())
    refers_to = Uuid(
        allow_none=True, description="The id of the invoice that a credit note corrects, or null."
    )
    issued_at = UtcDateTime(allow_none=True)
    due_at = UtcDateTime(allow_none=True)
    paid_at = UtcDateTime(allow_none=True)
    pdf = Nested(
        InvoiceFile, allow_none=True, description="The PDF file; null until it is rendered."
    )
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class UpcomingInvoice(Response):
    """The invoice that would be created if the current month were closed now."""

    period = Nested(InvoicePeriod)
    currency = Str()
    lines = List(Nested(InvoiceLine))
    subtotal = Str(description=_AMOUNT)
    tax = Nested(
        InvoiceTax,
        allow_none=True,
        description="The tax on the subtotal; null if the operator has not set up invoices.",
    )
    total = Str(description=_AMOUNT)
