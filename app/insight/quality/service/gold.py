"""Restrictions on accuracy on gold documents for callers below reviewer.

A figure for few tag sets, for a day or for a field would reveal to labelers which documents are
gold, and which of the labelers' own values are wrong.
"""

from collections.abc import Sequence
from datetime import date

from app.insight.quality.service.periods import Period, get_today, is_whole
from app.insight.quality.service.rates import Rate, compute_rate
from app.kit import errors
from app.kit.permissions import Role
from app.kit.principal import Caller

METRIC = "gold_accuracy"
MIN_CASES = 10
"""The minimum number of tag sets for a figure to be shown."""


def is_restricted(caller: Caller) -> bool:
    """Return whether the caller sees only figures for whole periods and enough tag sets."""
    return not caller.has(Role.reviewer)


def check_trend(caller: Caller, bucket: str, *, by_field: bool) -> None:
    """Raise 403 if the caller may not see accuracy by this length of bucket, or by field."""
    if is_restricted(caller) and (by_field or bucket == "day"):
        raise errors.denied(
            "Accuracy on gold documents by day or by field requires the reviewer role. Use `bucket`"
            " week or month."
        )


def list_visible(period: Period, buckets: Sequence[tuple[date, date]]) -> list[tuple[date, date]]:
    """Return the buckets that are whole weeks or months and have ended."""
    today = get_today(period.zone)
    return [(first, end) for first, end in buckets if end <= today and is_whole(first, end)]


def hide_small_sample(rate: Rate) -> Rate:
    """Return the rate, or an empty rate if it has fewer than `MIN_CASES` cases."""
    return rate if rate.n >= MIN_CASES else compute_rate(0, 0)
