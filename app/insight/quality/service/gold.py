"""Restrictions of the metric `gold_accuracy` for callers below the reviewer role.

The accuracy of a few tag sets, of one day or of one field would reveal to labelers which documents
are gold, and which of their values are wrong. Therefore, these callers see only the accuracy of
whole calendar weeks with at least `MIN_CASES` tag sets. If they saw months, they could subtract the
weeks and get the accuracy of single days. From sums that include weeks with few tag sets, they
could compute the accuracy of these weeks. For the same reason, a sum over all schemas leaves out
the weeks of a schema in which the schema has few tag sets.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from app.insight.quality.models import UNIT_DAYS, SumUnit
from app.insight.quality.queries.selections import CellFilter
from app.insight.quality.queries.trends import TrendGroup, sum_by_position
from app.insight.quality.service.periods import get_today
from app.insight.quality.service.rates import Rate, compute_rate
from app.kit import errors
from app.kit.days import Period
from app.kit.permissions import Role
from app.kit.principal import Caller

METRIC = "gold_accuracy"
VISIBLE_UNIT = SumUnit.WEEK
"""The only bucket length for which callers below the reviewer role see the accuracy."""
MIN_CASES = 10
"""The minimum number of tag sets that a week must have for its accuracy to be shown."""


def is_restricted(caller: Caller) -> bool:
    """Return whether the caller is below the reviewer role, so that this module's limits apply."""
    return not caller.has_role(Role.reviewer)


def check_trend(caller: Caller, bucket: str, *, by_field: bool) -> None:
    """Raise 403 if the caller may not see the accuracy for buckets of this length, or by field."""
    if is_restricted(caller) and (by_field or bucket != VISIBLE_UNIT):
        raise errors.denied(
            "Accuracy on gold documents by day, month or field requires the reviewer role. Use the"
            " bucket `week`."
        )


def limit_to_visible_weeks(
    cell_filter: CellFilter, period: Period, weeks: Sequence[tuple[date, date]]
) -> CellFilter:
    """Return the filter, limited to weeks that lie completely in the period and have ended.

    If there are no such weeks, the filter matches no cells.
    """
    today = get_today(period.zone)
    visible_weeks = [
        (first, end)
        for first, end in weeks
        if end <= today and (end - first).days == UNIT_DAYS[VISIBLE_UNIT]
    ] or [(period.first, period.first)]
    return replace(cell_filter, first=visible_weeks[0][0], end=visible_weeks[-1][1])


def sum_large_samples(groups: Sequence[TrendGroup]) -> dict[int, tuple[int, ...]]:
    """Sum the buckets of several groups, and leave out buckets with fewer than `MIN_CASES` cases.

    Otherwise, subtracting the visible buckets from the sum would reveal the hidden buckets.
    """
    large_samples = [
        (position, counts)
        for group in groups
        for position, counts in group.sums.items()
        if counts[0] >= MIN_CASES
    ]
    return sum_by_position(*zip(*large_samples, strict=True)) if large_samples else {}


def hide_small_sample(rate: Rate) -> Rate:
    """Return the rate, or an empty rate if there are fewer than `MIN_CASES` cases."""
    return rate if rate.n >= MIN_CASES else compute_rate(0, 0)
