"""The list of runs: totals from stored counts, and rows from an index."""

from typing import Any
from uuid import UUID

import pytest

from app.delivery.scheduled_exports.queries import runs
from devserver.postgres import EmbeddedPostgres
from tests.factories.counted_lists import (
    AFTER,
    BEFORE,
    IN_PERIOD,
    PAGE,
    PERIOD,
    assert_lists_rows,
    assert_reads_few_rows,
)
from tests.factories.counts import find_differences, fold

INSERT_EXPORTS = """
INSERT INTO exports (organization_id, id, format, filter, options, include, status, progress_done,
    scheduled_export_id, created_at, updated_at)
SELECT :org, gen_random_uuid(), 'jsonl', '{}', '{}', '{}', 'completed', 0, :scheduled_export_id,
    CAST('2026-01-15T22:00:00Z' AS timestamptz) + i * interval '37 minutes', now()
FROM generate_series(1, :rows) AS i
"""
INSERT_RUNS = """
INSERT INTO scheduled_export_runs
    (organization_id, job_id, scheduled_export_id, trigger, delivery_status, sent_bytes, created_at)
SELECT organization_id, id, scheduled_export_id, 'schedule', 'delivered', 0, created_at
FROM exports WHERE organization_id = :org AND scheduled_export_id = :scheduled_export_id
"""
PERIODS = {
    "": "true",
    PERIOD: IN_PERIOD,
    "created_after=2026-02-01T00:00:00Z": "created_at >= '2026-02-01T00:00:00Z'",
    "created_before=2026-02-01T00:00:00Z": "created_at < '2026-02-01T00:00:00Z'",
    "created_after=2027-01-01T00:00:00Z": "false",
}


def _insert_runs(scheduled: Any, rows: int) -> str:
    created: str = scheduled.schedule()["id"]
    values = {"org": scheduled.org.id, "scheduled_export_id": created}
    scheduled.sql(INSERT_EXPORTS, rows=rows, **values)
    scheduled.sql(INSERT_RUNS, **values)
    return created


def test_totals_and_pages_are_those_of_the_rows(scheduled: Any) -> None:
    created = {_insert_runs(scheduled, rows): rows for rows in (0, 1_500, 400)}
    for export_id in created:
        queries = {
            query: f"scheduled_export_id = '{export_id}' AND {condition}"
            for query, condition in PERIODS.items()
        }
        path = f"/exports/scheduled/{export_id}/runs"
        assert_lists_rows(scheduled.org, path, "scheduled_export_runs", queries)


def test_a_deleted_scheduled_export_leaves_no_counts(scheduled: Any) -> None:
    export_id = _insert_runs(scheduled, 40)
    fold(scheduled.org.app)
    assert scheduled.admin.delete(f"/exports/scheduled/{export_id}").status_code == 204
    assert find_differences(scheduled.org) == []
    fold(scheduled.org.app)
    cells = "SELECT FROM counts WHERE organization_id = :org AND cube LIKE 'scheduled_export_runs%'"
    assert scheduled.sql(cells, org=scheduled.org.id) == []


def test_runs_that_are_deleted_between_two_queries_are_left_out(
    scheduled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_id = _insert_runs(scheduled, 2)
    get_export_jobs = runs.get_export_jobs

    def delete_one_first(job_ids: list[UUID]) -> Any:
        scheduled.sql("DELETE FROM exports WHERE id = :id", id=job_ids[0])
        return get_export_jobs(job_ids)

    monkeypatch.setattr(runs, "get_export_jobs", delete_one_first)
    answer = scheduled.admin.get(f"/exports/scheduled/{export_id}/runs")
    assert (answer.status_code, len(answer.json["data"])) == (200, 1)


@pytest.mark.parametrize("period", [{}, {"created_after": AFTER, "created_before": BEFORE}])
def test_a_list_reads_few_rows(
    scheduled: Any, postgres: EmbeddedPostgres, period: dict[str, Any]
) -> None:
    export_id = UUID(_insert_runs(scheduled, 3_000))
    assert_reads_few_rows(
        scheduled.org,
        postgres,
        "scheduled_export_runs",
        lambda: runs.list_runs(export_id, PAGE, **period),
        # The runs of the first two days and of the last two days are counted one by one.
        max_rows=300,
    )
