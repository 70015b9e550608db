"""Workers that die, leases that run out, outcomes that come late: nothing lost, nothing unknown."""

from typing import Any

from flask import Flask

from app.delivery.webhooks import jobs as webhook_jobs
from app.delivery.webhooks import sending
from app.delivery.webhooks.queries import leases, outcomes
from app.delivery.webhooks.queries.leases import DELIVERY_LEASES
from app.delivery.webhooks.queries.outcomes import AttemptResult
from tests.delivery.webhooks.conftest import Answer
from tests.factories.scrape import get_metric
from tests.factories.waiting import wait_until


def test_an_attempt_whose_worker_died_is_known_and_counted(hooks: Any) -> None:
    created = hooks.create()
    hooks.emit()
    assert len(hooks.begin_attempts()) == 1
    hooks.deliver()
    assert hooks.receiver.received == [], "the lease has not expired"
    before = get_metric(hooks.org.app, "labeling_lease_expiries_total", queue="webhooks")
    hooks.expire_leases()
    hooks.deliver()
    assert get_metric(hooks.org.app, "labeling_lease_expiries_total", queue="webhooks") > before
    (request,) = hooks.receiver.received
    assert request.headers["X-Service-Attempt"] == "2"
    delivery = hooks.get_only_delivery(created)
    assert delivery["status"] == "delivered"
    lost, sent = delivery["attempts"]
    assert (lost["number"], lost["status_code"], lost["error_kind"]) == (1, None, "interrupted")
    assert lost["error"]
    assert (sent["number"], sent["status_code"]) == (2, 200)
    assert hooks.get(created)["consecutive_failures"] == 0


def test_a_message_wakes_the_dispatcher(app: Flask, hooks: Any) -> None:
    created = hooks.create()
    hooks.create_deliveries()
    with app.app_context():
        webhook_jobs.accept([])
    wait_until(lambda: len(hooks.receiver.received) == 1)
    hooks.deliver()
    assert [a["number"] for a in hooks.get_only_delivery(created)["attempts"]] == [1]


def test_never_more_than_four_attempts_however_often_workers_die(hooks: Any) -> None:
    created = hooks.create()
    hooks.emit()
    for _ in range(4):
        assert [attempt.status for attempt in hooks.begin_attempts()] == ["pending"]
        hooks.expire_leases()
    hooks.deliver()
    assert hooks.receiver.received == []
    delivery = hooks.get_only_delivery(created)
    assert (delivery["status"], delivery["next_attempt_at"]) == ("abandoned", None)
    assert [a["number"] for a in delivery["attempts"]] == [1, 2, 3, 4]
    assert {a["error_kind"] for a in delivery["attempts"]} == {"interrupted"}


def test_what_has_begun_does_not_begin_twice(hooks: Any) -> None:
    hooks.create()
    hooks.emit()
    assert len(hooks.begin_attempts()) == 1
    assert hooks.begin_attempts() == []


def test_what_arrived_under_a_lost_lease_is_not_sent_again(hooks: Any) -> None:
    created, attempt = hooks.begin_only_attempt()
    result = sending.send(attempt)
    assert result.ok
    hooks.expire_leases()
    (other,) = hooks.begin_attempts()
    hooks.record_results(result)
    shown = hooks.get_only_delivery(created)
    assert (shown["status"], [a["status_code"] for a in shown["attempts"]]) == ("pending", [200])
    # The other one ended before it sent.
    with hooks.as_deliverer():
        leases.requeue([other])
    assert [attempt.status for attempt in hooks.begin_attempts()] == ["skipped"]
    hooks.deliver()
    delivery = hooks.get_only_delivery(created)
    assert (delivery["status"], delivery["next_attempt_at"]) == ("skipped", None)
    assert delivery["delivered_at"] is not None
    assert [a["status_code"] for a in delivery["attempts"]] == [200]
    assert len(hooks.receiver.received) == 1


