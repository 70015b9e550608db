"""Measure crawling an unchanged bucket. The floor is a plain listing of the same objects."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any
from uuid import UUID

import boto3

from app.engines.sources.model import SourceObject
from app.intake.connectors.queries import objects
from app.intake.connectors.service.opening import SourceTarget, open_source
from app.kit import db, tenancy
from bench.filling import analyze
from bench.import_rows import get_job_seconds
from bench.jobs_rows import report_memory, wait_for_job
from bench.report import Report
from bench.s3_server import BUCKET, CREDENTIALS
from bench.service import Service, find_free_port
from tests.factories import Org

_MAX_RATIO = 2.0
_MAX_MEMORY_MB = 250
_BATCH = 1000


def measure(report: Report, service: Service, org: Org, count: int) -> None:
    """Crawl `count` unchanged objects, and compare the time with a listing by boto3."""
    with _run_server(count) as url:
        connector_id = _create_connector(service, org, url, count)
        floor = _time_listing(url, count)
        job, memory = _run_crawl(service, org, connector_id)
    assert job["counts"]["skipped"] == count, job
    ours = get_job_seconds(service, org)
    name = f"crawl {count:,} unchanged objects of S3"
    report.add_times(name, ours, floor, _MAX_RATIO, "listing", unit="s")
    report_memory(report, memory, _MAX_MEMORY_MB)


@contextmanager
def _run_server(count: int) -> Iterator[str]:
    port = find_free_port()
    command = [sys.executable, "-m", "bench.s3_server", str(port), str(count)]
    pipe, devnull = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=devnull) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield f"http://127.0.0.1:{port}"
        process.kill()


def _create_connector(service: Service, org: Org, url: str, count: int) -> str:
    """Create a connector, store the versions of all objects, and return the connector's id."""
    settings = {"bucket": BUCKET, "endpoint_url": url, **CREDENTIALS}
    body = {"name": "Bucket", "type": "s3", "settings": settings}
    response = org.api("admin").post("/connectors", json=body)
    assert response.status_code == 201, response.json
    connector_id: str = response.json["data"]["id"]
    saved_count = 0
    with org.app.app_context(), tenancy.organization(org.id):
        source = open_source(SourceTarget("s3", settings, None))
        listed = (item for item in source.list_objects() if isinstance(item, SourceObject))
        while page := {item.path: item.version for item in islice(listed, _BATCH)}:
            with db.transaction():
                objects.save(UUID(connector_id), page)
            saved_count += len(page)
    source.close()
    assert saved_count == count
    analyze(service)
    return connector_id


def _time_listing(url: str, count: int) -> float:
    client = boto3.client(
        "s3",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id=CREDENTIALS["access_key_id"],
        aws_secret_access_key=CREDENTIALS["secret_access_key"],
    )
    began = time.perf_counter()
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
    listed_count = sum(len(page["Contents"]) for page in pages)
    seconds = time.perf_counter() - began
    assert listed_count == count
    return seconds


def _run_crawl(service: Service, org: Org, connector_id: str) -> tuple[dict[str, Any], float]:
    """Run a crawl in a worker; return the job, and the workers' peak memory in MB."""
    api = org.api("admin")
    response = api.post(f"/connectors/{connector_id}/crawl")
    assert response.status_code == 202, response.json
    return wait_for_job(service, api, f"/ingestion-jobs/{response.json['data']['id']}")
