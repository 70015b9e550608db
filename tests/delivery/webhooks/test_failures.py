"""What becomes of deliveries that fail: retries, giving up, deactivation, and notifications."""

import threading
import time
from collections import Counter
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

from app.delivery.webhooks import quotas, sending
from app.delivery.webhooks.queries.leases import Attempt
from app.delivery.webhooks.queries.outcomes import AttemptResult
from app.kit import container
from app.kit.egress import Egress, Policy
from tests.delivery.webhooks.conftest import LIMIT_SECONDS, Answer, run_dispatchers
from tests.factories.waiting import wait_until

BROKEN = Answer(500, b"out of order")
DELAYS = (30, 120, 300)


def _deliver_one(hooks: Any, webhook: dict[str, Any]) -> dict[str, Any]:
    """Emit an event, deliver it, and return its only delivery."""
    hooks.deliver_events()
    return dict(hooks.get_only_delivery(webhook))


def test_retries_follow_the_failure_before_and_end_after_four(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", BROKEN)
    hooks.emit()
    for number, delay in enumerate(DELAYS, start=1):
        hooks.retry()
        delivery = hooks.get_only_delivery(created)
        assert (delivery["status"], len(delivery["attempts"])) == ("pending", number)
        due = datetime.fromisoformat(delivery["next_attempt_at"])
        failed = datetime.fromisoformat(delivery["updated_at"])
        assert abs(due - failed - timedelta(seconds=delay)) < timedelta(seconds=1)
        hooks.deliver()
        assert len(hooks.receiver.received) == number, "nothing is sent before its time"
    hooks.retry()
    delivery = hooks.get_only_delivery(created)
    assert (delivery["status"], delivery["next_attempt_at"]) == ("abandoned", None)
    assert [a["number"] for a in delivery["attempts"]] == [1, 2, 3, 4]
    assert {a["status_code"] for a in delivery["attempts"]} == {500}
    assert {a["response_excerpt"] for a in delivery["attempts"]} == {"out of order"}
    hooks.retry()
    requests = hooks.receiver.received
    assert [r.headers["X-Service-Attempt"] for r in requests] == ["1", "2", "3", "4"]
    assert len({r.body for r in requests}) == 1
    assert len({r.headers["X-Service-Delivery"] for r in requests}) == 1
    assert hooks.get(created)["consecutive_failures"] == 4


def test_a_success_ends_the_retries_and_the_count(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", BROKEN, BROKEN, Answer(204, b""))
    hooks.emit()
    for _ in range(3):
        hooks.retry()
    delivery = hooks.get_only_delivery(created)
    assert delivery["status"] == "delivered"
    assert [a["status_code"] for a in delivery["attempts"]] == [500, 500, 204]
    assert delivery["attempts"][2]["response_excerpt"] is None
    webhook = hooks.get(created)
    assert (webhook["consecutive_failures"], webhook["last_status_code"]) == (0, 204)


def test_every_2xx_is_a_success(hooks: Any) -> None:
    statuses = [200, 201, 202, 203, 204, 205, 206, 208, 226, 250, 299]
    created = hooks.create()
    hooks.receiver.add_responses("/hook", *(Answer(status, b"") for status in statuses))
    hooks.deliver_events(len(statuses))
    delivered = hooks.list_deliveries(created, status="delivered")
    status_codes = [attempt["status_code"] for d in delivered for attempt in d["attempts"]]
    assert sorted(status_codes) == statuses
    assert len(hooks.receiver.received) == len(statuses)


def test_a_success_whose_body_never_comes_is_one(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", Answer(202, b"half", missing=1000))
    delivery = _deliver_one(hooks, created)
    assert delivery["status"] == "delivered"
    (attempt,) = delivery["attempts"]
    assert (attempt["status_code"], attempt["error"]) == (202, None)
    assert len(hooks.receiver.received) == 1


def test_webhooks_that_hang_are_all_deactivated_and_hold_up_nobody(
    app: Flask, hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few threads are left to those that are slow, each has its ten attempts."""
    monkeypatch.setattr(quotas, "SLOW_SECONDS", 0.02)
    hanging = [hooks.create(f"/hangs/{n}") for n in range(30)]
    quick = hooks.create("/quick")
    requests: Counter[str] = Counter()
    lock = threading.Lock()

    def send(attempt: Attempt) -> AttemptResult:
        # What earlier tests left may be due again, and is sent here too.
        path = urlsplit(attempt.url).path if attempt.organization_id == hooks.org.id else "/other"
        with lock:
            requests[path] += 1
        if path == "/quick":
            return AttemptResult(attempt, ok=True, duration_ms=1)
        time.sleep(0.05)
        return AttemptResult(attempt, ok=False, duration_ms=50)

    hooks.create_deliveries(12)
    with run_dispatchers(app, thread_count=32, send=send) as (dispatcher,):

        def all_end() -> bool:
            hooks.end_pauses()
            dispatcher.wake()
            active = "SELECT count(*) AS n FROM webhooks WHERE organization_id = :org AND active"
            return bool(hooks.sql(active)[0].n == 1)

        wait_until(lambda: hooks.count_deliveries(quick, "delivered") == 12)
        wait_until(all_end)
    assert requests.pop("/quick") == 12
    requests.pop("/other", None)
    assert set(requests.values()) == {10}
    for webhook in hanging:
        assert hooks.get(webhook)["consecutive_failures"] == 10
        assert hooks.count_deliveries(webhook, "abandoned") == 12


def test_what_was_abandoned_can_be_redelivered(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", *[BROKEN] * 4, Answer())
    hooks.emit()
    for _ in range(4):
        hooks.retry()
    delivery = hooks.get_only_delivery(created)
    assert delivery["status"] == "abandoned"
    hooks.redeliver(created, delivery)
    hooks.deliver()
    delivery = hooks.get_only_delivery(created)
    assert (delivery["status"], delivery["round"]) == ("delivered", 2)
    assert [a["number"] for a in delivery["attempts"]] == [1, 2, 3, 4, 5]


def test_a_redelivery_is_a_round_of_attempts_of_its_own(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", BROKEN)
    # The delivery waits for a retry, but can be sent again at once.
    hooks.redeliver(created, _deliver_one(hooks, created))
    for _ in range(5):
        hooks.retry()
    delivery = hooks.get_only_delivery(created)
    assert (delivery["status"], len(delivery["attempts"])) == ("abandoned", 5)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_a_failure_and_is_not_followed(hooks: Any, status: int) -> None:
    created = hooks.create()
    location = (("Location", hooks.receiver.url("/elsewhere")),)
    hooks.receiver.add_responses("/hook", Answer(status, b"", location))
    attempt = _deliver_one(hooks, created)["attempts"][0]
    assert hooks.receiver.list_requests("/elsewhere") == []
    assert attempt["status_code"] == status
    assert "redirect" in attempt["error"]
    assert hooks.get(created)["consecutive_failures"] == 1


def test_an_address_is_judged_anew_at_every_attempt(
    hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = hooks.create()
    shut = Egress(Policy(allowed_networks=(), allow_http=True))
    with monkeypatch.context() as patch:
        patch.setattr(container.current(), "egress", shut)
        delivery = _deliver_one(hooks, created)
    assert hooks.receiver.received == []
    attempt = delivery["attempts"][0]
    assert (delivery["status"], attempt["status_code"]) == ("pending", None)
    assert attempt["error_kind"] == "refused_address"
    assert "127.0.0.2" not in attempt["error"]
    hooks.retry()
    assert hooks.get_only_delivery(created)["status"] == "delivered"


def test_a_receiver_that_is_not_there(hooks: Any) -> None:
    created = hooks.create(url="http://127.0.0.2:9/nobody")
    attempt = _deliver_one(hooks, created)["attempts"][0]
    assert (attempt["status_code"], attempt["error_kind"]) == (None, "connect")
    assert attempt["error"]
    assert hooks.get(created)["last_status_code"] is None


def test_a_receiver_that_takes_too_long(hooks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "DEADLINE_SECONDS", 0.3)
    gate = threading.Event()
    created = hooks.create()
    hooks.receiver.add_responses("/hook", Answer(gate=gate))
    started = time.monotonic()
    attempt = _deliver_one(hooks, created)["attempts"][0]
    assert time.monotonic() - started < LIMIT_SECONDS / 2
    gate.set()
    assert (attempt["status_code"], attempt["error_kind"]) == (None, "timeout")
    assert 300 <= attempt["duration_ms"] < LIMIT_SECONDS * 500


def test_hostile_answers_are_kept_as_text(hooks: Any) -> None:
    created = hooks.create()
    body = b"a\x00b\xff\xfe" + "\u202e".encode() + b"x" * 20_000
    hooks.receiver.add_responses("/hook", Answer(500, body))
    excerpt = _deliver_one(hooks, created)["attempts"][0]["response_excerpt"]
    assert excerpt.startswith("a\ufffdb\ufffd\ufffd\u202ex")
    assert len(excerpt) == 1000


def test_a_slow_receiver_holds_up_nobody(app: Flask, hooks: Any) -> None:
    gate = threading.Event()
    slow, quick = hooks.create("/slow"), hooks.create("/quick")
    hooks.receiver.add_responses("/slow", Answer(gate=gate))
    hooks.create_deliveries(60)

    def is_slow_delivered() -> bool:
        # On a slow machine, the first two requests have timed out, and the webhook is paused. The
        # dispatcher skips deliveries that are being updated, and is not woken for them again.
        hooks.end_pauses()
        hooks.make_due()
        dispatcher.wake()
        return len(hooks.list_deliveries(slow, status="delivered")) == 60

    with run_dispatchers(app, thread_count=32) as (dispatcher,):
        try:
            wait_until(lambda: len(hooks.receiver.list_requests("/slow")) == 2)
            wait_until(lambda: len(hooks.list_deliveries(quick, status="delivered")) == 60)
            assert len(hooks.receiver.list_requests("/slow")) == 2
            assert hooks.list_deliveries(slow, status="delivered") == []
            assert hooks.org.api("admin").get(f"/webhooks/{slow['id']}").status_code == 200
            gate.set()
            wait_until(is_slow_delivered)
        finally:
            gate.set()
