"""Compare lists with the rows of their tables, and count the rows that their statements read."""

from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import psycopg2

from app.kit import db, tenancy
from app.kit.pagination import PageRequest
from devserver.postgres import EmbeddedPostgres
from tests.factories.counts import find_differences, fold, run_sql
from tests.factories.orgs import Org
from tests.plans.explaining import Explained, explaining

PAGE = PageRequest(None, 20, "-created_at", b"")
AFTER, BEFORE = datetime(2026, 1, 30, 22, 37, tzinfo=UTC), datetime(2026, 3, 3, 4, tzinfo=UTC)
"""A period that begins and ends within a day, as values of a query function."""
PERIOD = "created_after=2026-01-30T22:37:00Z&created_before=2026-03-03T04:00:00Z"
"""The same period in the query string of a list."""
IN_PERIOD = "created_at >= '2026-01-30T22:37:00Z' AND created_at < '2026-03-03T04:00:00Z'"
"""The SQL condition of the rows in the period."""


def assert_lists_rows(
    org: Org, path: str, table: str, queries: Mapping[str, str], *, by: str = "viewer"
) -> None:
    """Assert that a list has the total and first rows of `table`, before and after folding counts.

    `queries` maps each query to the SQL condition of its rows.
    """
    unique = "job_id" if table == "scheduled_export_runs" else "id"
    for is_folded in (False, True):
        if is_folded:
            fold(org.app)
        for query, condition in queries.items():
            response = org.api(by).get(f"{path}?page_size=20&{query}")
            assert response.status_code == 200, response.json
            rows = run_sql(
                org,
                f"SELECT {unique} AS id FROM {table} WHERE organization_id = :org"
                f" AND {condition} ORDER BY created_at DESC, {unique} DESC",
            )
            expected = [str(row.id) for row in rows]
            assert response.json["meta"]["total"] == len(expected), (query, is_folded)
            assert [item["id"] for item in response.json["data"]] == expected[:20], query
    assert find_differences(org) == []


def explain(
    org: Org, postgres: EmbeddedPostgres, table: str, read: Callable[[], Any]
) -> list[Explained]:
    """Fold the counts, analyze the table, and return the explained statements of a `read` call."""
    fold(org.app)
    with closing(psycopg2.connect(postgres.url)) as owner, owner, owner.cursor() as cursor:
        cursor.execute(f"ANALYZE {table}, counts")
    with org.app.app_context(), tenancy.organization(org.id), explaining(org.app) as explained:
        read()
        db.session().rollback()
    assert any(table in entry.statement for entry in explained)
    return explained


def assert_reads_few_rows(
    org: Org, postgres: EmbeddedPostgres, table: str, read: Callable[[], Any], *, max_rows: int
) -> None:
    """Assert that a `read` call does not scan the table, and reads fewer than `max_rows` rows."""
    explained = explain(org, postgres, table, read)
    assert [entry for entry in explained if table in entry.scanned] == []
    rows = sum(entry.rows for entry in explained)
    assert rows < max_rows, [entry.rows_by_index for entry in explained]
