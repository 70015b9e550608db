"""Count documents for the statistics."""

from collections.abc import Iterable
from typing import Any

from app.documents.artifacts.queries import counting as queries
from app.documents.artifacts.statuses import ArtifactStatus

_SUMMED = ("total", "open", "unassigned", "gold", "archived")


def stats(filters: dict[str, Any]) -> dict[str, Any]:
    """Return the counts of documents in the form of `ArtifactStats`."""
    rows = queries.by_schema(filters)

    def summed(names: Iterable[str]) -> dict[str, int]:
        return {name: sum(getattr(row, name) for row in rows) for name in names}

    totals = summed(_SUMMED)
    return {
        "by_status": summed(tuple(ArtifactStatus)),
        "by_age": _by_age(rows[0], totals["open"]) if rows else _by_age(None, 0),
        **totals,
        "overdue": rows[0].overdue if rows else 0,
        "claimed": rows[0].claimed if rows else 0,
        "by_schema": [
            {
                "schema_id": row.schema_id,
                "name": row.name,
                "total": row.total,
                "by_status": {status: getattr(row, status) for status in ArtifactStatus},
                "archived": row.archived,
            }
            for row in rows
        ],
    }


def _by_age(row: Any, all_open: int) -> dict[str, int]:
    day, week, month = (getattr(row, f"since_{days}", 0) for days in queries.AGES)
    return {
        "under_1_day": day,
        "under_1_week": week - day,
        "under_1_month": month - week,
        "older": all_open - month,
    }
