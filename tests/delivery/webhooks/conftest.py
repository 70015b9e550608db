"""Fixtures of webhooks and of a receiver on an address to which deliveries are allowed."""

import base64
import hashlib
import hmac
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import text
from standardwebhooks.webhooks import Webhook as StandardWebhook

from app.delivery.webhooks import jobs as webhook_jobs
from app.delivery.webhooks import recorder
from app.delivery.webhooks.dispatcher import Dispatcher
from app.delivery.webhooks.queries import leases
from app.delivery.webhooks.queries.leases import Attempt, BeginLimit
from app.delivery.webhooks.queries.outcomes import AttemptResult
from app.kit import db, events, tenancy
from app.kit.ids import uuid7
from tests.factories import Org, drain, run_jobs_of
from tests.factories.orgs import get_data
from tests.factories.servers import serve_http

INSIDE = "127.0.0.2"
LIMIT_SECONDS = 60.0
_DUE = """
SELECT 1 FROM webhook_deliveries d
JOIN webhooks w ON (w.organization_id, w.id) = (d.organization_id, d.webhook_id)
WHERE next_attempt_at <= now() AND d.organization_id = :org
  AND (d.test OR w.active AND d.generation = w.generation)
  AND (leased_until IS NULL OR leased_until <= now()) LIMIT 1
"""
_FILL = """
INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_id, event, body, status,
    test, round, attempts_in_round, attempt_count, created_at, updated_at, next_attempt_at)
SELECT :org, gen_random_uuid(), :webhook, gen_random_uuid(), 'artifact.ingested', '{}', :status,
    false, 1, 0, 0, now(), now(), CASE WHEN :status = 'pending' THEN now() END
FROM generate_series(1, :count)
"""
_COUNT = """
SELECT count(*) AS n FROM webhook_deliveries WHERE organization_id = :org
  AND webhook_id = :webhook AND (CAST(:status AS text) IS NULL OR status = :status)
"""


@dataclass(frozen=True)
class Answer:
    """A response of the receiver.

    It is sent after `gate`, if any, is set. Its Content-Length is `missing` bytes too large.
    """

    status: int = 200
    body: bytes = b"thanks"
    headers: tuple[tuple[str, str], ...] = ()
    gate: threading.Event | None = None
    missing: int = 0


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that the receiver got."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """A server that responds with `answers[path]` in turn, repeating the last, or with 200."""

    port: int
    received: list[ReceivedRequest] = field(default_factory=list)
    answers: dict[str, deque[Answer]] = field(default_factory=lambda: defaultdict(deque))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def url(self, path: str) -> str:
        return f"http://{INSIDE}:{self.port}{path}"

    def add_responses(self, path: str, *answers: Answer) -> None:
        self.answers[path].extend(answers)

    def list_requests(self, path: str) -> list[ReceivedRequest]:
        with self.lock:
            return [r for r in self.received if r.path == path]

    def receive(self, request: ReceivedRequest) -> Answer:
        with self.lock:
            self.received.append(request)
            queue = self.answers[request.path]
            if not queue:
                return Answer()
            return queue.popleft() if len(queue) > 1 else queue[0]


def _build_handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = receiver.receive(ReceivedRequest(self.path, dict(self.headers.items()), body))
            if answer.gate is not None:
                answer.gate.wait(LIMIT_SECONDS)
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body) + answer.missing))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Run a receiver for one test."""
    receiver = Receiver(0)
    with serve_http(_build_handler(receiver), INSIDE) as receiver.port:
        yield receiver


@pytest.fixture(scope="session", autouse=True)
def _stop_deliverer(app: Flask) -> Iterator[None]:
    yield
    webhook_jobs.stop(LIMIT_SECONDS)


