"""Request and response schemas of invoices."""

from app.billing.invoices.models import InvoiceKind, InvoiceStatus
from app.billing.profiles.schemas import BillingAddress
from app.engines.invoices import LANGUAGES
from app.kit.api.fields import (
    Int,
    List,
    Nested,
    OneOf,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)

_AMOUNT = "A decimal number, in the currency of the invoice."
_STATUS = (
    "`draft` until there is a billing profile. `void` when credit notes have reversed the invoice."
)
_CATEGORY = (
    "Code of UNTDID 5305: `S` standard rate, `Z` zero rate, `AE` reverse charge, `O` no tax."
)


class InvoiceFilters(Schema):
    """Filters of the list of invoices."""

    status = Str(validate=OneOf(tuple(InvoiceStatus)))
    kind = Str(validate=OneOf(tuple(InvoiceKind)))
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class InvoicePeriod(Response):
    """A period; `from` is inclusive and `to` exclusive."""

    from_ = UtcDateTime(data_key="from", attribute="from")
    to = UtcDateTime()


class InvoiceParty(Response):
    """The seller or the buyer, as of the issue of the invoice."""

    name = Str()
    address = Nested(BillingAddress)
    tax_number = Str(allow_none=True)
    email = Str(allow_none=True)


class InvoiceLine(Response):
    """A line; `amount` is quantity times unit price, rounded to the minor unit of the currency."""

    description = Str()
    quantity = Str(description="A decimal number.")
    unit = Str(description="Code of UN/ECE Recommendation 20: `C62` for pieces, `MON` for months.")
    unit_price = Str(description=_AMOUNT)
    amount = Str(description=_AMOUNT)


class InvoiceTax(Response):
    """The tax on the subtotal."""

    name = Str()
    category = Str(description=_CATEGORY)
    rate = Str(description="In percent.")
    base = Str(description=_AMOUNT)
    amount = Str(description=_AMOUNT)
    reason = Str(allow_none=True, description="Why no tax is charged.")


class InvoiceFile(Response):
    """The stored PDF."""

    sha256 = Str()
    size_bytes = Int()


class Invoice(Response):
    """An invoice or a credit note, whose amounts are positive, too."""

    id = Uuid()
    kind = Str(validate=OneOf(tuple(InvoiceKind)))
    number = Str(allow_none=True, description="Null for drafts.")
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
    refers_to = Uuid(allow_none=True, description="The invoice that a credit note corrects.")
    issued_at = UtcDateTime(allow_none=True)
    due_at = UtcDateTime(allow_none=True)
    paid_at = UtcDateTime(allow_none=True)
    pdf = Nested(InvoiceFile, allow_none=True, description="Null until it is rendered.")
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class UpcomingInvoice(Response):
    """The invoice that closing the running period now would create."""

    period = Nested(InvoicePeriod)
    currency = Str()
    lines = List(Nested(InvoiceLine))
    subtotal = Str(description=_AMOUNT)
    tax = Nested(
        InvoiceTax, allow_none=True, description="Null if the operator has not set up invoices."
    )
    total = Str(description=_AMOUNT)
