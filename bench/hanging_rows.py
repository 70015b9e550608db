"""Measure how much hanging webhooks delay the deliveries to healthy webhooks."""

import time
from uuid import uuid4

import requests

from app.kit import db, events, tenancy
from app.kit.events import EventName
from bench.jobs_rows import run_receiver
from bench.report import Report
from tests.factories import Org

HEALTHY_WEBHOOKS, HANGING_WEBHOOKS = 15, 5
_MAX_RATIO = 1.3
_LIMIT_SECONDS = 1_800
_BATCH = 500


def measure(report: Report, healthy_org: Org, hanging_org: Org, count: int) -> None:
    """Compare deliveries of `count` events with and without webhooks that hang."""
    floor = _measure_delivery(healthy_org, count, hanging_count=0)
    seconds = _measure_delivery(hanging_org, count, hanging_count=HANGING_WEBHOOKS)
    name = f"{count:,} events to {HEALTHY_WEBHOOKS} webhooks, {HANGING_WEBHOOKS} others hang"
    report.add_times(name, seconds, floor, _MAX_RATIO, "without", unit="s")


def _measure_delivery(org: Org, count: int, *, hanging_count: int) -> float:
    """Return the seconds from the first event until the last delivery to a healthy webhook."""
    with run_receiver() as url:
        paths = [
            *(f"hook/{n}" for n in range(HEALTHY_WEBHOOKS)),
            *(f"hang/{n}" for n in range(hanging_count)),
        ]
        webhook_ids = []
        for path in paths:
            body = {"url": f"{url}/{path}", "events": ["drift.detected"]}
            response = org.api("admin").post("/webhooks", body)
            assert response.status_code == 201, response.text
            webhook_ids.append(response.json["data"]["id"])
        began = time.perf_counter()
        _emit(org, count)
        _wait_until_received(url, HEALTHY_WEBHOOKS * count)
        seconds = time.perf_counter() - began
        for webhook_id in webhook_ids:
            org.api("admin").delete(f"/webhooks/{webhook_id}")
    return seconds


def _emit(org: Org, count: int) -> None:
    for start in range(0, count, _BATCH):
        payloads = [{"report_id": str(uuid4())} for _ in range(min(_BATCH, count - start))]
        with org.app.app_context(), tenancy.organization(org.id), db.transaction():
            events.emit_many(EventName("drift.detected"), payloads)


def _wait_until_received(url: str, count: int) -> None:
    deadline = time.monotonic() + _LIMIT_SECONDS
    while requests.get(url, timeout=5).json()["count"] < count:
        assert time.monotonic() < deadline, "the deliveries were not completed in time"
        time.sleep(0.1)
