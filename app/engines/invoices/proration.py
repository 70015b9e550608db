"""Prorate prices by the second.

Timestamps have a time zone, and durations are measured in UTC: a day with a clock change has 23 or
25 hours, and a February has 28 or 29 days. Fractions of a second are dropped.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from app.engines.invoices.model import InvoiceError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def prorate(
    price: Decimal, start: datetime, end: datetime, period_start: datetime, period_end: datetime
) -> Fraction:
    """Prorate a period's price: return the exact part for the time from `start` up to `end`.

    If consecutive time ranges cover the whole period, their parts add up to the price. Raises
    `InvoiceError` if the time range is not within the period, or if the period is shorter than a
    second.
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


def _count_seconds(timestamp: datetime) -> int:
    if timestamp.tzinfo is None:
        raise InvoiceError("start", "must have a time zone")
    return (timestamp - _EPOCH) // timedelta(seconds=1)
