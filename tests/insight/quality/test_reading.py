"""Reads cost the same however much was labeled: few statements, and index scans of few cells."""

from collections.abc import Iterator
from datetime import date, timedelta
from uuid import UUID

import pytest

from app.insight.quality.models import Subject
from app.insight.quality.queries import reading
from app.insight.quality.queries.reading import Filter
from app.kit import db, tenancy
from app.kit.pagination import PageRequest
from tests.factories.quality import QualityWorkspace
from tests.factories.statements import record_statements
from tests.plans.explaining import explaining

SUBMITTED = ("submitted",)
PATHS = {
    "latest": ("viewer", 1),
    "latest?schema_id={schema}": ("viewer", 2),
    "fields": ("viewer", 3),
    "fields?schema_id={schema}": ("viewer", 5),
    "trends": ("viewer", 1),
    "trends?group_by=schema": ("viewer", 2),
    "trends?group_by=field&schema_id={schema}": ("viewer", 4),
    "trends?group_by=team&metric=throughput": ("reviewer", 2),
    "trends?group_by=labeler&bucket=month": ("reviewer", 3),
    "labelers": ("reviewer", 2),
    "labelers?schema_id={schema}": ("admin", 2),
    "reviewers": ("admin", 1),
}
"""Each request with who sends it, and the number of its statements."""
_OTHERS = """
INSERT INTO quality_cells
SELECT :org, subject, CAST(schema AS uuid), CASE WHEN subject = 'schema' THEN '' ELSE name END, '',
    current_date - day, 9, 9, 500, 5, 2, 2, 0, 1, 4, 3000000, 1, 900000
FROM (VALUES ('schema', 1), ('labeler', 8), ('reviewer', 4), ('field', 8)) AS kind (subject, names)
CROSS JOIN unnest(CAST(:schemas AS text[])) AS schema
CROSS JOIN generate_series(1, 700) AS day
CROSS JOIN LATERAL (SELECT md5(subject || n)::uuid::text AS name FROM generate_series(1, names) n) p
"""


@pytest.fixture
def filled(quality: QualityWorkspace) -> Iterator[dict[str, str]]:
    schemas = [quality.schema() for _ in range(3)]
    quality.sql(_OTHERS, org=quality.org.id, schemas=[str(schema) for schema in schemas])
    quality.label(quality.artifact(schemas[0]), "A")
    quality.count()
    yield {"schema": str(schemas[0])}
    quality.sql("DELETE FROM quality_cells")


def test_the_number_of_statements(quality: QualityWorkspace, filled: dict[str, str]) -> None:
    ran = {}
    for path, (role, _) in PATHS.items():
        with record_statements(quality.org.app) as statements:
            answer = quality.org.api(role).get(f"/quality/{path.format(**filled)}")
        assert answer.status_code == 200, answer.json
        ran[path] = len(statements)
    assert ran == {path: count for path, (_, count) in PATHS.items()}


def test_only_the_cells_of_the_period_are_read(
    quality: QualityWorkspace, filled: dict[str, str]
) -> None:
    """A month of cells is read, of the 700 days that there are."""
    today = date.today()  # noqa: DTZ011 - the period is wide enough
    period = (today - timedelta(days=29), today + timedelta(days=1))
    schema_id = UUID(filled["schema"])
    buckets = [period]
    with (
        quality.org.app.app_context(),
        tenancy.organization(quality.org.id),
        db.transaction(),
        explaining(quality.org.app) as explained,
    ):
        for subject in Subject:
            chosen = Filter(subject, *period)
            of_schema = Filter(subject, *period, schema_id=schema_id)
            for cells in (chosen, of_schema):
                reading.sum_by_bucket(
                    cells, reading.NAME, buckets, cases=SUBMITTED, counters=SUBMITTED, most=20
                )
        reading.sum_by_schema(Filter(Subject.SCHEMA, *period))
        reading.sum_by_field(Filter(Subject.FIELD, *period, schema_id=schema_id))
        person = UUID(int=7)
        reading.sum_by_bucket(
            Filter(Subject.LABELER, *period, labelers=[person]),
            reading.ALL,
            buckets,
            cases=SUBMITTED,
            counters=SUBMITTED,
            most=20,
        )
        request = PageRequest(None, 100, "id", b"")
        reading.list_people(request, Filter(Subject.REVIEWER, *period))
    assert len(explained) >= 12
    for one in explained:
        assert "quality_cells" not in one.scanned, one.statement
        # Eight names, three schemas and 30 days, in both branches of a page and its total.
        assert one.rows <= 2 * 8 * 3 * 31 + 100, (one.rows_by_index, one.statement)
        assert one.blocks < 4_000, one.statement
