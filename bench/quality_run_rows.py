"""Measure a quality run on many documents with three labelers, from the request to the results.

The floor is one scan of the same tag sets by COPY.
"""

import time
from typing import Any

from sqlalchemy import text

from app.kit import db, tenancy
from bench.filling import analyze, disable_triggers
from bench.jobs_rows import time_copy, wait_for_job
from bench.report import Report, Row
from bench.service import Service
from tests.factories import Org, make_org
from tests.factories.labels import make_labeled

_MAX_MB = 400.0
_MAX_SECONDS = 120.0
# In one tag set of ten, the first value differs from the value of the first labeler.
_ADD_LABELER = """
INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id, labeler_id,
    source, tags, status, submitted_at, seconds_spent, comment_count, rejections, review_rank,
    escalated, flags, created_at, updated_at, revision)
SELECT organization_id, gen_random_uuid(), artifact_id, schema_id, schema_version_id, :labeler,
    'human', CASE WHEN random() < 0.1 THEN jsonb_set(tags, '{0,value}', '"Other"') ELSE tags END,
    'submitted', submitted_at, 30, 0, 0, 0, false, '[]', created_at, updated_at, 2
FROM tag_sets WHERE organization_id = :org AND labeler_id = :first
"""
_COPY = "COPY (SELECT tags FROM tag_sets WHERE organization_id = '{}') TO STDOUT"


def measure(report: Report, service: Service, names: set[str], count: int) -> None:
    """Measure a quality run on `count` documents with three labelers and four fields."""
    if names and "quality_run" not in names:
        return
    org = make_org(service.app)
    with disable_triggers(service):
        labeled = make_labeled(org, count)
        _add_labelers(org)
    analyze(service)
    floor = time_copy(service, _COPY.format(org.id))
    seconds, peak = _run(service, org, {"schema_id": str(labeled.schema_id)}, count)
    report.add(
        Row(
            f"quality run of {count:,} documents, 3 labelers, 4 fields",
            f"{seconds:.1f} s",
            f"{floor:.1f} s COPY",
            seconds / floor,
            f"< {_MAX_SECONDS:g} s",
            seconds < _MAX_SECONDS,
        )
    )
    name = "the same, peak memory of a worker"
    report.add_without_floor(name, f"{peak:.0f} MB", f"< {_MAX_MB:g} MB", peak < _MAX_MB)


def _add_labelers(org: Org) -> None:
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        session.execute(text("SET LOCAL statement_timeout = 0"))
        for name in ("reviewer", "admin"):
            values = {"org": org.id, "first": org.users["labeler"], "labeler": org.users[name]}
            session.execute(text(_ADD_LABELER), values)


def _run(service: Service, org: Org, body: dict[str, Any], count: int) -> tuple[float, float]:
    """Compute a quality run; return its time in seconds, and the workers' peak memory in MB."""
    api = org.api("reviewer")
    began = time.perf_counter()
    run_id = api.post("/quality/compute", body).json["data"]["id"]
    run, peak = wait_for_job(service, api, f"/quality/runs/{run_id}")
    assert run["status"] == "completed", run
    assert run["results"][0]["units"] == count, run["results"]
    return time.perf_counter() - began, peak
