"""What callers below reviewer may learn about accuracy on gold documents.

A figure of few tag sets, of a day or of a field would tell labelers which documents are gold, and
which of their values are wrong.
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
"""The number of tag sets below which the figure is not shown."""


def is_restricted(caller: Caller) -> bool:
    """Return whether the caller sees only figures of whole periods and of many tag sets."""
    return not caller.has(Role.reviewer)


def check_trend(caller: Caller, bucket: str, *, of_fields: bool) -> None:
    """Raise 403 if the caller may not see the accuracy of such buckets, or of fields."""
    if is_restricted(caller) and (of_fields or bucket == "day"):
        raise errors.denied(
            "Accuracy on gold documents by day or by field requires the role of a reviewer. Use"
            " `bucket` week or month."
        )


def list_visible(period: Period, buckets: Sequence[tuple[date, date]]) -> list[tuple[date, date]]:
    """Return the buckets that are whole weeks or months and have ended."""
    today = get_today(period.zone)
    return [one for one in buckets if one[1] <= today and is_whole(*one)]


def hide_small(rate: Rate) -> Rate:
    """Return the rate, or one without cases if there are too few."""
    return rate if rate.n >= MIN_CASES else compute_rate(0, 0)
