"""Round amounts to the minor unit of their currency.

The number of decimal places is that of ISO 4217. The CLDR, which formats amounts, has fewer for
some currencies because it describes what shops use, so its numbers are not used here.

Rounding is half up, away from zero: 0.005 becomes 0.01 and -0.005 becomes -0.01, so a credit note
always equals what it corrects. It is the commercial rounding of DIN 1333. The law of the European
Union leaves the method to its members (Court of Justice, C-484/06), and the rules of EN 16931
check amounts with it (BR-CO-10, BR-CO-17).
"""

from decimal import Decimal
from fractions import Fraction
from functools import cache

from iso4217 import Currency

from app.engines.invoices.model import InvoiceError

_MAX_XML_DIGITS = 2


@cache
def get_minor_digits(currency: str) -> int:
    """Return the number of decimal places of a currency: 2 for EUR, 0 for JPY, 3 for KWD.

    Raises `InvoiceError` if the code is unknown, or has no minor unit, such as XAU (gold).
    """
    try:
        digits: int | None = Currency(currency).exponent
    except ValueError:
        digits = None
    if digits is None:
        raise InvoiceError("currency", "must be a currency of ISO 4217 such as EUR")
    return digits


def has_xml(currency: str) -> bool:
    """Tell whether invoices in this currency have an XML: EN 16931 allows two decimal places."""
    return get_minor_digits(currency) <= _MAX_XML_DIGITS


def round_amount(value: Fraction | Decimal, currency: str) -> Decimal:
    """Return an amount rounded half up to the minor unit of its currency."""
    return round_half_up(value, get_minor_digits(currency))


def round_half_up(value: Fraction | Decimal, digits: int) -> Decimal:
    """Return a number with exactly `digits` decimal places, rounded half up, away from zero."""
    scaled = abs(Fraction(value)) * 10**digits
    units = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    sign = 1 if value < 0 and units else 0
    return Decimal((sign, tuple(map(int, str(units))), -digits))
