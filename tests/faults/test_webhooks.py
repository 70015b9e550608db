"""Check webhook deliveries with slow receivers, retries and a suspended deliverer."""

import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Any
from uuid import uuid4

import psutil
import pytest

from tests.factories.servers import QuietHandler, serve_receiver
from tests.factories.waiting import wait_until
from tests.faults.conftest import ADDRESS, ROOT, Receiver, Service
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

SLOW_WEBHOOKS = 64
SLOW_SECONDS = 9.9
BACKLOG = 10_000
ROUNDS = 7
SLACK_SECONDS = 1.0
"""The tolerance for other programs that use the same cores."""
LATE_SECONDS = 2.0
_FILL = """
INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_id, event, body, status,
    test, round, attempts_in_round, attempt_count, created_at, updated_at, next_attempt_at)
SELECT :org, gen_random_uuid(), w.id, gen_random_uuid(), 'artifact.ingested', '{"data": {}}',
    'pending', false, 1, 0, 0, now(), now(), now()
FROM webhooks w, generate_series(1, :each) WHERE w.organization_id = :org
"""
_COUNT_PENDING = """
SELECT count(*) FROM webhook_deliveries WHERE organization_id = :org AND status = 'pending'
"""
_DELIVERER = """
from threading import Event
from app.factory import create_app
from app.kit.jobs import handlers, processes
processes._run_source(create_app(with_api=False), Event(), source=handlers.SOURCES[0])
"""


@dataclass
class SlowReceiver:
    """A receiver that responds with `status` after `seconds`, or immediately if `gate` is set."""

    status: int = 204
    seconds: float = 0.0
    url: str = ""
    gate: threading.Event = field(default_factory=threading.Event)
    arrived: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def run_slow_receiver(receiver: SlowReceiver) -> Iterator[SlowReceiver]:
    """Run the server of a receiver during the block."""

    def receive(request: QuietHandler) -> int:
        request.read_body()
        with receiver.lock:
            receiver.arrived[request.headers["X-Service-Delivery"]] += 1
        if receiver.seconds:
            receiver.gate.wait(receiver.seconds)
        return receiver.status

    with serve_receiver(receive, ADDRESS) as receiver.url:
        try:
            yield receiver
        finally:
            receiver.gate.set()


def _measure_delivery_seconds(service: Service, receiver: Receiver) -> float:
    """Return the seconds from the creation of a document to the delivery of its event."""
    began = time.monotonic()
    identifier = service.write(f"A document of its own: {uuid4()}")
    assert identifier is not None
    wait_until(lambda: identifier in receiver.artifacts, "the delivery")
    return time.monotonic() - began


def _create_webhook(test_site: Site, url: str) -> str:
    body = {"url": url, "events": ["artifact.ingested"]}
    return str(test_site.call("POST", "/webhooks", json=body)["id"])


