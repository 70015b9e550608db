"""Divide prices by the second.

Timestamps have a time zone, and durations are those that a clock in UTC measures: a day on which
the clocks change has 23 or 25 hours, a February has 28 or 29 days. Fractions of a second are cut.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from app.engines.invoices.currencies import round_amount
from app.engines.invoices.model import InvoiceError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def prorate(
    price: Decimal, start: datetime, end: datetime, period_start: datetime, period_end: datetime
) -> Fraction:
    """Return the exact share of a period's price for the part from `start` to before `end`.

    The shares of the parts of a period sum to the price. Raises `InvoiceError` if the part is not
    within the period, or the period has no second.
    """
    first, last = _count_seconds(period_start), _count_seconds(period_end)
    begin, finish = _count_seconds(start), _count_seconds(end)
    if first >= last:
        raise InvoiceError("period_end", "must be after the start of the period")
    if not first <= begin <= finish <= last:
        raise InvoiceError("start", "must be within the period and not after the end")
    return Fraction(price) * Fraction(finish - begin, last - first)


def split_price(price: Decimal, moments: Sequence[datetime], currency: str) -> list[Decimal]:
    """Return rounded shares of a price for the parts between the moments, in their order.

    The shares sum to the rounded price: each is the difference of two rounded sums, so no cent is
    lost or added. The first and the last moment are those of the period.
    """
    sums = [
        round_amount(prorate(price, moments[0], moment, moments[0], moments[-1]), currency)
        for moment in moments
    ]
    return [after - before for before, after in pairwise(sums)]


def _count_seconds(moment: datetime) -> int:
    if moment.tzinfo is None:
        raise InvoiceError("start", "must have a time zone")
    return (moment - _EPOCH) // timedelta(seconds=1)
