"""Measure exports compared with COPY, and webhook deliveries compared with plain requests."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import requests

from app.kit import db, events, tenancy
from app.kit.events import EventName
from bench.filling import analyze, disable_triggers, open_cursor
from bench.report import Report
from bench.service import DELIVERY_NETWORK, Service
from tests.factories import Org
from tests.factories.labels import make_labeled
from tests.factories.orgs import Api

ADDRESS = DELIVERY_NETWORK.split("/")[0]
_ROUNDS = 5
_POLL_SECONDS = 0.2  # each poll takes processor time from the export
_THREADS = 8
_MAX_MEMORY_MB = 200
_WORKERS = ("worker.py", "app.engines.formats.child")
"""Parts of the command lines of workers, and of processes that write files for workers."""
_EVENT = "drift.detected"
"""An event that only webhooks receive, so that no other handlers are measured."""
_MAX_EXPORT_RATIOS = {"jsonl": 2.5, "csv": 3, "parquet": 3}
"""The measured formats, and the maximum ratio of an export's time to the time of COPY."""
_COPY = """
COPY (
    SELECT json_build_object(
        'tag_set_id', t.id, 'status', t.status,
        'artifact', json_build_object('id', a.id, 'name', a.name, 'external_id', a.external_id,
            'media_type', a.media_type, 'sha256', a.sha256, 'metadata', a.metadata,
            'page_count', a.page_count, 'language', a.language),
        'schema', json_build_object('id', s.id, 'name', s.name, 'version_id', v.id,
            'version', v.number),
        'labeler_id', t.labeler_id, 'reviewer_id', t.reviewer_id,
        'submitted_at', t.submitted_at, 'decided_at', t.decided_at, 'tags', t.tags)
    FROM tag_sets t
    JOIN artifacts a ON a.organization_id = t.organization_id AND a.id = t.artifact_id
    JOIN schemas s ON s.organization_id = t.organization_id AND s.id = t.schema_id
    JOIN schema_versions v
        ON v.organization_id = t.organization_id AND v.id = t.schema_version_id
    WHERE t.organization_id = '{organization_id}' AND t.status = 'accepted'
    ORDER BY t.decided_at, t.id
) TO STDOUT
"""


class _Sink:
    def write(self, data: bytes) -> None:
        """Discard the data."""


def measure_export(report: Report, service: Service, org: Org, count: int) -> None:
    """Measure exports of `count` accepted tag sets of 4 tags, in each of the measured formats."""
    with disable_triggers(service):
        make_labeled(org, count)
    analyze(service)
    peaks = [
        _measure_format(report, service, org, count, format_id) for format_id in _MAX_EXPORT_RATIOS
    ]
    report_memory(report, max(peaks), _MAX_MEMORY_MB)


def _measure_format(
    report: Report, service: Service, org: Org, count: int, format_id: str
) -> float:
    """Alternate exports in one format with COPY; return the workers' peak memory in MB."""
    floors, export_times, peaks = [], [], []
    for _ in range(_ROUNDS):
        floors.append(time_copy(service, _COPY.format(organization_id=org.id)))
        seconds, peak = _run_export(service, org, count, format_id)
        export_times.append(seconds)
        peaks.append(peak)
    name, max_ratio = f"export of {count:,} tag sets to {format_id}", _MAX_EXPORT_RATIOS[format_id]
    ours, floor = median(export_times), median(floors)
    report.add_times(name, ours, floor, max_ratio, "COPY", digits=2, unit="s")
    return max(peaks)


def time_copy(service: Service, statement: str) -> float:
    """Run a COPY TO STDOUT statement, discard its output, and return the time in seconds."""
    with open_cursor(service) as cursor:
        began = time.perf_counter()
        cursor.copy_expert(statement, _Sink())
        return time.perf_counter() - began


