"""Compute the lines of invoices from prices and from quantities with graduated price tiers.

The price for a part of a period is prorated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import pairwise

from app.engines.invoices.currencies import EXACT, round_amount, round_half_up
from app.engines.invoices.model import PIECE_CODE, InvoiceError, Language, Line
from app.engines.invoices.texts import describe_tier

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_QUANTITY_DECIMALS = 6
"""The decimal places to which charged quantities are rounded before amounts are computed."""


@dataclass(frozen=True)
class Tier:
    """A tier of a graduated price: each unit in the tier costs `unit_price`.

    `up_to` is the last unit of the tier, or None if the tier has no upper bound. Units are numbered
    from the first unit beyond the included quantity.
    """

    up_to: Decimal | None
    unit_price: Decimal


def compute_usage_lines(
    *,
    description: str,
    tiers: Sequence[Tier],
    quantity: int | Decimal,
    included: int | Decimal,
    unit_size: int,
    currency: str,
    unit_code: str = PIECE_CODE,
    language: Language = "en",
) -> list[Line]:
    """Compute the lines for the quantity above the included quantity, one for each tier reached.

    `quantity` and `included` are in the unit of the meter, for example in bytes. Prices and tier
    bounds refer to blocks of `unit_size` such units, for example 10**9 bytes. If there are two or
    more tiers, each description ends with the range of its tier. Raises `InvoiceError` for negative
    values, `unit_size` 0, missing or unordered tiers, or a quantity that exceeds the last tier.
    """
    if quantity < 0:
        raise InvoiceError("quantity", "must not be negative")
    if included < 0:
        raise InvoiceError("included", "must not be negative")
    if unit_size < 1:
        raise InvoiceError("unit_size", "must be at least 1")
    _check_tiers(tiers)
    excess = Fraction(max(quantity - included, 0)) / unit_size
    units = round_half_up(excess, _QUANTITY_DECIMALS)
    lines: list[Line] = []
    for start, end, price in _list_tier_ranges(tiers):
        if units <= start:
            return lines
        charged_units = (units if end is None else min(units, end)) - start
        text = description if len(tiers) == 1 else describe_tier(description, start, end, language)
        amount = round_amount(EXACT.multiply(charged_units, price), currency)
        lines.append(Line(text, strip_trailing_zeros(charged_units), unit_code, price, amount))
    last_unit = tiers[-1].up_to
    if last_unit is not None and units > last_unit:
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
    amount = round_amount(EXACT.multiply(quantity, unit_price), currency)
    return Line(description, quantity, unit_code, unit_price, amount)


def sum_amounts(amounts: Iterable[Decimal], currency: str) -> Decimal:
    """Sum rounded amounts exactly, and return the sum with all decimals of the minor unit."""
    return round_amount(reduce(EXACT.add, amounts, Decimal(0)), currency)


def strip_trailing_zeros(number: Decimal) -> Decimal:
    """Return a number without trailing zeros in its decimal places and without an exponent."""
    text = f"{number:f}"
    return Decimal(text.rstrip("0").rstrip(".") if "." in text else text)


def _check_tiers(tiers: Sequence[Tier]) -> None:
    ends = [tier.up_to for tier in tiers]
    bounds = [Decimal(0), *(end for end in ends if end is not None)]
    is_ordered = all(before < after for before, after in pairwise(bounds))
    if not ends or None in ends[:-1] or not is_ordered:
        raise InvoiceError(
            "tiers", "must be one or more in ascending order; only the last may have no upper limit"
        )
    if any(tier.unit_price < 0 for tier in tiers):
        raise InvoiceError("tiers", "must not have a negative price")


def _list_tier_ranges(
    tiers: Sequence[Tier],
) -> Iterable[tuple[Decimal, Decimal | None, Decimal]]:
    start = Decimal(0)
    for tier in tiers:
        yield start, tier.up_to, tier.unit_price
        start = tier.up_to if tier.up_to is not None else start


def prorate(
    price: Decimal, start: datetime, end: datetime, period_start: datetime, period_end: datetime
) -> Fraction:
    """Prorate a period's price: return the exact part for the time from `start` up to `end`.

    Timestamps have a time zone, and durations are measured in UTC: a day with a clock change has 23
    or 25 hours, and a February has 28 or 29 days. Fractions of a second are dropped. If consecutive
    time ranges cover the whole period, their parts add up to the price. Raises `InvoiceError` if
    a timestamp has no time zone, the time range is not within the period, or the period is shorter
    than a second.
    """
    period_start_seconds, period_end_seconds = (
        _count_seconds(period_start, "period_start"),
        _count_seconds(period_end, "period_end"),
    )
    start_seconds, end_seconds = _count_seconds(start, "start"), _count_seconds(end, "end")
    if period_start_seconds >= period_end_seconds:
        raise InvoiceError("period_end", "must be after the start of the period")
    if not period_start_seconds <= start_seconds <= end_seconds <= period_end_seconds:
        raise InvoiceError("start", "must be within the period and not after the end")
    return Fraction(price) * Fraction(
        end_seconds - start_seconds, period_end_seconds - period_start_seconds
    )


def _count_seconds(timestamp: datetime, field: str) -> int:
    """Return the seconds since the epoch; `field` names the timestamp in the error message."""
    if timestamp.tzinfo is None:
        raise InvoiceError(field, "must have a time zone")
    return (timestamp - _EPOCH) // timedelta(seconds=1)
