"""Statistics of a period count overdue documents exactly, including at the limits of days."""

from datetime import datetime, timedelta
from itertools import product
from typing import Any
from urllib.parse import urlencode

import pytest

from app.kit import db
from tests.factories import Org
from tests.factories.counts import fold, run_sql
from tests.factories.workspace import Workspace

_MICROSECOND = timedelta(microseconds=1)


def _get_today() -> datetime:
    now: datetime = db.utc_now()
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _create_documents(workspace: Workspace) -> None:
    """Create documents close to the start of a day, with due times close to midnight and to now."""
    today, schema_id = _get_today(), workspace.schema()
    created = [
        today - timedelta(days=days) + offset
        for days, offset in product((3, 2), (-_MICROSECOND, timedelta(0), _MICROSECOND))
    ]
    hour = timedelta(hours=1)
    due = [
        None,
        today - timedelta(days=1),
        today - _MICROSECOND,
        today,
        today + _MICROSECOND,
        db.utc_now() - _MICROSECOND,
        db.utc_now() + hour,
    ]
    for created_at, due_at in product(created, due):
        workspace.artifact(schema_id, created_at=created_at, due_at=due_at)
    for values in ({"status": "done"}, {"status": "failed"}, {"archived": True}):
        workspace.artifact(schema_id, created_at=created[0], due_at=today, **values)


def _count_overdue(workspace: Workspace, period: dict[str, datetime]) -> int:
    conditions = {
        "created_after": "created_at >= :created_after",
        "created_before": "created_at < :created_before",
    }
    where = " AND ".join(conditions[name] for name in period)
    statement = (
        "SELECT count(*) FROM artifacts WHERE status IN"
        " ('processing', 'ready', 'in_progress', 'in_review') AND NOT archived"
        f" AND due_at < now() AND organization_id = :org AND {where}"
    )
    return int(run_sql(workspace.org, statement, **period)[0][0])


@pytest.mark.parametrize("folded", [False, True])
def test_overdue_of_a_period_equals_the_counted_rows(org: Org, *, folded: bool) -> None:
    workspace = Workspace(org)
    _create_documents(workspace)
    if folded:
        fold(workspace.org.app)
    starts: list[datetime] = [
        _get_today() - timedelta(days=days) + offset
        for days in (3, 2, 1)
        for offset in (-_MICROSECOND, timedelta(0), _MICROSECOND, timedelta(hours=7))
    ]
    periods: list[dict[str, datetime]] = [{"created_after": start} for start in starts]
    periods += [{"created_before": start} for start in starts]
    periods += [{"created_after": starts[1], "created_before": end} for end in starts[2:]]
    counts: dict[str, tuple[Any, int]] = {}
    for period in periods:
        query = urlencode({name: at.isoformat() for name, at in period.items()})
        answer = workspace.org.api("viewer").get(f"/artifacts/stats?{query}")
        counts[query] = (answer.json["data"]["overdue"], _count_overdue(workspace, period))
    assert {query: pair for query, pair in counts.items() if pair[0] != pair[1]} == {}
    assert max(expected for _, expected in counts.values()) > 0
