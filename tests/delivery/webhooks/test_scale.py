"""Many webhooks of one organization, of which some are dead, slow, or never stop responding."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from flask import Flask

from app.delivery.webhooks.dispatcher import Dispatcher
from tests.delivery.webhooks.conftest import INSIDE, LIMIT_SECONDS
from tests.factories.servers import serve_http
from tests.factories.waiting import wait_until

WEBHOOKS = 1_000
DEAD, SLOW, ENDLESS = 30, 30, 1
HEALTHY = WEBHOOKS - DEAD - SLOW - ENDLESS
_COPY = """
INSERT INTO webhooks (organization_id, id, url, events, description, active, consecutive_failures,
                      secret, created_at, updated_at, revision)
SELECT organization_id, gen_random_uuid(), :base || n, events, '', true, 0, secret, created_at,
       updated_at, 1
FROM webhooks, generate_series(1, :count) AS n WHERE id = :id
"""
# Some of their requests may have taken more than ten seconds.
_RETRY_SLOW = """
UPDATE webhook_deliveries d SET next_attempt_at = now() FROM webhooks w
WHERE (w.organization_id, w.id) = (d.organization_id, d.webhook_id) AND w.url LIKE '%/slow/%'
  AND d.organization_id = :org AND d.status = 'pending' AND d.leased_until IS NULL
"""
_COUNT = """
SELECT split_part(w.url, '/', 4) AS name, d.status, count(*) AS n
FROM webhook_deliveries d
JOIN webhooks w ON (w.organization_id, w.id) = (d.organization_id, d.webhook_id)
WHERE d.organization_id = :org GROUP BY 1, 2
"""
_ENDLESS = """
SELECT a.status_code, a.error, count(*) AS attempts
FROM webhook_attempts a
JOIN webhook_deliveries d ON (d.organization_id, d.id) = (a.organization_id, a.delivery_id)
JOIN webhooks w ON (w.organization_id, w.id) = (d.organization_id, d.webhook_id)
WHERE d.organization_id = :org AND w.url LIKE '%/endless/%' GROUP BY 1, 2
"""


@dataclass
class Site:
    """A receiver; `gate` releases slow requests, `open_responses` are those that do not end."""

    port: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    slow: Counter[str] = field(default_factory=Counter)
    gate: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


@pytest.fixture
def site() -> Iterator[Site]:
    """Run a receiver with paths for each behaviour."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.startswith("/slow"):
                with site.lock:
                    site.slow[self.path] += 1
                site.gate.wait(LIMIT_SECONDS)
            elif not self.path.startswith("/endless"):
                with site.lock:
                    site.seen[self.path] += 1
            self.send_response(200)
            if self.path.startswith("/endless"):
                self.send_endlessly()
                return
            self.send_header("Content-Length", "0")
            self.end_headers()

        def send_endlessly(self) -> None:
            self.end_headers()
            try:
                while not site.gate.is_set():
                    self.wfile.write(b"x" * 64)
                    site.gate.wait(0.01)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    with serve_http(Handler, INSIDE) as site.port:
        try:
            yield site
        finally:
            site.gate.set()


@pytest.fixture
def wake(app: Flask) -> Iterator[Callable[[], None]]:
    """Return a function that wakes a dispatcher, as the relay does all the time."""
    dispatcher = Dispatcher(app)
    dispatcher.start()
    try:
        yield dispatcher.wake
    finally:
        dispatcher.stop(LIMIT_SECONDS)


def test_the_healthy_get_their_events_while_others_hang(
    hooks: Any, site: Site, wake: Callable[[], None]
) -> None:
    base = f"http://{INSIDE}:{site.port}"
    bases = {
        f"{base}/healthy/": HEALTHY,
        f"{base}/slow/": SLOW,
        f"{base}/endless/": ENDLESS,
        f"http://{INSIDE}:9/dead/": DEAD,
    }
    template = hooks.create()
    for prefix, count in bases.items():
        hooks.sql(_COPY, base=prefix, count=count, id=template["id"])
    hooks.org.api("admin").delete(f"/webhooks/{template['id']}")
    hooks.create_deliveries(2)

    def is_true(condition: Callable[[], bool]) -> bool:
        wake()
        return condition()

    # The slow ones hold their requests until the healthy ones have everything.
    wait_until(
        lambda: is_true(lambda: site.seen.total() >= 2 * HEALTHY), "the healthy webhooks' events"
    )
    assert set(site.seen.values()) == {2}
    assert len(site.seen) == HEALTHY
    assert site.slow, "requests to slow webhooks were under way"
    site.gate.set()
    expected = {
        ("healthy", "delivered"): 2 * HEALTHY,
        ("slow", "delivered"): 2 * SLOW,
        ("endless", "delivered"): 2 * ENDLESS,
        ("dead", "pending"): 2 * DEAD,
    }

    def have_arrived() -> bool:
        hooks.sql(_RETRY_SLOW)
        return _count(hooks) == expected

    wait_until(lambda: is_true(have_arrived), "the slow webhooks' events")
    (endless,) = hooks.sql(_ENDLESS)
    assert (endless.status_code, endless.error) == (200, None)
    assert endless.attempts == 2 * ENDLESS


def _count(hooks: Any) -> dict[tuple[str, str], int]:
    rows = hooks.sql(_COUNT)
    return {(row.name, row.status): row.n for row in rows}
