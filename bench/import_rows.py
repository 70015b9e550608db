"""Measure imports of texts from JSON Lines. The floor is COPY of the same rows."""

import io
import time
from collections.abc import Sequence
from typing import Any

import orjson

from app.kit.ids import uuid7
from bench.filling import analyze, open_cursor
from bench.jobs_rows import report_memory, wait_for_job
from bench.report import Report
from bench.service import Service
from tests.factories import Org
from tests.factories.labels import make_field
from tests.factories.workspace import Workspace

_MIN_COPY_RATIO = 0.15
_MIN_LABELED_COPY_RATIO = 0.05
"""The goals for the ratio of an import's rate to the rate of COPY. They have not been reached yet
(decision 0048), so the rows have no bounds."""
_MAX_SLOWDOWN = 1.25
_MAX_MEMORY_MB = 250
_TEXT_BYTES = 600
_SAMPLE_SIZE = 1000
"""The number of texts at the beginning and at the end of the import whose rates are compared."""
_TABLES = ("artifacts", "artifact_texts")
_LABELED_TABLES = (*_TABLES, "tag_sets", "tag_set_revisions")
_FIELDS = [make_field(f"part_{number}", "span") for number in range(4)]
_SENTENCE = (
    "the invoice of our vendor lists machine parts which were delivered in time and paid by bank"
    " transfer within thirty days after the order had been confirmed by the purchasing department"
)
_COLUMNS = """
SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns
WHERE table_name = %s AND is_generated = 'NEVER'
"""
_MEAN = """
SELECT avg(seconds) FROM ingestion_items
WHERE organization_id = %s AND number > %s AND number <= %s
"""


def measure(report: Report, service: Service, org: Org, count: int) -> None:
    """Import `count` texts of 600 bytes, and compare the texts per second with COPY."""
    job, memory = _run_import(service, org, _build_file(count))
    assert job["counts"]["created"] == count, job
    ours = count / get_job_seconds(service, org)
    analyze(service)
    floor = count / _time_copy(service, org, _TABLES)
    name = f"import {count:,} texts from JSON Lines"
    report.add_rates(name, ours, floor, "COPY", f"goal {_MIN_COPY_RATIO}", None)
    first, last = (
        _get_mean_seconds(service, org, 0),
        _get_mean_seconds(service, org, count - _SAMPLE_SIZE),
    )
    report.add_at_most(
        "the last thousand texts of the import",
        f"{1 / last:,.0f}/s",
        f"{1 / first:,.0f}/s first",
        last / first,
        _MAX_SLOWDOWN,
    )
    report_memory(report, memory, _MAX_MEMORY_MB)


def measure_labeled(report: Report, service: Service, org: Org, count: int) -> None:
    """Import `count` texts with four tags each, and compare the texts per second with COPY."""
    schema_id = Workspace(org).schema(fields=_FIELDS)
    tags = [
        {"field": f"part_{n}", "evidence": [{"start": 40 * n, "end": 40 * n + 12}]}
        for n in range(4)
    ]
    job, _ = _run_import(service, org, _build_file(count, tags=tags), schema_id=str(schema_id))
    assert job["counts"]["created"] == count, job
    ours = count / get_job_seconds(service, org)
    analyze(service)
    floor = count / _time_copy(service, org, _LABELED_TABLES)
    name = f"import {count:,} texts with four tags each"
    report.add_rates(name, ours, floor, "COPY", f"goal {_MIN_LABELED_COPY_RATIO}", None)


def _build_file(count: int, **properties: Any) -> bytes:
    salt, vocabulary = uuid7().hex, _SENTENCE.split()
    lines = []
    for number in range(count):
        words = [vocabulary[(number * 7 + n * n) % len(vocabulary)] for n in range(110)]
        text = f"{salt} {number} {' '.join(words)}"[:_TEXT_BYTES]
        lines.append(orjson.dumps({"text": text, "metadata": {"lot": number % 10}, **properties}))
    return b"\n".join(lines)


def _run_import(
    service: Service, org: Org, data: bytes, **properties: str
) -> tuple[dict[str, Any], float]:
    """Run an import in a worker; return the job, and the workers' peak memory in MB."""
    api = org.api("labeler")
    form = {"file": (io.BytesIO(data), "texts.jsonl"), **properties}
    response = api.request(
        "POST", "/artifacts/bulk-import", data=form, content_type="multipart/form-data"
    )
    assert response.status_code == 202, response.json
    return wait_for_job(service, api, f"/ingestion-jobs/{response.json['data']['id']}")


def get_job_seconds(service: Service, org: Org) -> float:
    """Return the run time of an organization's only ingestion job, in seconds."""
    with open_cursor(service) as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM finished_at - started_at) FROM ingestion_jobs"
            " WHERE organization_id = %s",
            [str(org.id)],
        )
        return float(cursor.fetchone()[0])


def _get_mean_seconds(service: Service, org: Org, after: int) -> float:
    with open_cursor(service) as cursor:
        cursor.execute(_MEAN, [str(org.id), after, after + _SAMPLE_SIZE])
        return float(cursor.fetchone()[0])


def _time_copy(service: Service, org: Org, tables: Sequence[str]) -> float:
    """Return the seconds that COPY takes to write the imported rows to copies of the tables."""
    seconds = 0.0
    with open_cursor(service) as cursor:
        for table in tables:
            rows = io.BytesIO()
            cursor.execute(_COLUMNS, [table])
            columns = cursor.fetchone()[0]
            query = f"SELECT {columns} FROM {table} WHERE organization_id = '{org.id}'"
            cursor.copy_expert(f"COPY ({query}) TO STDOUT", rows)
            rows.seek(0)
            cursor.execute(f"CREATE TABLE copied_{table} (LIKE {table} INCLUDING ALL)")
            began = time.perf_counter()
            cursor.copy_expert(f"COPY copied_{table} ({columns}) FROM STDIN", rows)
            seconds += time.perf_counter() - began
            cursor.execute(f"DROP TABLE copied_{table}")
    return seconds