def test_suppression_ends_after_a_day(hooks: Any) -> None:
    created = hooks.create()
    hooks.create_deliveries()
    hooks.update("webhook_deliveries", "delivered_at = now() - interval '24 hours 1 second'")
    hooks.deliver()
    assert hooks.get_only_delivery(created)["status"] == "delivered"
    assert len(hooks.receiver.received) == 1


def test_a_late_outcome_replaces_the_interruption(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", Answer(503, b"later"), Answer())
    hooks.emit()
    (attempt,) = hooks.begin_attempts()
    result = sending.send(attempt)
    hooks.expire_leases()
    hooks.deliver()
    attempts = hooks.get_only_delivery(created)["attempts"]
    assert [a["error_kind"] for a in attempts] == ["interrupted", None]
    hooks.record_results(result)
    delivery = hooks.get_only_delivery(created)
    assert delivery["status"] == "delivered", "a lost lease decides nothing"
    assert [a["status_code"] for a in delivery["attempts"]] == [503, 200]
    assert hooks.get(created)["consecutive_failures"] == 1, "but the receiver did fail"


def test_what_arrived_after_the_deactivation_counts_as_delivered(hooks: Any) -> None:
    created, attempt = hooks.begin_only_attempt()
    hooks.act(created, "deactivate")
    assert hooks.get_only_delivery(created)["status"] == "abandoned"
    hooks.record_results(sending.send(attempt))
    assert hooks.get_only_delivery(created)["status"] == "delivered"
    assert hooks.get(created)["active"] is False


def test_an_outcome_of_an_earlier_round_says_nothing_of_this_one(hooks: Any) -> None:
    created, attempt = hooks.begin_only_attempt()
    result = sending.send(attempt)
    hooks.expire_leases()
    hooks.deliver()
    hooks.redeliver(created, hooks.get_only_delivery(created))
    hooks.record_results(result)
    hooks.deliver()
    assert hooks.get_only_delivery(created)["status"] == "delivered"
    assert len(hooks.receiver.received) == 3


def test_outcomes_of_a_webhook_that_is_gone_are_dropped(hooks: Any) -> None:
    created, attempt = hooks.begin_only_attempt()
    hooks.org.api("admin").delete(f"/webhooks/{created['id']}")
    hooks.record_results(sending.send(attempt))
    sql = "SELECT count(*) AS n FROM webhook_attempts WHERE organization_id = :org"
    assert hooks.sql(sql)[0].n == 0


def test_a_webhook_deactivated_before_its_turn_gets_nothing(hooks: Any) -> None:
    hooks.create()
    hooks.create_deliveries()
    hooks.update("webhooks", "active = false")
    assert hooks.begin_attempts() == []


def test_requeued_attempts_do_not_count(hooks: Any) -> None:
    created, attempt = hooks.begin_only_attempt()
    with hooks.as_deliverer():
        leases.requeue([attempt, attempt])
        leases.requeue([attempt])
    hooks.deliver()
    assert [a["number"] for a in hooks.get_only_delivery(created)["attempts"]] == [1]


def test_leases_of_what_is_under_way_are_renewed(hooks: Any) -> None:
    hooks.create()
    hooks.emit(2)
    one, two = hooks.begin_attempts()
    hooks.expire_leases()
    with hooks.as_deliverer():
        assert DELIVERY_LEASES.renew([one.lease]) == {one.lease_token}
    (again,) = hooks.begin_attempts()
    assert again.id == two.id
    with hooks.as_deliverer():
        renewed = DELIVERY_LEASES.renew([one.lease, two.lease, again.lease])
    assert renewed == {one.lease_token, again.lease_token}, "a lease that was lost stays lost"


def test_outcomes_are_recorded_only_under_a_current_lease(hooks: Any) -> None:
    hooks.create()
    hooks.emit(2)
    one, two = hooks.begin_attempts()
    with hooks.as_deliverer():
        stale = AttemptResult(one, ok=True)
        assert one.lease_token is not None
        assert outcomes.update_deliveries([stale], (30, 120, 300)) == {one.lease_token: True}
        assert outcomes.update_deliveries([stale], (30, 120, 300)) == {one.lease_token: False}
    assert two.lease_token != one.lease_token
