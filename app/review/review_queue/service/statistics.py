"""How long the queue is, how old, and how fast it is worked off."""

from datetime import date
from typing import Any
from uuid import UUID

from app.kit.principal import Caller
from app.review.review_queue.queries import statistics as queries
from app.review.workload.service import period


def stats(
    *,
    caller: Caller,
    schema_id: UUID | None = None,
    first: date | None = None,
    last: date | None = None,
) -> dict[str, Any]:
    """What waits now, and what was decided from day `first` to day `last`, both of it, as the
    caller's time zone counts days; of all, of a schema, and of each reviewer.

    Ages and times are in seconds; rates in 0..1, null where nothing was decided. What was accepted
    without a reviewer is not counted. Raises 400 on the period.
    """
    asked = period.of_user(caller.user_id, first, last)
    waiting = {row.schema_id: row for row in queries.waiting(schema_id)}
    rows = queries.decided(schema_id, asked.edges)
    by_day = {row.day: row for row in rows if row.day is not None}
    whole = next(
        row for row in rows if row.schema_id is None and row.author_id is None and row.day is None
    )
    return {
        "time_zone": asked.zone,
        "first": asked.first,
        "last": asked.last,
        **_waiting(waiting[None]),
        **_decided(whole),
        "decided_per_day": whole.decided / len(asked.days),
        "by_day": [
            {"date": day, **_decided(by_day.get(number))}
            for number, day in enumerate(asked.days, start=1)
        ],
        "by_schema": _by_schema(waiting, rows),
        "by_reviewer": _by_reviewer(rows),
    }


def _by_schema(waiting: dict[UUID | None, Any], rows: list[Any]) -> list[dict[str, Any]]:
    decided = {row.schema_id: row for row in rows if row.schema_id is not None}
    return [
        {
            "schema": {"id": one, "name": (waiting.get(one) or decided[one]).schema_name},
            **_waiting(waiting.get(one)),
            **_decided(decided.get(one)),
        }
        for one in sorted((waiting.keys() | decided.keys()) - {None}, key=str)
    ]


def _by_reviewer(rows: list[Any]) -> list[dict[str, Any]]:
    """Who decided most comes first."""
    decided = [row for row in rows if row.author_id is not None]
    return [
        {"reviewer": _person(row), **_decided(row)}
        for row in sorted(decided, key=lambda row: (-row.decided, str(row.author_id)))
    ]


def _person(row: Any) -> dict[str, Any]:
    return {"id": row.author_id, "email": row.reviewer_email, "name": row.reviewer_name}


def _waiting(row: Any) -> dict[str, Any]:
    names = ("depth", "unassigned", "claimed", "escalated", "overdue")
    median, p90, oldest = (row.ages if row is not None else None) or (None, None, None)
    ages = {"oldest_seconds": oldest, "median_seconds": median, "p90_seconds": p90}
    return {
        **{name: getattr(row, name) if row is not None else 0 for name in names},
        "age": {name: None if age is None else max(0, int(age)) for name, age in ages.items()},
    }


def _decided(row: Any) -> dict[str, Any]:
    if row is None or not row.decided:
        counts = dict.fromkeys(("decided", "accepted", "corrected", "rejected"), 0)
        return {**counts, "acceptance_rate": None, "mean_seconds_to_decision": None}
    accepted = row.unchanged + row.corrected
    return {
        "decided": row.decided,
        "accepted": accepted,
        "corrected": row.corrected,
        "rejected": row.rejected,
        "acceptance_rate": accepted / row.decided,
        "mean_seconds_to_decision": None if row.seconds is None else float(row.seconds),
    }
