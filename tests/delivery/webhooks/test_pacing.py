"""A receiver that is away for a while: how it is tried, and that nothing is lost over it."""

from collections import Counter
from datetime import timedelta
from typing import Any

from flask import Flask

from app.delivery.webhooks.queries.leases import Attempt
from app.delivery.webhooks.queries.outcomes import AttemptResult
from app.delivery.webhooks.queries.pacing import DEACTIVATE_AT
from app.delivery.webhooks.recorder import compute_pause
from tests.delivery.webhooks.conftest import Answer, run_dispatchers

AWAY = Answer(503, b"starting")


def _fail(hooks: Any, attempts: list[Attempt]) -> None:
    """Record that attempts failed."""
    hooks.record_results(*[AttemptResult(attempt, ok=False) for attempt in attempts])


def _get_pacing(hooks: Any) -> Any:
    (row,) = hooks.sql(
        "SELECT consecutive_failures AS failures, paused_until - last_triggered_at AS pause"
        " FROM webhooks WHERE organization_id = :org"
    )
    return row


def _count_begun_deliveries(hooks: Any) -> int:
    sql = "SELECT count(*) AS n FROM webhook_deliveries WHERE organization_id = :org"
    return int(hooks.sql(sql + " AND (leased_until > now() OR attempt_count > 0)")[0].n)


