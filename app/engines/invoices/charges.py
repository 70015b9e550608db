"""Compute document lines from prices, and from quantities with graduated price tiers."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

from app.engines.invoices.currencies import get_minor_digits, round_amount, round_half_up
from app.engines.invoices.model import InvoiceError, Language, Line
from app.engines.invoices.texts import describe_tier
from app.engines.invoices.units import PIECE_CODE

QUANTITY_DIGITS = 6
"""The decimal places to which charged quantities are rounded before amounts are computed."""


class TierLike(Protocol):
    """A tier of a graduated price: the price of each unit up to the tier's upper limit."""

    @property
    def up_to(self) -> Decimal | None:
        """Return the tier's upper limit in units above the included quantity, or None."""

    @property
    def unit_price(self) -> Decimal:
        """Return the price of one unit in this tier."""


def compute_usage_lines(
    *,
    description: str,
    tiers: Sequence[TierLike],
    quantity: int | Decimal,
    included: int | Decimal,
    unit: int,
    currency: str,
    unit_code: str = PIECE_CODE,
    language: Language = "en",
) -> list[Line]:
    """Compute the lines that charge the quantity above the included quantity, one for each tier.

    `quantity` and `included` are in the meter's own unit, for example in bytes. A price applies to
    `unit` of these units, for example to 10**9 bytes. If there are two or more tiers, each
    description ends with the range of its tier. Raises `InvoiceError` if the tiers are not in
    ascending order, or if the quantity exceeds the last tier.
    """
    if quantity < 0 or included < 0 or unit < 1:
        raise InvoiceError("quantity", "must not be negative")
    _check_tiers(tiers)
    excess = Fraction(max(quantity - included, 0)) / unit
    units = round_half_up(excess, QUANTITY_DIGITS)
    lines: list[Line] = []
    for start, end, price in _list_tier_ranges(tiers):
        if units <= start:
            return lines
        charged_units = (units if end is None else min(units, end)) - start
        text = description if len(tiers) == 1 else describe_tier(description, start, end, language)
        amount = round_amount(Fraction(charged_units) * Fraction(price), currency)
        lines.append(Line(text, strip_trailing_zeros(charged_units), unit_code, price, amount))
    last = tiers[-1].up_to
    if last is not None and units > last:
        raise InvoiceError("tiers", "must end with a tier without an upper limit")
    return lines


def compute_price_line(
    *, description: str, price: Fraction | Decimal, currency: str, unit_code: str = PIECE_CODE
) -> Line:
    """Compute a line with quantity 1, or with quantity -1 if the price is negative (a credit).

    EN 16931 forbids negative unit prices (BR-27), so the quantity is negative instead.
    """
    amount = round_amount(price, currency)
    sign = -1 if amount < 0 else 1
    return Line(description, Decimal(sign), unit_code, abs(amount), amount)


def compute_line(
    *,
    description: str,
    quantity: Decimal,
    unit_price: Decimal,
    currency: str,
    unit_code: str = PIECE_CODE,
) -> Line:
    """Compute a line whose amount is quantity times price, rounded half up to the minor unit."""
    amount = round_amount(Fraction(quantity) * Fraction(unit_price), currency)
    return Line(description, quantity, unit_code, unit_price, amount)


def sum_amounts(amounts: Iterable[Decimal], currency: str) -> Decimal:
    """Sum rounded amounts exactly, and return the sum with all decimals of the minor unit."""
    total = sum((Fraction(amount) for amount in amounts), Fraction(0))
    return round_half_up(total, get_minor_digits(currency))


def strip_trailing_zeros(number: Decimal) -> Decimal:
    """Remove trailing zeros from a number's decimal places, without scientific notation."""
    text = f"{number:f}"
    return Decimal(text.rstrip("0").rstrip(".") if "." in text else text)


def _check_tiers(tiers: Sequence[TierLike]) -> None:
    ends = [tier.up_to for tier in tiers]
    bounds = [Decimal(0), *(end for end in ends if end is not None)]
    is_ordered = all(before < after for before, after in pairwise(bounds))
    if not ends or None in ends[:-1] or not is_ordered:
        raise InvoiceError(
            "tiers", "must be in ascending order; only the last tier may have no upper limit"
        )
    if any(tier.unit_price < 0 for tier in tiers):
        raise InvoiceError("tiers", "must not have a negative price")


def _list_tier_ranges(
    tiers: Sequence[TierLike],
) -> Iterable[tuple[Decimal, Decimal | None, Decimal]]:
    start = Decimal(0)
    for tier in tiers:
        yield start, tier.up_to, tier.unit_price
        start = tier.up_to if tier.up_to is not None else start
