"""Prorate prices by the second.

Timestamps have a time zone, and durations are measured in UTC: a day with a clock change has 23 or
25 hours, and a February has 28 or 29 days. Fractions of a second are dropped.
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
    """Return the exact share of a period's price for the part from `start` up to `end`.

    If parts cover a period, their shares add up to the price. Raises `InvoiceError` if the part is
    not within the period, or if the period is shorter than a second.
    """
    period_start_seconds, period_end_seconds = (
        _count_seconds(period_start),
        _count_seconds(period_end),
    )
    start_seconds, end_seconds = _count_seconds(start), _count_seconds(end)
    if period_start_seconds >= period_end_seconds:
        raise InvoiceError("period_end", "must be after the start of the period")
    if not period_start_seconds <= start_seconds <= end_seconds <= period_end_seconds:
        raise InvoiceError("start", "must be within the period and not after the end")
    return Fraction(price) * Fraction(
        end_seconds - start_seconds, period_end_seconds - period_start_seconds
    )


def split_price(price: Decimal, timestamps: Sequence[datetime], currency: str) -> list[Decimal]:
    """Return the rounded share of a price for each part between two consecutive timestamps.

    The shares add up to the rounded price: each share is the difference of two rounded sums, so no
    cent is lost or added. The first and the last timestamp are the start and end of the period.
    """
    sums = [
        round_amount(
            prorate(price, timestamps[0], timestamp, timestamps[0], timestamps[-1]), currency
        )
        for timestamp in timestamps
    ]
    return [after - before for before, after in pairwise(sums)]


def _count_seconds(timestamp: datetime) -> int:
    if timestamp.tzinfo is None:
        raise InvoiceError("start", "must have a time zone")
    return (timestamp - _EPOCH) // timedelta(seconds=1)