def _run_export(service: Service, org: Org, count: int, format_id: str) -> tuple[float, float]:
    """Run one export; return its run time in seconds, and the workers' peak memory in MB."""
    api = org.api("reviewer")
    job = api.post("/exports", {"format": format_id}).json["data"]
    state, peak = wait_for_job(service, api, f"/exports/{job['id']}", pause=_POLL_SECONDS)
    assert state["status"] == "completed", state
    assert state["row_count"] == count, state
    with org.app.app_context(), tenancy.organization(org.id):
        from app.delivery.exports.models import Export  # noqa: PLC0415

        row = db.session().get(Export, (org.id, job["id"]))
        assert row is not None
        assert row.finished_at is not None
        assert row.started_at is not None
        return (row.finished_at - row.started_at).total_seconds(), peak


def wait_for_job(
    service: Service, api: Api, path: str, pause: float = 0.1
) -> tuple[dict[str, Any], float]:
    """Wait for the end of the job at `path`; return it, and the workers' peak memory in MB."""
    peak = 0.0
    while True:
        peak = max(peak, _get_peak_memory(service))
        response = api.get(path)
        assert response.status_code == 200, response.json
        job: dict[str, Any] = response.json["data"]
        if job["finished_at"] is not None:
            return job, peak
        time.sleep(pause)


def _get_peak_memory(service: Service) -> float:
    """Return the largest peak of resident memory among the current workers, in MB."""
    peaks = [0.0]
    for process in psutil.Process(service.process.pid).children(recursive=True):
        # A worker's child lives as long as its job and may end at any of these steps.
        with suppress(psutil.Error, OSError, KeyError):
            if any(name in part for part in process.cmdline() for name in _WORKERS):
                status = Path(f"/proc/{process.pid}/status").read_text()
                lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
                peaks.append(int(lines["VmHWM"].split()[0]) / 1024)
    return max(peaks)


def report_memory(report: Report, megabytes: float, bound: int) -> None:
    """Add a row for the workers' peak memory, which must be below `bound` MB."""
    name = "largest worker's peak memory (RSS) meanwhile"
    report.add_without_floor(name, f"{megabytes:,.0f} MB", f"< {bound} MB", megabytes < bound)


@contextmanager
def run_receiver() -> Iterator[str]:
    """Run `bench.receiver` in a separate process, and yield its URL."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "bench.receiver", ADDRESS, str(port)]
    process = subprocess.Popen(command)
    try:
        url = f"http://{ADDRESS}:{port}"
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                requests.get(url, timeout=1)
                break
            except requests.RequestException:
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait()


def measure_delivery(report: Report, org: Org, count: int) -> None:
    """Measure the rate of `count` deliveries to one local receiver, and of plain requests to it."""
    with run_receiver() as url:
        body = {"url": f"{url}/hook", "events": [_EVENT]}
        response = org.api("admin").post("/webhooks", body)
        assert response.status_code == 201, response.text
        _emit(org, count)
        seconds = _wait_until_received(url, count)
        ours = count / seconds
        floor = count / _measure_plain_requests(url, count)
    met = ours >= 300 and ours / floor >= 0.5
    name = f"deliver {count:,} webhooks, one worker process"
    report.add_rates(name, ours, floor, "requests", ">= 300/s and >= 0.5", met)


def _emit(org: Org, count: int) -> None:
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        for number in range(count):
            events.emit(EventName(_EVENT), {"report_id": str(number), "subject": "model"})


def _wait_until_received(url: str, count: int) -> float:
    while True:
        counted = requests.get(url, timeout=5).json()
        if counted["count"] >= count:
            return float(counted["seconds"])
        time.sleep(0.2)


def _measure_plain_requests(url: str, count: int) -> float:
    """Send `count` requests from threads that have their own sessions; return the seconds."""
    body = b'{"event":"drift.detected","timestamp":"2026-11-21T00:00:00Z","data":{}}'
    headers = {"Content-Type": "application/json"}

    def send_share(_: int) -> None:
        with requests.Session() as session:
            for _n in range(count // _THREADS):
                session.post(f"{url}/floor", data=body, headers=headers, timeout=10)

    began = time.perf_counter()
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(send_share, range(_THREADS)))
    return time.perf_counter() - began