def test_a_receiver_that_restarts_loses_nothing(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", *[AWAY] * 6, Answer())
    hooks.deliver_events(200)
    waiting = hooks.list_deliveries(created, status="pending")
    assert len(waiting) == 6, "those that failed wait for their retries"
    assert {len(delivery["attempts"]) for delivery in waiting} == {1}
    assert len(hooks.list_deliveries(created, status="delivered", page_size=1000)) == 194
    hooks.make_due()
    hooks.deliver()
    deliveries = hooks.list_deliveries(created, page_size=1000)
    assert Counter(delivery["status"] for delivery in deliveries) == {"delivered": 200}
    responses = Counter(tuple(a["status_code"] for a in d["attempts"]) for d in deliveries)
    assert responses == {(200,): 194, (503, 200): 6}
    webhook = hooks.get(created)
    assert (webhook["active"], webhook["consecutive_failures"]) == (True, 0)


def test_a_quick_receiver_that_dies_gets_exactly_ten_more(hooks: Any) -> None:
    created = hooks.create()
    hooks.deliver_events(20)
    hooks.receiver.add_responses("/hook", AWAY)
    hooks.deliver_events(200)
    webhook = hooks.get(created)
    assert (webhook["active"], webhook["consecutive_failures"]) == (False, DEACTIVATE_AT)
    assert len(hooks.receiver.received) == 20 + DEACTIVATE_AT
    assert len(hooks.list_deliveries(created, status="abandoned", page_size=1000)) == 200


def test_pauses_grow_with_the_failures_and_take_a_minute(hooks: Any) -> None:
    hooks.create()
    hooks.emit(30)
    _fail(hooks, hooks.begin_attempts(1))
    for failures in range(1, DEACTIVATE_AT):
        pacing = _get_pacing(hooks)
        assert pacing.failures == failures
        expected = timedelta(seconds=compute_pause(failures))
        assert expected <= pacing.pause < expected + timedelta(milliseconds=50)
        hooks.pause_webhooks()
        assert hooks.begin_attempts() == [], "while it is paused"
        hooks.end_pauses()
        begun = hooks.begin_attempts()
        assert len(begun) == 1
        assert hooks.begin_attempts() == [], "one at a time"
        _fail(hooks, begun)
    assert _get_pacing(hooks) == (DEACTIVATE_AT, None)
    pauses = [compute_pause(failures) for failures in range(1, DEACTIVATE_AT)]
    assert pauses == sorted(pauses)
    assert 40 <= sum(pauses) <= 70


def test_a_success_ends_the_pause(hooks: Any) -> None:
    hooks.create()
    hooks.receiver.add_responses("/hook", AWAY, Answer())
    hooks.deliver_events()
    assert _get_pacing(hooks).failures == 1
    hooks.make_due()
    hooks.deliver()
    assert _get_pacing(hooks) == (0, None)


def test_a_pause_moves_no_retry(hooks: Any) -> None:
    """Retries are due 30 seconds after the failure, whatever the webhook's own pause."""
    hooks.create()
    hooks.receiver.add_responses("/hook", *[AWAY] * 4, Answer())
    hooks.deliver_events(12)
    delays = hooks.sql(
        "SELECT next_attempt_at - updated_at AS delay FROM webhook_deliveries"
        " WHERE organization_id = :org AND status = 'pending'"
    )
    assert len(delays) == 4
    for row in delays:
        assert abs(row.delay - timedelta(seconds=30)) < timedelta(seconds=1)


def test_a_retry_does_not_wait_for_the_pause(hooks: Any, work: Any) -> None:
    """Its time is that of its own delivery. First attempts wait."""
    created = hooks.create()
    hooks.receiver.add_responses("/hook", *[AWAY] * 4, Answer())
    hooks.deliver_events()
    hooks.create_deliveries(5)
    for number in (2, 3, 4):
        hooks.pause_webhooks()
        hooks.update("webhook_deliveries", "next_attempt_at = now()", "attempts_in_round > 0")
        work()
        assert len(hooks.receiver.received) == number
    (delivery,) = hooks.list_deliveries(created, status="abandoned")
    assert len(delivery["attempts"]) == 4
    assert len(hooks.list_deliveries(created, status="pending")) == 5


def test_nothing_new_begins_while_a_webhook_is_paused(app: Flask, hooks: Any) -> None:
    """Another deliverer saw the failure; this one was about to send."""
    hooks.create()
    hooks.create_deliveries(40)
    hooks.pause_webhooks()
    with run_dispatchers(app) as (dispatcher,):
        assert dispatcher.wait_until_idle(30)
    assert hooks.receiver.received == []
    assert _count_begun_deliveries(hooks) == 0, "and it cost no attempt"
    assert hooks.begin_attempts() == []
    hooks.end_pauses()
    assert len(hooks.begin_attempts()) == 40


def test_several_deliverers_stop_at_the_first_failures(app: Flask, hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", AWAY)
    hooks.create_deliveries(60)
    with run_dispatchers(app, 3) as dispatchers:
        assert all(dispatcher.wait_until_idle(30) for dispatcher in dispatchers)
    sent = len(hooks.receiver.received)
    assert 1 <= sent <= 6, "two that each had under way"
    webhook = hooks.get(created)
    assert (webhook["active"], webhook["consecutive_failures"]) == (True, sent)
    assert len(hooks.list_deliveries(created, status="pending")) == 60
    assert _count_begun_deliveries(hooks) == sent


def test_a_deliverer_that_dies_while_it_tries_costs_one_attempt(hooks: Any) -> None:
    created = hooks.create()
    hooks.emit(20)
    hooks.update("webhooks", "consecutive_failures = 3")
    assert len(hooks.begin_attempts()) == 1
    assert hooks.begin_attempts() == [], "it may still be under way"
    hooks.expire_leases()
    hooks.deliver()
    deliveries = hooks.list_deliveries(created)
    assert {delivery["status"] for delivery in deliveries} == {"delivered"}
    kinds = [tuple(a["error_kind"] for a in d["attempts"]) for d in deliveries]
    assert Counter(kinds) == {(None,): 19, ("interrupted", None): 1}


def test_test_deliveries_ignore_the_pause(hooks: Any, work: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", AWAY, Answer())
    hooks.emit(3)
    hooks.pause_webhooks()
    work()
    assert hooks.receiver.received == []
    hooks.act(created, "test")
    work()
    (request,) = hooks.receiver.received
    assert request.headers["X-Service-Event"] == "test"
    assert len(hooks.list_deliveries(created, status="pending", event="artifact.ingested")) == 3
    hooks.act(created, "test")
    work()
    statuses = [d["status"] for d in hooks.list_deliveries(created, event="artifact.ingested")]
    assert statuses == ["delivered"] * 3, "the test showed that the receiver is back"


def test_a_redelivery_keeps_to_the_pause(hooks: Any, work: Any) -> None:
    """It counts when it fails: hundreds at once must not deactivate what is being mended."""
    created = hooks.create()
    hooks.deliver_events()
    hooks.pause_webhooks()
    hooks.redeliver(created, hooks.get_only_delivery(created))
    work()
    assert len(hooks.receiver.received) == 1
    hooks.end_pauses()
    work()
    assert len(hooks.receiver.received) == 2


def test_activating_ends_the_pause(hooks: Any, work: Any) -> None:
    created = hooks.create()
    hooks.emit()
    hooks.pause_webhooks()
    hooks.act(created, "activate")
    work()
    assert hooks.list_deliveries(created, status="delivered") != []


def test_a_new_url_ends_the_pause_and_keeps_the_count(hooks: Any, work: Any) -> None:
    created = hooks.create()
    hooks.emit()
    hooks.update("webhooks", "consecutive_failures = 5")
    hooks.pause_webhooks()
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}"
    assert api.patch(path, json={"description": "moved", "url": created["url"]}).status_code == 200
    work()
    assert hooks.receiver.received == [], "nothing was mended"
    answer = api.patch(path, json={"url": hooks.receiver.url("/mended")})
    assert answer.json["data"]["consecutive_failures"] == 5
    work()
    assert len(hooks.receiver.list_requests("/mended")) == 1
    assert hooks.get(created)["consecutive_failures"] == 0


def test_a_paused_webhook_holds_up_no_other(hooks: Any, work: Any) -> None:
    paused, other = hooks.create("/paused"), hooks.create("/other")
    hooks.emit(20)
    failing = "consecutive_failures = 9, paused_until = now() + interval '1 hour'"
    hooks.update("webhooks", failing, "id = :id", id=paused["id"])
    work()
    assert len(hooks.list_deliveries(other, status="delivered")) == 20
    assert len(hooks.list_deliveries(paused, status="pending")) == 20
