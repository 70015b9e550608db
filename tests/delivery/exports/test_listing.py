"""The list of exports: totals from stored counts, and rows from indexes."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.delivery.exports.queries import records
from devserver.postgres import EmbeddedPostgres
from tests.factories.counted_lists import PAGE, assert_lists_rows, explain

# Copies of the first export.
INSERT = """
INSERT INTO exports SELECT (jsonb_populate_record(e, jsonb_build_object(
    'id', gen_random_uuid(), 'format', (ARRAY['jsonl', 'csv', 'xlsx'])[1 + i % 3],
    'status', CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'completed' END,
    'created_at', CAST('2026-01-15T22:00:00Z' AS timestamptz) + i * interval '37 minutes'))).*
FROM exports e, generate_series(1, :rows) AS i
WHERE e.organization_id = :org
"""
AFTER, BEFORE = datetime(2026, 1, 30, 22, 37, tzinfo=UTC), datetime(2026, 3, 3, 4, tzinfo=UTC)
PERIOD = "created_after=2026-01-30T22:37:00Z&created_before=2026-03-03T04:00:00Z"
IN_PERIOD = "created_at >= '2026-01-30T22:37:00Z' AND created_at < '2026-03-03T04:00:00Z'"
QUERIES = {
    "": "true",
    "status=failed": "status = 'failed'",
    "status=running": "status = 'running'",
    "format=csv": "format = 'csv'",
    "format=docx": "false",
    "status=failed&format=csv": "status = 'failed' AND format = 'csv'",
    PERIOD: IN_PERIOD,
    f"status=completed&format=csv&{PERIOD}": (
        f"status = 'completed' AND format = 'csv' AND {IN_PERIOD}"
    ),
    f"status=failed&{PERIOD}": f"status = 'failed' AND {IN_PERIOD}",
    "created_after=2026-02-01T00:00:00Z": "created_at >= '2026-02-01T00:00:00Z'",
    "created_before=2026-02-01T00:00:00Z": "created_at < '2026-02-01T00:00:00Z'",
}
ROWS = 4_000
MAX_ROWS = 800
"""The maximum number of rows that the statements for one page of a list may read."""


def _insert(exports: Any, rows: int) -> None:
    exports.start("jsonl")
    exports.sql(INSERT, org=exports.org.id, rows=rows)


def test_totals_and_pages_are_those_of_the_rows(exports: Any) -> None:
    _insert(exports, 2_000)
    exports.make("csv")
    assert_lists_rows(exports.org, "/exports", "exports", QUERIES)
    exports.sql("UPDATE exports SET status = 'failed' WHERE created_at < '2026-02-02'")
    exports.sql("DELETE FROM exports WHERE format = 'csv' AND created_at > '2026-03-01'")
    assert_lists_rows(exports.org, "/exports", "exports", QUERIES)


def test_pages_of_a_filter_go_on_and_back(exports: Any) -> None:
    _insert(exports, 300)
    for query, rows in (("status=failed", 6), ("format=csv", 100), (f"format=csv&{PERIOD}", 0)):
        for sort in ("created_at", "-created_at"):
            path = f"/exports?{query}&sort={sort}&page_size=4"
            pages, cursor = [], ""
            while cursor is not None:
                page = exports.api.get(f"{path}&cursor={cursor}" if cursor else path).json
                assert page["meta"]["total"] == rows
                pages.append([item["created_at"] for item in page["data"]])
                cursor = page["meta"]["next_cursor"]
            times = [created_at for page_times in pages for created_at in page_times]
            assert len(times) == rows
            assert times == sorted(times, reverse=sort.startswith("-"))
            if page["meta"]["prev_cursor"]:
                back = exports.api.get(f"{path}&cursor={page['meta']['prev_cursor']}").json
                assert [item["created_at"] for item in back["data"]] == pages[-2]


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"status": "failed"},
        {"status": "completed"},
        {"format_id": "csv"},
        {"status": "failed", "format_id": "csv"},
        {"created_after": AFTER, "created_before": BEFORE},
        {"status": "completed", "created_after": AFTER, "created_before": BEFORE},
    ],
)
def test_a_list_reads_few_rows(
    exports: Any, postgres: EmbeddedPostgres, filters: dict[str, Any]
) -> None:
    _insert(exports, ROWS)
    explained = explain(
        exports.org, postgres, "exports", lambda: records.list_exports(page=PAGE, **filters)
    )
    assert [one for one in explained if "exports" in one.scanned] == []
    rows = sum(one.rows for one in explained)
    assert rows < MAX_ROWS, [one.rows_by_index for one in explained]
