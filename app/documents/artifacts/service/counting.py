"""Count documents for the statistics."""

from collections.abc import Iterable
from typing import Any

from app.documents.artifacts.queries import counting as queries
from app.documents.artifacts.statuses import ArtifactStatus

_SUMMED_COUNTS = ("total", "open", "unassigned", "gold", "archived")
"""The names of the counts that are added up over all schemas."""


def get_stats(filters: dict[str, Any]) -> dict[str, Any]:
    """Return the statistics of documents, with the properties of `ArtifactStats`."""
    rows = queries.count_by_schema(filters)
    # The counts over all schemas are the same in every row.
    overall_counts = rows[0].counts if rows else {}

    def sum_counts(names: Iterable[str]) -> dict[str, int]:
        return {name: sum(row.counts[name] for row in rows) for name in names}

    totals = sum_counts(_SUMMED_COUNTS)
    return {
        "by_status": sum_counts(tuple(ArtifactStatus)),
        "by_age": _build_age_distribution(overall_counts, totals["open"]),
        **totals,
        "overdue": overall_counts.get("overdue", 0),
        "claimed": overall_counts.get("claimed", 0),
        "by_schema": [
            {
                "schema_id": row.schema_id,
                "name": row.name,
                "total": row.counts["total"],
                "by_status": {status: row.counts[status] for status in ArtifactStatus},
                "archived": row.counts["archived"],
            }
            for row in rows
        ],
    }


def _build_age_distribution(counts: dict[str, int], open_count: int) -> dict[str, int]:
    day, week, month = (counts.get(f"since_{days}", 0) for days in queries.AGE_LIMITS_IN_DAYS)
    return {
        "under_1_day": day,
        "under_1_week": week - day,
        "under_1_month": month - week,
        "older": open_count - month,
    }
