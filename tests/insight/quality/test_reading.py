"""Requests run few statements and read few cells, regardless of the amount of work."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import text

from app.insight.quality.queries import sums
from app.kit import db
from migrations.policies import ROLE
from tests.factories import make_org
from tests.factories.quality import QualityWorkspace
from tests.factories.statements import Call, record_prepared, record_statements
from tests.plans.explaining import explain_prepared

PATHS = {
    "latest": ("viewer", 2, 0),
    "latest?schema_id={schema}": ("viewer", 3, 0),
    "fields": ("viewer", 3, 0),
    "fields?schema_id={schema}": ("viewer", 3, 0),
    "trends": ("viewer", 1, 0),
    "trends?group_by=schema": ("viewer", 1, 0),
    "trends?group_by=field&schema_id={schema}": ("viewer", 4, 0),
    "trends?group_by=team&metric=throughput": ("reviewer", 1, 1),
    "trends?group_by=labeler&bucket=month": ("reviewer", 1, 1),
    "labelers": ("reviewer", 1, 1),
    "labelers?schema_id={schema}": ("admin", 2, 0),
    "reviewers": ("admin", 1, 0),
}
"""Requests by path, with the role, the number of prepared statements, and that of other ones."""
_STATEMENT_PREFIXES = ("quality_", "feedback_", "has_schema")
_INSERT_CELLS = """
INSERT INTO quality_cells
SELECT :org, subject, CAST(schema AS uuid), CASE WHEN subject = 'schema' THEN '' ELSE name END, '',
    current_date - day, 9, 9, 500, 5, 2, 2, 0, 1, 4, 3000000, 1, 900000
FROM (VALUES ('schema', 1), ('labeler', 8), ('reviewer', 4), ('field', 8)) AS kind (subject, names)
CROSS JOIN unnest(CAST(:schemas AS text[])) AS schema
CROSS JOIN generate_series(1, 700) AS day
CROSS JOIN LATERAL (SELECT md5(subject || n)::uuid::text AS name FROM generate_series(1, names) n) p
"""


@pytest.fixture(scope="module")
def quality(app: Flask) -> QualityWorkspace:
    """Return the workspace of an organization for all tests of this module."""
    return QualityWorkspace(make_org(app))


@pytest.fixture(scope="module")
def filled(quality: QualityWorkspace) -> Iterator[dict[str, str]]:
    schemas = [quality.schema() for _ in range(3)]
    quality.sql(_INSERT_CELLS, org=quality.org.id, schemas=[str(schema) for schema in schemas])
    quality.label(quality.artifact(schemas[0]), "A")
    quality.update_metrics()
    yield {"schema": str(schemas[0])}
    quality.sql("DELETE FROM quality_cells")


def _record(quality: QualityWorkspace, path: str, role: str) -> list[Call]:
    """Return the prepared statements that a request runs, except for those of authentication."""
    with record_prepared() as calls:
        answer = quality.org.api(role).get(f"/quality/{path}")
    assert answer.status_code == 200, answer.json
    return [call for call in calls if call[0].name.startswith(_STATEMENT_PREFIXES)]


def test_the_number_of_statements(quality: QualityWorkspace, filled: dict[str, str]) -> None:
    _record(quality, "latest", "viewer")  # Only the first request asks whether sums are complete.
    ran = {}
    for path, (role, _, _) in PATHS.items():
        with record_statements(quality.org.app) as statements:
            prepared = _record(quality, path.format(**filled), role)
        ran[path] = (len(prepared), len(statements))
    assert ran == {path: (prepared, others) for path, (_, prepared, others) in PATHS.items()}


@pytest.mark.parametrize("table", ["quality_sums", "quality_cells"])
@pytest.mark.parametrize("days", [30, 700])
def test_only_few_rows_are_read(
    quality: QualityWorkspace,
    filled: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    table: str,
    days: int,
) -> None:
    """A request for 30 days reads the cells of 30 days; for 700 days, it reads sums of months."""
    monkeypatch.setattr(sums, "are_complete", lambda: table == "quality_sums")
    end = db.utc_now().date() + timedelta(days=1)
    period = f"from={end - timedelta(days=days)}&to={end}"
    calls = []
    for path in (*PATHS, "trends?metric=throughput&labeler_id={labeler}"):
        role = PATHS[path][0] if path in PATHS else "reviewer"
        if "bucket" not in path and "trends" in path and days > 400:
            continue  # There would be too many buckets.
        request = path.format(**filled, labeler=quality.org.users["labeler"])
        calls += _record(quality, f"{request}{'&' if '?' in path else '?'}{period}", role)
    plans = []
    with quality.org.transaction() as session:
        session.execute(text("SET LOCAL ROLE NONE"))
        session.execute(text("ANALYZE quality_cells, quality_sums"))
        session.execute(text(f"SET LOCAL ROLE {ROLE}"))
        with session.connection().connection.cursor() as cursor:
            for statement, values in calls:
                plans.append(explain_prepared(cursor, statement, values))
    assert any(table in plan.statement for plan in plans)
    for plan in plans:
        # PostgreSQL may read all users, if there are few: those of other tests.
        user_rows = sum(plan.rows_by_index.get(name, 0) for name in ("users", "pk_users"))
        rows = plan.rows - user_rows
        assert not {"quality_cells", "quality_sums"} & set(plan.scanned), plan.statement
        if "FROM quality_cells" in plan.statement:
            # Eight names, three schemas, and the days of the period.
            assert rows <= 8 * 3 * (days + 1) + 100, (plan.rows_by_index, plan.statement)
        else:
            # Eight names, and the days and months of the period.
            assert rows <= 8 * 100 + 100, (plan.rows_by_index, plan.statement)
        assert plan.blocks < 4_000 or days > 30, plan.statement
