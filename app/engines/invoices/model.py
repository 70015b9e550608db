"""Define the data model for invoices and credit notes, its limits, and its error class."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Literal

Language = Literal["en", "de", "es", "fr"]
DocumentKind = Literal["invoice", "credit_note"]

MAX_LINES = 2_000
"""The maximum number of lines in a document, which limits the rendering time."""
MAX_TAXES = 10
MAX_DESCRIPTION_LENGTH = 500
"""The maximum number of characters in a line's description."""
MAX_NAME_LENGTH = 300
"""The maximum number of characters in a tax's name, and in each text of a party or payment."""
MAX_ADDRESS_LINES = 3
MAX_NOTES = 20
MAX_NOTE_LENGTH = 2_000
"""The maximum number of characters in a note or in the reason why no tax is charged."""
MAX_NUMBER_LENGTH = 60
"""The maximum number of characters in a document number."""
MAX_AMOUNT = Decimal(10) ** 18
"""The limit for quantities, prices and amounts: each absolute value must be less than this."""
MAX_DECIMALS = 12
"""The maximum number of decimal places in a quantity, price or amount."""


class InvoiceError(ValueError):
    """A value in a document is missing or invalid; `field` is the path of that value."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class TaxCategory(StrEnum):
    """The tax categories of EN 16931, with their codes from UNTDID 5305.

    The categories for goods (K) and for the Canary Islands, Ceuta and Melilla (L, M) are left out.
    """

    STANDARD = "S"
    ZERO = "Z"
    EXEMPT = "E"
    REVERSE_CHARGE = "AE"
    EXPORT = "G"
    OUTSIDE = "O"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a document. `amount` is `quantity` times `unit_price`, rounded to the minor unit.

    `unit` is a code from UN/ECE Recommendation 20, such as C62 (one) or MON (month). A discount has
    a negative quantity. `tax_index` is the index of the line's tax in the document's `taxes`.
    """

    description: str
    quantity: Decimal
    unit: str
    unit_price: Decimal
    amount: Decimal
    tax_index: int = 0


@dataclass(frozen=True, slots=True)
class Party:
    """The seller or the buyer. `country` is an ISO 3166-1 alpha-2 code.

    `registration` identifies the party's entry in a company register.
    """

    name: str
    address_lines: tuple[str, ...]
    postal_code: str
    city: str
    country: str
    tax_number: str | None = None
    email: str | None = None
    registration: str | None = None


@dataclass(frozen=True, slots=True)
class Tax:
    """A tax on the lines that refer to it.

    `rate` is in percent, and `base` is the sum of these lines' amounts. `reason` says why no tax is
    charged; if it is None, a standard reason in the document's language is used.
    """

    name: str
    category: TaxCategory
    rate: Decimal
    base: Decimal
    amount: Decimal
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of a document: the sum of its lines, its taxes, and the total including taxes."""

    subtotal: Decimal
    taxes: tuple[Tax, ...]
    total: Decimal


@dataclass(frozen=True, slots=True)
class Payment:
    """The payment details: the bank account to which the buyer pays."""

    iban: str
    bic: str | None = None
    account_holder: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """An invoice or a credit note. The amounts of a credit note are positive.

    Timestamps are shown as dates in `time_zone`. The period starts at `period_from` and ends before
    `period_to`. `corrected_invoice_number` is the number of the invoice that a credit note
    corrects. A document without a number is a draft: it has a PDF, but no XML.
    """

    number: str | None
    kind: DocumentKind
    issued_at: datetime
    due_at: datetime | None
    period_from: datetime
    period_to: datetime
    currency: str
    seller: Party
    buyer: Party
    lines: tuple[Line, ...]
    subtotal: Decimal
    taxes: tuple[Tax, ...]
    total: Decimal
    corrected_invoice_number: str | None = None
    language: Language = "en"
    notes: tuple[str, ...] = ()
    payment: Payment | None = None
    time_zone: str = "UTC"


PIECE_CODE, MONTH_CODE = "C62", "MON"
"""Unit codes from UN/ECE Recommendation 20."""
_PIECE_CODES = {1: PIECE_CODE, 100: "CEN", 1_000: "MIL", 10**6: "MIO"}
_BYTE_CODES = {10**9: "E34", 10**12: "E35", 2**40: "E61", 2**30: "E62"}


def get_unit_code(unit_size: int, *, is_bytes: bool = False) -> str:
    """Return the code for a unit of `unit_size` pieces or bytes, such as MIL for 1,000 pieces.

    If there is no such code, return the code for one piece. In this case, `describe_meter` adds
    the size to the meter's name.
    """
    return find_unit_code(unit_size, is_bytes=is_bytes) or PIECE_CODE


def find_unit_code(unit_size: int, *, is_bytes: bool) -> str | None:
    """Return the code for a unit of `unit_size` pieces or bytes, or None if there is none."""
    return (_BYTE_CODES if is_bytes else _PIECE_CODES).get(unit_size)
