"""What somebody did, day by day."""

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
    """What the caller submitted and decided from day `first` to day `last`, both of it, as their
    time zone counts days; days without work are zeros.

    A submission counts on its day, and so does what came of it, whenever that was. The acceptance
    rate is the share of decided submissions that were accepted, corrected ones among them; the
    `unchanged_rate` that of those accepted as they were. Raises 400 on the period.
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
