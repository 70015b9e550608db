"""Limits on the accuracy on gold documents that callers below the reviewer role may see.

The accuracy of a few tag sets, of one day or of one field would reveal to labelers which documents
are gold, and which of the labelers' own values are wrong.
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
"""The minimum number of tag sets for which the accuracy is shown."""


def is_restricted(caller: Caller) -> bool:
    """Return whether the limits of this module apply to the caller."""
    return not caller.has(Role.reviewer)


def check_trend(caller: Caller, bucket: str, *, by_field: bool) -> None:
    """Raise 403 if the caller may not see the accuracy for buckets of this length, or by field."""
    if is_restricted(caller) and (by_field or bucket == "day"):
        raise errors.denied(
            "Accuracy on gold documents by day or by field requires the reviewer role. Use the"
            " bucket `week` or `month`."
        )


def list_visible_buckets(
    period: Period, buckets: Sequence[tuple[date, date]]
) -> list[tuple[date, date]]:
    """Return the buckets that are whole weeks or months and have ended."""
    today = get_today(period.zone)
    return [(first, end) for first, end in buckets if end <= today and is_whole(first, end)]


def hide_small_sample(rate: Rate) -> Rate:
    """Return the rate, or an empty rate if there are fewer than `MIN_CASES` cases."""
    return rate if rate.n >= MIN_CASES else compute_rate(0, 0)
