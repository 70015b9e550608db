"""Activity of a user by day."""

from datetime import date
from typing import Any

from app.identity.users import service as users
from app.insight.workload.queries import activity as queries
from app.kit.days import get_period
from app.kit.principal import Caller

_COUNTS = ("submitted", "accepted", "corrected", "rejected", "pending", "seconds_spent")
_SECONDS_PER_HOUR = 3600


def activity(
    *, caller: Caller, first: date | None = None, last: date | None = None
) -> dict[str, Any]:
    """Return the caller's submissions and review decisions per day, with rates and speed.

    The period is from day `first` to day `last`, inclusive, in the caller's time zone; days without
    work have zeros. A submission and its outcome count on the day of the submission, whenever it
    was decided. The acceptance rate is the share of decided submissions that were accepted, with or
    without corrections; `unchanged_rate` is the share accepted without corrections. Raises 400 on
    the period.
    """
    asked = get_period(users.get_time_zone(caller.user_id), first, last)
    edges = asked.edges
    submitted = {row.day: row for row in queries.submitted(caller.user_id, edges)}
    reviewed = queries.reviewed(caller.user_id, edges)
    days = [
        {"date": day, **_counts(submitted.get(number)), "reviewed": reviewed.get(number, 0)}
        for number, day in enumerate(asked.days, start=1)
    ]
    whole = submitted[None]
    totals = {**_counts(whole), "reviewed": sum(reviewed.values())}
    return {
        "time_zone": asked.zone,
        "first": asked.first,
        "last": asked.last,
        "days": days,
        "totals": totals,
        **_rates(totals),
        **_speed(whole),
    }


def _counts(row: Any) -> dict[str, int]:
    return {name: 0 if row is None else int(getattr(row, name)) for name in _COUNTS}


def _rates(totals: dict[str, int]) -> dict[str, float | None]:
    good = totals["accepted"] + totals["corrected"]
    decided = good + totals["rejected"]
    if not decided:
        return {"acceptance_rate": None, "unchanged_rate": None}
    return {"acceptance_rate": good / decided, "unchanged_rate": totals["accepted"] / decided}


def _speed(whole: Any) -> dict[str, float | None]:
    if not whole.timed:
        return {"median_seconds": None, "label_sets_per_hour": None}
    return {
        "median_seconds": whole.median_seconds,
        "label_sets_per_hour": whole.timed * _SECONDS_PER_HOUR / int(whole.seconds_spent),
    }
