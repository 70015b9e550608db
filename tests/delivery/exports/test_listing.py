"""The list of exports: totals from stored counts, and rows from indexes."""

from typing import Any

import pytest

from app.delivery.exports.queries import records
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
from tests.factories.pages import read_pages

# Copies of the first export.
INSERT = """
INSERT INTO exports SELECT (jsonb_populate_record(e, jsonb_build_object(
    'id', gen_random_uuid(), 'format', (ARRAY['jsonl', 'csv', 'xlsx'])[1 + i % 3],
    'status', CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'completed' END,
    'created_at', CAST('2026-01-15T22:00:00Z' AS timestamptz) + i * interval '37 minutes'))).*
FROM exports e, generate_series(1, :rows) AS i
WHERE e.organization_id = :org
"""
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
            pages = read_pages(exports.api, path)
            assert {page["meta"]["total"] for page in pages} == {rows}
            times = [item["created_at"] for page in pages for item in page["data"]]
            assert len(times) == rows
            assert times == sorted(times, reverse=sort.startswith("-"))
            if cursor := pages[-1]["meta"]["prev_cursor"]:
                assert exports.api.get(f"{path}&cursor={cursor}").json["data"] == pages[-2]["data"]


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
    assert_reads_few_rows(
        exports.org,
        postgres,
        "exports",
        lambda: records.list_exports(page=PAGE, **filters),
        max_rows=MAX_ROWS,
    )
