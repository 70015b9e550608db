"""Measure the effect of a long backlog on the job rate and on another organization's uploads."""

import time
from io import BytesIO
from statistics import median
from typing import Any
from uuid import uuid4

from bench.filling import open_cursor
from bench.report import Report
from bench.service import Service
from tests.factories import Org

QUEUED_JOBS = 50_000
SMALL_BACKLOG_JOBS = 500
_UPLOADS = 9
_PAUSE_SECONDS = 0.02
_FUNCTION = "webhooks.end"
"""The name of a job that runs a single statement, which matches no row."""
_FILL = """
INSERT INTO jobs (id, organization_id, queue, function, args)
SELECT gen_random_uuid(), %(org)s, 'bulk', %(function)s, '{}'
FROM generate_series(1, %(count)s)
"""
_COUNT_PENDING = "SELECT count(*) FROM jobs WHERE organization_id = %(org)s AND due_at IS NOT NULL"
_DELETE = "DELETE FROM jobs WHERE organization_id = %(org)s AND due_at IS NOT NULL"


def measure(report: Report, service: Service, busy: Org, other: Org) -> None:
    """Measure the job rate of `busy` and the uploads of `other`, with and without a backlog."""
    with open_cursor(service) as cursor:
        idle_seconds = median(_measure_upload_seconds(other) for _ in range(_UPLOADS))
        short_rate = median(
            _measure_rate(cursor, busy, SMALL_BACKLOG_JOBS, seconds=60.0) for _ in range(3)
        )
        _enqueue_jobs(cursor, busy, QUEUED_JOBS)
        long_rate = _measure_rate(cursor, busy, 0, seconds=10.0)
        loaded_seconds = median(_measure_upload_seconds(other) for _ in range(_UPLOADS))
        pending_count = _count_pending_jobs(cursor, busy)
        cursor.execute(_DELETE, {"org": str(busy.id)})
    assert pending_count > 0, "the backlog did not last until the end"
    name = f"jobs with {QUEUED_JOBS:,} queued, and {SMALL_BACKLOG_JOBS}"
    report.add_rates(name, long_rate, short_rate, "", ">= 0.5", long_rate / short_rate >= 0.5)
    name = "upload of another organization meanwhile, until ready"
    report.add_times(name, loaded_seconds, idle_seconds, 2, "idle", digits=0)


def _enqueue_jobs(cursor: Any, org: Org, count: int) -> None:
    values = {"org": str(org.id), "function": _FUNCTION, "count": count}
    cursor.execute(_FILL, values)


def _count_pending_jobs(cursor: Any, org: Org) -> int:
    cursor.execute(_COUNT_PENDING, {"org": str(org.id)})
    return int(cursor.fetchone()[0])


def _measure_rate(cursor: Any, org: Org, count: int, *, seconds: float) -> float:
    """Enqueue `count` jobs, and return the jobs finished per second, over at most `seconds`.

    If `count` is 0, the existing jobs are measured, and they are only counted at the beginning and
    at the end. Counting 50,000 rows repeatedly would take processor time from the workers.
    """
    if count:
        _enqueue_jobs(cursor, org, count)
    before, began = _count_pending_jobs(cursor, org), time.perf_counter()
    if not count:
        time.sleep(seconds)
    while (pending := _count_pending_jobs(cursor, org)) and time.perf_counter() - began < seconds:
        time.sleep(_PAUSE_SECONDS)
    return (before - pending) / (time.perf_counter() - began)


def _measure_upload_seconds(org: Org) -> float:
    """Upload a document, and return the seconds until it is ready."""
    api = org.api("labeler")
    began = time.perf_counter()
    content = BytesIO(f"A document of its own: {uuid4()}".encode())
    response = api.post("/artifacts", data={"file": (content, "bench.txt")})
    artifact_id = response.json["data"]["id"]
    while api.get(f"/artifacts/{artifact_id}").json["data"]["status"] != "ready":
        time.sleep(_PAUSE_SECONDS)
    return time.perf_counter() - began