def test_slow_receivers_do_not_delay_other_organizations(
    test_site: Site, shared_service: Service, receiver: Receiver
) -> None:
    with run_slow_receiver(SlowReceiver(seconds=SLOW_SECONDS)) as slow:
        for number in range(SLOW_WEBHOOKS):
            _create_webhook(test_site, f"{slow.url}/{number}")
        shared_service.headers["X-Org-Slug"] = "demo"
        shared_service.create_webhook(receiver)
        for _ in range(2):
            _measure_delivery_seconds(shared_service, receiver)
        idle = median(_measure_delivery_seconds(shared_service, receiver) for _ in range(ROUNDS))
        test_site.sql(_FILL, each=BACKLOG // SLOW_WEBHOOKS)
        wait_until(lambda: len(slow.arrived) >= SLOW_WEBHOOKS, "every slow webhook to be busy")
        loaded = median(_measure_delivery_seconds(shared_service, receiver) for _ in range(ROUNDS))
        pending_count = test_site.get_value(_COUNT_PENDING)
        test_site.sql("DELETE FROM webhooks WHERE organization_id = :org")
    assert pending_count > BACKLOG * 0.9, "the backlog lasted until the end"
    assert loaded <= 2 * idle + SLACK_SECONDS, f"{idle:.2f} s, and {loaded:.2f} s with a backlog"


def test_retries_are_punctual_while_their_webhook_is_paused(test_site: Site) -> None:
    """Check that the pauses of a webhook, which grow to 16 s, apply only to first attempts.

    Two deliveries fail eight times in a row.
    """
    with run_slow_receiver(SlowReceiver(status=503)) as failing:
        webhook = _create_webhook(test_site, f"{failing.url}/hook")
        delays = (1, 2, 3)
        for number in range(2):
            test_site.call(
                "POST", "/artifacts", json={"name": "one.txt", "text": f"number {number}"}
            )
        path = f"/webhooks/{webhook}/deliveries"

        def are_abandoned() -> bool:
            deliveries = test_site.call("GET", path)
            return [delivery["status"] for delivery in deliveries] == ["abandoned"] * 2

        wait_until(are_abandoned, "the fourth failures")
        for delivery in test_site.call("GET", path):
            ends = [_get_end(attempt) for attempt in delivery["attempts"]]
            begins = [datetime.fromisoformat(attempt["at"]) for attempt in delivery["attempts"]]
            for end, begin, delay in zip(ends, begins[1:], delays, strict=False):
                late = (begin - end).total_seconds() - delay
                assert -0.1 <= late <= LATE_SECONDS + SLACK_SECONDS, delivery["attempts"]
        webhook_data = test_site.call("GET", f"/webhooks/{webhook}")
        assert (webhook_data["active"], webhook_data["consecutive_failures"]) == (True, 8)


def _get_end(attempt: dict[str, Any]) -> datetime:
    began = datetime.fromisoformat(attempt["at"])
    return began + timedelta(milliseconds=attempt["duration_ms"])


def test_a_suspended_deliverer_does_not_repeat_deliveries_of_another_deliverer(
    test_site: Site, shared_service: Service, receiver: Receiver
) -> None:
    with run_slow_receiver(SlowReceiver(seconds=60)) as hanging:
        webhook = _create_webhook(test_site, f"{hanging.url}/hook")
        for number in range(30):
            test_site.call("POST", "/artifacts", json={"name": "one.txt", "text": f"no. {number}"})
        wait_until(
            lambda: test_site.get_value(_COUNT_PENDING) >= 30 and len(hanging.arrived) >= 2,
            "attempts in progress",
        )
        suspended = _find_connected_process(shared_service, hanging.url)
        suspended.suspend()
        pending_ids = set(hanging.arrived)
        hanging.gate.set()
        with _run_second_deliverer(shared_service):
            shared_service.headers["X-Org-Slug"] = "demo"
            shared_service.create_webhook(receiver)
            _measure_delivery_seconds(shared_service, receiver)
            assert test_site.get_value(_COUNT_PENDING) > 0, "the leases must not have expired yet"
            shared_service.headers["X-Org-Slug"] = test_site.slug
            wait_until(
                lambda: test_site.get_value(_COUNT_PENDING) == 0, "the other deliverer to take over"
            )
            suspended.resume()
        # It is the only deliverer again, so a new delivery shows that it has continued.
        test_site.call("POST", "/artifacts", json={"name": "one.txt", "text": "the last"})
        wait_until(
            lambda: len(hanging.arrived) == 31 and test_site.get_value(_COUNT_PENDING) == 0,
            "the last delivery",
        )
        assert all(hanging.arrived[delivery] == 2 for delivery in pending_ids)
        arrivals = hanging.arrived.items()
        assert {count for delivery, count in arrivals if delivery not in pending_ids} == {1}
        _check_attempts(test_site, webhook, pending_ids)


def _check_attempts(test_site: Site, webhook: str, pending_ids: set[str]) -> None:
    """Check that attempts of the suspended deliverer were taken over, and their results refused."""
    for delivery in test_site.call("GET", f"/webhooks/{webhook}/deliveries?page_size=100"):
        assert delivery["status"] == "delivered"
        kinds = [attempt["error_kind"] for attempt in delivery["attempts"]]
        if delivery["id"] in pending_ids:
            # The result of the first attempt is recorded even if it came too late.
            assert kinds in (["interrupted", None], [None, None])
        assert delivery["attempts"][-1]["status_code"] == 204
    assert test_site.call("GET", f"/webhooks/{webhook}")["consecutive_failures"] == 0


def _find_connected_process(service: Service, url: str) -> psutil.Process:
    """Return the process that has connections to a receiver."""
    workers = service.processes("worker.py")
    (connected,) = [worker for worker in workers if _is_connected(worker, url)]
    return connected


def _is_connected(process: psutil.Process, url: str) -> bool:
    port = int(url.rpartition(":")[2])
    return any(
        connection.raddr and connection.raddr.port == port
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_ESTABLISHED
    )


@contextmanager
def _run_second_deliverer(service: Service) -> Iterator[None]:
    """Run a second deliverer, as a second machine does."""
    (worker, *_) = service.processes("worker.py")
    process = subprocess.Popen(
        [sys.executable, "-c", _DELIVERER], cwd=ROOT, env=worker.environ(), start_new_session=True
    )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
