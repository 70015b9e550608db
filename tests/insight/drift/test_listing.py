"""The list of drift reports: totals from stored counts, and rows from indexes."""

from typing import Any
from uuid import UUID

import pytest

from app.insight.drift.queries import records
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
from tests.factories.teams import add_members, make_team
from tests.insight.drift.conftest import Labeling

INSERT = """
INSERT INTO drift_reports (organization_id, id, schema_id, detection_id, shift_key, subject, field,
    metric, labeler_id, test, baseline, current, current_from, current_until, p_value, q_value,
    effect, js_distance, warnings, status, confirmed_at, created_at, updated_at)
SELECT :org, gen_random_uuid(), (CAST(:schemas AS uuid[]))[1 + i % 2], gen_random_uuid(), 'key',
    CASE WHEN i % 5 = 0 THEN 'model' ELSE 'labeling' END, CASE WHEN i % 3 > 0 THEN 'kind' END,
    CASE WHEN i % 7 = 0 THEN 'length' ELSE 'values' END,
    CASE i % 4 WHEN 0 THEN CAST(:labeler AS uuid) WHEN 1 THEN CAST(:admin AS uuid) END,
    'chi_square', CAST(:sample AS jsonb), CAST(:sample AS jsonb), now(), now(), 0.1, 0.1, 1, 1,
    '[]',
    CASE WHEN i % 50 = 0 THEN 'acknowledged' ELSE 'closed' END, now(),
    CAST('2026-01-15T22:00:00Z' AS timestamptz) + i * interval '37 minutes', now()
FROM generate_series(1, :rows) AS i
"""
SAMPLE = '{"start": "2026-01-01T00:00:00Z", "end": "2026-01-08T00:00:00Z", "n": 100, "value": 0.5}'
ROWS = 4_000
MAX_ROWS = 600
"""The maximum number of rows that the statements for one page of a list may read."""


def _insert(labeling: Labeling, rows: int) -> UUID:
    """Insert reports of two schemas, and return the id of one of them."""
    workspace, other_id = labeling.workspace, labeling.workspace.schema()
    users = workspace.org.users
    workspace.sql(
        INSERT,
        org=workspace.org.id,
        schemas=[labeling.schema_id, other_id],
        labeler=users["labeler"],
        admin=users["admin"],
        sample=SAMPLE,
        rows=rows,
    )
    return other_id


def test_totals_and_pages_are_those_of_the_rows(labeling: Labeling) -> None:
    other_id, org = _insert(labeling, 2_000), labeling.workspace.org
    of_schema = f"schema_id = '{other_id}'"
    queries = {
        "": "true",
        "status=acknowledged": "status = 'acknowledged'",
        "status=open": "false",
        "subject=model&metric=length": "subject = 'model' AND metric = 'length'",
        f"schema_id={other_id}": of_schema,
        f"schema_id={other_id}&status=acknowledged": f"{of_schema} AND status = 'acknowledged'",
        "field=kind": "field = 'kind'",
        f"field=kind&{PERIOD}": f"field = 'kind' AND {IN_PERIOD}",
        PERIOD: IN_PERIOD,
        f"status=closed&{PERIOD}": f"status = 'closed' AND {IN_PERIOD}",
        f"schema_id={other_id}&{PERIOD}": f"{of_schema} AND {IN_PERIOD}",
    }
    everything = {query: f"({condition})" for query, condition in queries.items()}
    # A reviewer in no team sees all reports, and a viewer none about labelers.
    assert_lists_rows(org, "/quality/drift", "drift_reports", everything, by="reviewer")
    own = {q: f"{c} AND labeler_id IS NULL" for q, c in everything.items()}
    assert_lists_rows(org, "/quality/drift", "drift_reports", own, by="viewer")
    add_members(org, make_team(org), "reviewer", "labeler")
    labeler_id = org.users["labeler"]
    of_team = {
        q: f"{c} AND (labeler_id IS NULL OR labeler_id = '{labeler_id}')"
        for q, c in everything.items()
    }
    assert_lists_rows(org, "/quality/drift", "drift_reports", of_team, by="reviewer")
    labeling.workspace.sql("DELETE FROM schemas WHERE id = :id", id=other_id)
    assert_lists_rows(org, "/quality/drift", "drift_reports", own, by="viewer")


@pytest.mark.parametrize("sees_all", [True, False])
@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"status": "acknowledged"},
        {"schema_id": True},
        {"created_after": AFTER, "created_before": BEFORE},
        {"schema_id": True, "created_after": AFTER, "created_before": BEFORE},
    ],
)
def test_a_list_reads_few_rows(
    labeling: Labeling, postgres: EmbeddedPostgres, filters: dict[str, Any], sees_all: bool
) -> None:
    _insert(labeling, ROWS)
    org = labeling.workspace.org
    if "schema_id" in filters:
        filters = {**filters, "schema_id": labeling.schema_id}
    labelers = None if sees_all else [org.users["labeler"]]
    assert_reads_few_rows(
        org,
        postgres,
        "drift_reports",
        lambda: records.list_reports(PAGE, labeler_ids=labelers, **filters),
        max_rows=MAX_ROWS,
    )
