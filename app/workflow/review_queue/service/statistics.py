"""Statistics for the review queue: the number and age of pending items, and the decisions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias
from uuid import UUID

from app.identity.users import service as users
from app.kit.days import get_period
from app.kit.principal import Caller
from app.workflow.review_queue.queries import decisions, statistics
from app.workflow.review_queue.queries.decisions import DecisionCount
from app.workflow.review_queue.queries.statistics import PendingCount

_MICROSECONDS_PER_SECOND = 1_000_000
Ages: TypeAlias = dict[tuple[UUID | None, float], float]
"""Ages in seconds by (schema_id, quantile). Ages across all schemas have the schema id None."""


def get_statistics(
    *,
    caller: Caller,
    schema_id: UUID | None = None,
    first: date | None = None,
    end: date | None = None,
) -> dict[str, Any]:
    """Return statistics on pending items, and on decisions by day, schema and reviewer.

    Decisions are counted from the day `first` to the day before `end`, in the caller's time zone.
    Ages and times are in seconds. Rates are between 0 and 1, or None if there are no decisions. Tag
    sets accepted without a reviewer are not counted. Raises 400 for an invalid period.
    """
    period = get_period(users.get_time_zone(caller.user_id), first, end)
    edges = period.edges
    pending_by_schema = {row.schema_id: row for row in statistics.count_pending(schema_id)}
    ages = statistics.measure_ages(schema_id)
    counts = decisions.count_decisions(schema_id, edges)
    # Each decision is counted in a row by day, and in a row by schema and reviewer.
    totals_by_day = _sum_by((row for row in counts if row.day is not None), "day")
    reviewer_rows = [row for row in counts if row.day is None]
    total = _DecisionTotals()
    for row in reviewer_rows:
        total.add(row)
    return {
        "time_zone": period.zone,
        "first": period.first,
        "end": period.end,
        **_summarize_pending(list(pending_by_schema.values()), ages, None),
        **total.summarize(),
        "decided_per_day": total.decision_count / len(period.days),
        "by_day": [
            {"date": day, **totals_by_day[number].summarize()}
            for number, day in enumerate(period.days, start=1)
        ],
        "by_schema": _build_schema_statistics(pending_by_schema, ages, reviewer_rows),
        "by_reviewer": _build_reviewer_statistics(reviewer_rows),
    }


@dataclass
class _DecisionTotals:
    """The number of decisions by type, and the sum of their waiting times in microseconds.

    `timed_decisions` is the number of decisions with a waiting time.
    """

    counts: Counter[str] = field(default_factory=Counter)
    timed_decisions: int = 0
    waiting_microseconds: int = 0

    @property
    def decision_count(self) -> int:
        return self.counts.total()

    def add(self, row: DecisionCount) -> None:
        self.counts[row.kind] += row.decisions
        self.timed_decisions += row.timed_decisions
        self.waiting_microseconds += row.waiting_microseconds

    def summarize(self) -> dict[str, Any]:
        accepted = self.counts["accept"] + self.counts["correction"]
        seconds = (
            self.waiting_microseconds / self.timed_decisions / _MICROSECONDS_PER_SECOND
            if self.timed_decisions
            else None
        )
        return {
            "decided": self.decision_count,
            "accepted": accepted,
            "corrected": self.counts["correction"],
            "rejected": self.counts["reject"],
            "acceptance_rate": accepted / self.decision_count if self.decision_count else None,
            "mean_seconds_to_decision": seconds,
        }


def _sum_by(rows: Iterable[DecisionCount], column: str) -> defaultdict[object, _DecisionTotals]:
    """Sum the rows for each value of a column; return the totals by value."""
    totals: defaultdict[object, _DecisionTotals] = defaultdict(_DecisionTotals)
    for row in rows:
        totals[getattr(row, column)].add(row)
    return totals


def _build_schema_statistics(
    pending_by_schema: Mapping[UUID, PendingCount], ages: Ages, rows: Sequence[DecisionCount]
) -> list[dict[str, Any]]:
    totals = _sum_by(rows, "schema_id")
    names = {row.schema_id: row.schema_name for row in rows}
    names |= {row.schema_id: row.schema_name for row in pending_by_schema.values()}
    return [
        {
            "schema": {"id": schema_id, "name": names[schema_id]},
            **_summarize_pending(
                [row for row in pending_by_schema.values() if row.schema_id == schema_id],
                ages,
                schema_id,
            ),
            **totals[schema_id].summarize(),
        }
        for schema_id in sorted(names, key=str)
    ]


def _build_reviewer_statistics(rows: Sequence[DecisionCount]) -> list[dict[str, Any]]:
    """Return the statistics for each reviewer, most decisions first."""
    totals = _sum_by(rows, "author_id")
    reviewers = {
        row.author_id: {"id": row.author_id, "email": row.email, "name": row.name} for row in rows
    }
    ranked_ids = sorted(
        reviewers, key=lambda user_id: (-totals[user_id].decision_count, str(user_id))
    )
    return [{"reviewer": reviewers[id_], **totals[id_].summarize()} for id_ in ranked_ids]


def _summarize_pending(
    rows: Sequence[PendingCount], ages: Ages, schema_id: UUID | None
) -> dict[str, Any]:
    names = ("depth", "unassigned", "claimed", "escalated", "overdue")
    quantiles = {"oldest_seconds": 1.0, "median_seconds": 0.5, "p90_seconds": 0.9}
    seconds = {name: ages.get((schema_id, quantile)) for name, quantile in quantiles.items()}
    return {
        **{name: sum(getattr(row, name) for row in rows) for name in names},
        "age": {name: None if age is None else max(0, int(age)) for name, age in seconds.items()},
    }
