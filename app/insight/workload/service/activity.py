"""Activity of a user by day."""

from datetime import date
from typing import Any

from app.identity.users import service as users
from app.insight.workload.queries import activity as queries
from app.insight.workload.queries.activity import Submissions
from app.kit.days import get_period
from app.kit.principal import Caller

_COUNTS = ("submitted", "accepted", "corrected", "rejected", "pending", "seconds_spent")
_SECONDS_PER_HOUR = 3600


def get_activity(
    *, caller: Caller, first: date | None = None, last: date | None = None
) -> dict[str, Any]:
    """Return the caller's submissions and review decisions per day, with rates and speed.

    The period is from day `first` to day `last`, inclusive, in the caller's time zone; days without
    work have zeros. A submission and its outcome count on the day of the submission, whenever it
    was decided. The acceptance rate is the share of decided submissions that were accepted, with or
    without corrections; `unchanged_rate` is the share accepted without corrections. Raises 400 on
    the period.
    """
    period = get_period(users.get_time_zone(caller.user_id), first, last)
    submitted = {row.day: row for row in queries.count_submissions(caller.user_id, period.edges)}
    reviewed = queries.count_reviews(caller.user_id, period.edges)
    days = [
        {"date": day, **_build_counts(submitted.get(number)), "reviewed": reviewed.get(number, 0)}
        for number, day in enumerate(period.days, start=1)
    ]
    total = submitted[None]
    totals = {**_build_counts(total), "reviewed": sum(reviewed.values())}
    return {
        "time_zone": period.zone,
        "first": period.first,
        "last": period.last,
        "days": days,
        "totals": totals,
        **_compute_rates(totals),
        **_compute_speed(total),
    }


def _build_counts(row: Submissions | None) -> dict[str, int]:
    return {name: 0 if row is None else int(getattr(row, name)) for name in _COUNTS}


def _compute_rates(totals: dict[str, int]) -> dict[str, float | None]:
    accepted = totals["accepted"] + totals["corrected"]
    decided = accepted + totals["rejected"]
    if not decided:
        return {"acceptance_rate": None, "unchanged_rate": None}
    return {"acceptance_rate": accepted / decided, "unchanged_rate": totals["accepted"] / decided}


def _compute_speed(total: Submissions) -> dict[str, float | None]:
    if not total.timed:
        return {"median_seconds": None, "label_sets_per_hour": None}
    return {
        "median_seconds": total.median_seconds,
        "label_sets_per_hour": total.timed * _SECONDS_PER_HOUR / int(total.seconds_spent),
    }
