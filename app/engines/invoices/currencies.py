"""Round amounts to the minor unit of their currency.

ISO 4217 defines the number of decimal places. CLDR, the source of the number formats, has fewer
decimal places for some currencies, because it describes everyday use. This module ignores CLDR.

Rounding is half up, away from zero: 0.005 becomes 0.01 and -0.005 becomes -0.01, so a credit note
always equals the amount that it corrects. This is commercial rounding (DIN 1333). European Union
law leaves the method to the member states (Court of Justice, C-484/06), and the rules of EN 16931
check amounts with this method (BR-CO-10, BR-CO-17).
"""

from decimal import ROUND_HALF_UP, Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from functools import cache

from iso4217 import Currency

from app.engines.invoices.model import InvoiceError

EXACT = Context(prec=100, traps=[Inexact, InvalidOperation])
"""The context for sums and products of amounts: a result of more than 100 digits raises Inexact."""
_ROUNDING = Context(prec=100, rounding=ROUND_HALF_UP, traps=[InvalidOperation])
_MAX_XML_DECIMALS = 2


@cache
def get_minor_digits(currency: str) -> int:
    """Return the number of decimal places in a currency: 2 for EUR, 0 for JPY, 3 for KWD.

    Raises `InvoiceError` if the code is unknown or has no minor unit, such as XAU (gold).
    """
    try:
        digits: int | None = Currency(currency).exponent
    except ValueError:
        digits = None
    if digits is None:
        raise InvoiceError("currency", "must be an ISO 4217 currency code such as EUR")
    return digits


def can_have_xml(currency: str) -> bool:
    """Return whether the currency has at most two decimal places, as EN 16931 XML requires."""
    return get_minor_digits(currency) <= _MAX_XML_DECIMALS


def round_amount(value: Fraction | Decimal, currency: str) -> Decimal:
    """Round an amount half up to the minor unit of its currency."""
    return round_half_up(value, get_minor_digits(currency))


def round_half_up(value: Fraction | Decimal, digits: int) -> Decimal:
    """Round a number half up, away from zero, to exactly `digits` decimal places."""
    if isinstance(value, Decimal):
        # `Fraction` would take most of the time for billing a month. Adding 0 turns -0 into 0.
        return _ROUNDING.add(value.quantize(_build_unit(digits), context=_ROUNDING), 0)
    scaled = abs(Fraction(value)) * 10**digits
    units = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    sign = 1 if value < 0 and units else 0
    return Decimal((sign, tuple(map(int, str(units))), -digits))


@cache
def _build_unit(digits: int) -> Decimal:
    """Build the smallest positive number with `digits` decimal places, for example 0.01 for 2."""
    return Decimal((0, (1,), -digits))