@dataclass
class Hooks:
    """The webhooks of an organization."""

    org: Org
    receiver: Receiver

    def create(self, path: str = "/hook", **members: Any) -> dict[str, Any]:
        body = {"url": self.receiver.url(path), "events": ["artifact.ingested"], **members}
        return dict(get_data(self.org.api("admin").post("/webhooks", json=body), 201))

    def get(self, webhook: dict[str, Any]) -> dict[str, Any]:
        answer = self.org.api("admin").get(f"/webhooks/{webhook['id']}")
        return dict(answer.json["data"])

    def act(self, webhook: dict[str, Any], action: str, **body: Any) -> Any:
        """Send a request to activate, deactivate or test a webhook, for example."""
        path = f"/webhooks/{webhook['id']}/{action}"
        answer = self.org.api("admin").post(path, json=body or None)
        assert answer.status_code == (202 if action == "test" else 200), answer.text
        return answer.json["data"]

    def redeliver(self, webhook: dict[str, Any], delivery: dict[str, Any]) -> Any:
        """Send a request to redeliver a delivery, and return the delivery."""
        path = f"/webhooks/{webhook['id']}/deliveries/{delivery['id']}/redeliver"
        return get_data(self.org.api("admin").post(path), 202)

    def list_deliveries(self, webhook: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
        path = f"/webhooks/{webhook['id']}/deliveries"
        return list(get_data(self.org.api("admin").get(path, query_string=query)))

    def get_only_delivery(self, webhook: dict[str, Any]) -> dict[str, Any]:
        (delivery,) = self.list_deliveries(webhook)
        return delivery

    def emit(self, count: int = 1, name: str = "artifact.ingested", data: Any = None) -> list[UUID]:
        with self.org.transaction():
            # The document does not exist, so other subscribers have nothing to do.
            payload = {"artifact_id": str(uuid7()), **(data or {})}
            return [events.emit(name, {"n": n, **payload}) for n in range(count)]

    def sql(self, statement: str, **values: Any) -> list[Any]:
        """Run a statement, commit, and return its rows; `:org` is the organization's id."""
        with self.org.transaction():
            result = db.session().execute(text(statement), {"org": self.org.id, **values})
            return list(result) if result.returns_rows else []

    def fan_out(self) -> None:
        """Create the deliveries of the organization's events."""
        run_jobs_of(self.org, "fanout")

    def create_deliveries(self, count: int = 1, name: str = "artifact.ingested") -> None:
        """Emit `count` events, and create their deliveries."""
        self.emit(count, name)
        self.fan_out()

    def insert_deliveries(
        self, webhook: dict[str, Any], count: int, status: str = "pending"
    ) -> None:
        """Insert `count` deliveries of a webhook; pending deliveries are due."""
        self.sql(_FILL, webhook=webhook["id"], count=count, status=status)

    def count_deliveries(self, webhook: dict[str, Any], status: str | None = None) -> int:
        """Count the stored deliveries of a webhook that have `status`, or all if it is None."""
        (row,) = self.sql(_COUNT, webhook=webhook["id"], status=status)
        return int(row.n)

    def begin_attempts(self, number: int = 1_000) -> list[Attempt]:
        """Fan out, and begin up to `number` attempts at each webhook, as a deliverer does."""
        self.fan_out()
        webhooks = self.sql("SELECT id FROM webhooks WHERE organization_id = :org ORDER BY id")
        limits = [BeginLimit(self.org.id, row.id, number) for row in webhooks]
        with self.as_deliverer():
            return leases.begin_attempts(limits, max_attempts=4)

    def begin_only_attempt(self) -> tuple[dict[str, Any], Attempt]:
        """Create a webhook, emit an event, and return the webhook and the attempt that begins."""
        created = self.create()
        self.emit()
        (attempt,) = self.begin_attempts()
        return created, attempt

    def record_results(self, *results: AttemptResult) -> None:
        """Record outcomes, as a deliverer does."""
        with self.as_deliverer():
            assert recorder.write(results) == []

    @contextmanager
    def as_deliverer(self) -> Iterator[None]:
        """Run the block in a transaction that sees all organizations."""
        everything = tenancy.across_organizations(reason="a test is a deliverer")
        with self.org.app.app_context(), everything, db.transaction():
            yield

    def update(self, table: str, assignments: str, condition: str = "true", **values: Any) -> None:
        """Update the organization's rows that meet a condition; `values` are its parameters."""
        where = f"organization_id = :org AND {condition}"
        self.sql(f"UPDATE {table} SET {assignments} WHERE {where}", **values)

    def make_due(self) -> None:
        """Make all pending deliveries of the organization due."""
        due = "next_attempt_at = now() - interval '1 second'"
        self.update("webhook_deliveries", due, "next_attempt_at IS NOT NULL")

    def pause_webhooks(self) -> None:
        """Pause the webhooks, as after a failure."""
        self.update("webhooks", "paused_until = now() + interval '1 hour'")

    def end_pauses(self) -> None:
        """End the pauses of the webhooks."""
        self.update("webhooks", "paused_until = now()", "paused_until > now()")

    def expire_leases(self) -> None:
        """Let the leases of all deliveries expire."""
        expired = "leased_until = now() - interval '1 second'"
        self.update("webhook_deliveries", expired, "leased_until IS NOT NULL")

    def deliver(self) -> None:
        """Deliver until no delivery of the organization is due.

        Deliveries that are due later, leased, or of inactive webhooks remain. The pauses of failing
        webhooks end as soon as there is nothing else to do.
        """
        until = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < until:
            drain(self.org.app)
            if not self.sql(_DUE):
                return
            self.end_pauses()
        raise AssertionError("deliveries were still due after the time limit")

    def deliver_events(self, count: int = 1, **options: Any) -> None:
        """Emit events as `emit` does, and deliver them."""
        self.emit(count, **options)
        self.deliver()

    def retry(self) -> None:
        """Make all retries due, and deliver."""
        self.make_due()
        self.deliver()


@pytest.fixture
def hooks(org: Org, receiver: Receiver) -> Iterator[Hooks]:
    """Return the webhooks of `org`, which deliver to `receiver`."""
    hooks = Hooks(org, receiver)
    yield hooks
    # A later test that delivers until nothing is due would wait for the leases of this test.
    hooks.sql("DELETE FROM webhook_deliveries WHERE organization_id = :org AND status = 'pending'")


def get_error(answer: Any) -> tuple[int, str, str | None]:
    """Return the status of an error, its code and its field."""
    error = answer.json["error"]
    return answer.status_code, error["code"], error.get("field")


@contextmanager
def run_dispatchers(app: Flask, number: int = 1, **options: Any) -> Iterator[list[Dispatcher]]:
    """Run dispatchers for one test, so that a dead thread in them affects no other test."""
    with ExitStack() as stack:
        dispatchers = [Dispatcher(app, **options) for _ in range(number)]
        for dispatcher in dispatchers:
            dispatcher.start()
            stack.callback(dispatcher.stop, 10)
            dispatcher.wake()
        yield dispatchers


def build_verifier(secret: str) -> StandardWebhook:
    """Build the verifier of Standard Webhooks for a signing secret."""
    return StandardWebhook("whsec_" + base64.b64encode(secret.encode()).decode())


def compute_signature(secret: str, body: bytes) -> str:
    """Compute the expected value of `X-Service-Signature`."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def list_own_results(hooks: Hooks, results: Sequence[AttemptResult]) -> list[AttemptResult]:
    """Return only the results of this test, because batches also contain other tests' results."""
    return [result for result in results if result.attempt.organization_id == hooks.org.id]


def fail_two_writes(hooks: Hooks, monkeypatch: pytest.MonkeyPatch, failure: Exception) -> list[int]:
    """Let the first two writes fail. Return a list to which each write adds its result count."""
    write, calls = recorder.write, list[int]()

    def unreliable(results: Sequence[AttemptResult]) -> list[AttemptResult]:
        if own_results := list_own_results(hooks, results):
            calls.append(len(own_results))
            if len(calls) < 3:
                raise failure
        return write(results)

    monkeypatch.setattr(recorder, "write", unreliable)
    return calls
