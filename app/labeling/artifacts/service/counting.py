"""Statistics of documents."""

from collections.abc import Iterable
from typing import Any

from app.labeling.artifacts.models import STATUSES
from app.labeling.artifacts.queries import counting as queries

_AGES = ("under_1_day", "under_1_week", "under_1_month", "older")
_OTHERS = ("total", "open", "overdue", "unassigned", "claimed", "gold", "archived")


def stats(filters: dict[str, Any]) -> dict[str, Any]:
    """How many documents are where, as `ArtifactStats` shows it."""
    rows = queries.by_schema(filters)

    def summed(names: Iterable[str]) -> dict[str, int]:
        return {name: sum(getattr(row, name) for row in rows) for name in names}

    return {
        "by_status": summed(STATUSES),
        "by_age": summed(_AGES),
        **summed(_OTHERS),
        "by_schema": [
            {
                "schema_id": row.schema_id,
                "name": row.name,
                "total": row.total,
                "by_status": {status: getattr(row, status) for status in STATUSES},
                "archived": row.archived,
            }
            for row in rows
        ],
    }
