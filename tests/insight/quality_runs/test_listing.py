"""The list of quality runs: totals from stored counts, and rows from indexes."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from app.insight.quality_runs.queries import records
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
from tests.factories.counts import find_differences
from tests.insight.quality_runs.conftest import Answers

INSERT = """
INSERT INTO quality_runs (organization_id, id, schema_id, fields, metrics, ends_at, status,
    progress_done, results, pairs, confusions, warnings, created_at, updated_at)
SELECT :org, gen_random_uuid(), (CAST(:schemas AS uuid[]))[1 + i % cardinality(:schemas)], '[]',
    '["percent"]', now(), CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'completed' END, 0, '[]', '[]',
    '{}', '[]', CAST('2026-01-15T22:00:00Z' AS timestamptz) + i * interval '37 minutes', now()
FROM generate_series(1, :rows) AS i
"""
ROWS = 4_000
MAX_ROWS = 600
"""The maximum number of rows that the statements for one page of a list may read."""

Insert = Callable[[int], list[UUID]]


@pytest.fixture
def insert(answers: Answers) -> Insert:
    """Return a function that inserts runs of three schemas, and returns the ids of the schemas."""

    def insert_runs(rows: int) -> list[UUID]:
        schemas = [answers.create_schema() for _ in range(3)]
        values = {"org": answers.org.id, "schemas": schemas, "rows": rows}
        answers.workspace.sql(INSERT, **values)
        return schemas

    return insert_runs


def test_totals_and_pages_are_those_of_the_rows(answers: Answers, insert: Insert) -> None:
    schema, removed, _ = insert(2_000)
    is_of_schema = f"schema_id = '{schema}'"
    queries = {
        "": "true",
        "status=failed": "status = 'failed'",
        "status=running": "false",
        f"schema_id={schema}": is_of_schema,
        f"schema_id={schema}&status=failed": f"{is_of_schema} AND status = 'failed'",
        "schema_id=00000000-0000-7000-8000-000000000000": "false",
        PERIOD: IN_PERIOD,
        f"status=failed&{PERIOD}": f"status = 'failed' AND {IN_PERIOD}",
        f"schema_id={schema}&{PERIOD}": f"{is_of_schema} AND {IN_PERIOD}",
        f"schema_id={schema}&status=completed&{PERIOD}": (
            f"{is_of_schema} AND status = 'completed' AND {IN_PERIOD}"
        ),
        "created_before=2026-02-01T00:00:00Z": "created_at < '2026-02-01T00:00:00Z'",
    }
    assert_lists_rows(answers.org, "/quality/runs", "quality_runs", queries)
    # As the deletion of old runs and of a schema do.
    answers.workspace.sql("DELETE FROM quality_runs WHERE created_at < '2026-01-31'")
    answers.workspace.sql("DELETE FROM schemas WHERE id = :id", id=removed)
    assert_lists_rows(answers.org, "/quality/runs", "quality_runs", queries)


def test_a_run_is_counted_by_its_current_status(answers: Answers) -> None:
    schema_id = answers.create_labeled_schema("ab")
    answers.start(schema_id)

    def read_totals() -> list[int]:
        return [
            answers.api.get(f"/quality/runs?status={status}").json["meta"]["total"]
            for status in ("queued", "completed")
        ]

    assert read_totals() == [1, 0]
    answers.work()
    assert read_totals() == [0, 1]
    assert find_differences(answers.org) == []


@pytest.mark.parametrize(
    ("has_schema", "filters"),
    [
        (False, {}),
        (False, {"status": "failed"}),
        (True, {}),
        (True, {"status": "completed"}),
        (False, {"created_after": AFTER, "created_before": BEFORE}),
        (True, {"created_after": AFTER, "created_before": BEFORE}),
    ],
)
def test_a_list_reads_few_rows(
    answers: Answers,
    insert: Insert,
    postgres: EmbeddedPostgres,
    has_schema: bool,
    filters: dict[str, Any],
) -> None:
    schemas = insert(ROWS)
    schema_id = schemas[0] if has_schema else None
    assert_reads_few_rows(
        answers.org,
        postgres,
        "quality_runs",
        lambda: records.list_runs(page=PAGE, schema_id=schema_id, **filters),
        max_rows=MAX_ROWS,
    )
