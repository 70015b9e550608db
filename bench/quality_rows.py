"""Measure requests for quality statistics of a million accepted tag sets.

The floor is listing 100 documents. Also measures how fast the metrics of documents are rebuilt.
"""

import time
from statistics import median

from app.insight.quality.service import updating as quality
from app.kit import db, tenancy
from bench import filling, load
from bench.growth_filling import SCHEMA_COUNT, create_organization
from bench.report import Report
from bench.service import Service
from tests.factories import Org

LISTED_COUNT = 10_000
ACCEPTED_COUNT = 1_000_000
MAX_RATIO = 1
"""The maximum ratio of a request's time to the time for listing 100 documents."""
_DAYS = 365
_LABELERS, _REVIEWERS, _FIELDS = 50, 10, 20
_ROUNDS = 30
# A tag set is counted once for its schema, labeler and reviewer, and once for each field.
_CELLS = """
INSERT INTO quality_cells
SELECT :org, subject, CAST(schema AS uuid), name, CASE subject WHEN 'field' THEN 'text' ELSE '' END,
    current_date - day, share, share, share * 60, share - share / 10, share / 10, share / 20, 0,
    share / 50, share, CAST(share AS bigint) * 900000000, share / 100,
    CAST(share / 100 AS bigint) * 900000000
FROM unnest(CAST(:schemas AS text[])) AS schema
CROSS JOIN generate_series(0, :days - 1) AS day
CROSS JOIN LATERAL (
    SELECT 'schema' AS subject, '' AS name, :daily AS share
    UNION ALL SELECT 'labeler', id, greatest(1, :daily / :labelers)
        FROM unnest(CAST(:people AS text[])) WITH ORDINALITY AS p (id, n) WHERE n <= :labelers
    UNION ALL SELECT 'reviewer', id, greatest(1, :daily / :reviewers)
        FROM unnest(CAST(:people AS text[])) WITH ORDINALITY AS p (id, n) WHERE n <= :reviewers
    UNION ALL SELECT 'field', 'field_' || n, :daily FROM generate_series(1, :fields) AS n
) AS counted
"""


def measure(report: Report, service: Service) -> None:
    """Fill an organization, and measure each request alternately with a list of documents."""
    benchmark = create_organization(service, LISTED_COUNT)
    filling.analyze(service)
    _measure_rebuild(report, benchmark.org)
    _fill(service, benchmark.org)
    filling.analyze(service)
    connection = load.Connection(service.base)
    empty_period = "from=2000-01-01&to=2000-01-02"
    cases = {
        "latest": "latest",
        "latest, nothing": f"latest?{empty_period}",
        "trends": "trends?metric=acceptance_rate",
        "trends by labeler": "trends?metric=throughput&group_by=labeler",
        "trends of a year by schema": f"trends?bucket=week&group_by=schema&{_format_last_year()}",
        "fields": f"fields?schema_id={benchmark.schema_id}",
        "labelers": "labelers",
        "reviewers": "reviewers",
    }
    for name, path in cases.items():
        ours, floor = [], []
        for _ in range(_ROUNDS):
            ours.append(_time(connection, benchmark.org, f"/quality/{path}"))
            floor.append(_time(connection, benchmark.org, "/artifacts?page_size=100"))
        report.add_times(f"quality {name}", median(ours), median(floor), MAX_RATIO)


def _format_last_year() -> str:
    today = db.utc_now().date()
    return f"from={today.replace(year=today.year - 1)}&to={today}"


def _measure_rebuild(report: Report, org: Org) -> None:
    """Measure how fast an organization's quality metrics are rebuilt, in documents per second."""
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        began = time.perf_counter()
        quality.rebuild(db.checkpoint)
        seconds = time.perf_counter() - began
        connection = db.session().connection()
        result = connection.exec_driver_sql("SELECT count(*) FROM quality_documents")
        count = result.scalar_one()
    report.add_without_floor("quality, documents counted", f"{count / seconds:.0f}/s", "", None)


def _fill(service: Service, org: Org) -> None:
    """Replace the quality cells with the cells of a million accepted tag sets from one year."""
    people = org.add_users({f"measured{n}": "labeler" for n in range(_LABELERS)})
    with filling.open_cursor(service) as cursor:
        cursor.execute("DELETE FROM quality_cells WHERE organization_id = %s", [str(org.id)])
        cursor.execute("SELECT id FROM schemas WHERE organization_id = %s", [str(org.id)])
        schemas = [str(row[0]) for row in cursor.fetchall()]
        values = {
            "org": str(org.id),
            "schemas": schemas,
            "people": list(map(str, people.values())),
            "days": _DAYS,
            "daily": ACCEPTED_COUNT // (_DAYS * SCHEMA_COUNT),
            "labelers": _LABELERS,
            "reviewers": _REVIEWERS,
            "fields": _FIELDS,
        }
        cursor.execute(filling.compile_statement(_CELLS), values)


def _time(connection: load.Connection, org: Org, path: str) -> float:
    request = load.build_request("GET", f"/api/v1{path}", org.api("admin").headers())
    return connection.measure(request)[0]
