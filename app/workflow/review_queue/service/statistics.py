"""Statistics of the review queue: its length, its age, and the review decisions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from app.identity.users import service as users
from app.kit.days import get_period
from app.kit.principal import Caller
from app.workflow.review_queue.queries import decisions, statistics

_MICROSECONDS = 1_000_000


def stats(
    *,
    caller: Caller,
    schema_id: UUID | None = None,
    first: date | None = None,
    last: date | None = None,
) -> dict[str, Any]:
    """Return the pending items and the decisions in total, by day, by schema and by reviewer.

    The decisions are those from day `first` to day `last`, inclusive, in the caller's time zone.
    Ages and times are in seconds. Rates are between 0 and 1, and None without decisions. Tag sets
    accepted without a reviewer are not counted. Raises 400 on the period.
    """
    asked = get_period(users.get_time_zone(caller.user_id), first, last)
    edges = asked.edges
    waiting = {row.schema_id: row for row in statistics.waiting(schema_id)}
    ages = statistics.ages(schema_id)
    decided = decisions.decided(schema_id, edges)
    by_day = _tallies((row for row in decided if row.day is not None), "day")
    rows = [row for row in decided if row.day is None]
    whole = _Tally()
    for row in rows:
        whole.add(row)
    return {
        "time_zone": asked.zone,
        "first": asked.first,
        "last": asked.last,
        **_waiting(list(waiting.values()), ages, None),
        **whole.shown(),
        "decided_per_day": whole.decided / len(asked.days),
        "by_day": [
            {"date": day, **by_day[number].shown()}
            for number, day in enumerate(asked.days, start=1)
        ],
        "by_schema": _by_schema(waiting, ages, rows),
        "by_reviewer": _by_reviewer(rows),
    }


@dataclass
class _Tally:
    """Number of decisions by type, and the total waiting time of the timed decisions."""

    kinds: Counter[str] = field(default_factory=Counter)
    timed: int = 0
    microseconds: int = 0

    @property
    def decided(self) -> int:
        return self.kinds.total()

    def add(self, row: Any) -> None:
        self.kinds[row.kind] += row.decisions
        self.timed += row.timed
        self.microseconds += row.microseconds

    def shown(self) -> dict[str, Any]:
        accepted = self.kinds["accept"] + self.kinds["correction"]
        seconds = self.microseconds / self.timed / _MICROSECONDS if self.timed else None
        return {
            "decided": self.decided,
            "accepted": accepted,
            "corrected": self.kinds["correction"],
            "rejected": self.kinds["reject"],
            "acceptance_rate": accepted / self.decided if self.decided else None,
            "mean_seconds_to_decision": seconds,
        }


def _tallies(rows: Iterable[Any], name: str) -> defaultdict[Any, _Tally]:
    found: defaultdict[Any, _Tally] = defaultdict(_Tally)
    for row in rows:
        found[getattr(row, name)].add(row)
    return found


def _by_schema(waiting: dict[UUID, Any], ages: Any, rows: Sequence[Any]) -> list[dict[str, Any]]:
    decided = _tallies(rows, "schema_id")
    names = {row.schema_id: row.schema_name for row in (*rows, *waiting.values())}
    return [
        {
            "schema": {"id": one, "name": names[one]},
            **_waiting([waiting[one]] if one in waiting else [], ages, one),
            **decided[one].shown(),
        }
        for one in sorted(names, key=str)
    ]


def _by_reviewer(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the numbers of each reviewer, most decisions first."""
    decided = _tallies(rows, "author_id")
    people = {row.author_id: _person(row) for row in rows}
    return [
        {"reviewer": people[one], **tally.shown()}
        for one, tally in sorted(decided.items(), key=lambda item: (-item[1].decided, str(item[0])))
    ]


def _person(row: Any) -> dict[str, Any]:
    return {"id": row.author_id, "email": row.email, "name": row.name}


def _waiting(rows: Sequence[Any], ages: Any, schema_id: UUID | None) -> dict[str, Any]:
    names = ("depth", "unassigned", "claimed", "escalated", "overdue")
    shares = {"oldest_seconds": 1.0, "median_seconds": 0.5, "p90_seconds": 0.9}
    found = {name: ages.get((schema_id, share)) for name, share in shares.items()}
    return {
        **{name: sum(getattr(row, name) for row in rows) for name in names},
        "age": {name: None if age is None else max(0, int(age)) for name, age in found.items()},
    }
