"""Workers that die, leases that run out, outcomes that come late: nothing lost, nothing unknown."""

from typing import Any

from flask import Flask

from app.delivery.webhooks import recorder, sending
from app.delivery.webhooks.queries import leases, outcomes
from app.delivery.webhooks.queries.leases import Lease, Taken
from app.delivery.webhooks.queries.outcomes import Result
from app.kit import db, tenancy
from tests.delivery.webhooks.conftest import Answer
from tests.factories.scrape import counted


def _take(hooks: Any, rows: list[list[Any]]) -> list[Taken]:
    """Begin attempts, as a worker does before it dies."""
    everything = tenancy.across_organizations(reason="a test is the dispatcher")
    held = [Lease(organization, delivery, token) for organization, _, _, delivery, token in rows]
    with hooks.org.app.app_context(), everything, db.transaction():
        return leases.take(held, attempts=4)


def _write(hooks: Any, *results: Result) -> None:
    everything = tenancy.across_organizations(reason="a test is the recorder")
    with hooks.org.app.app_context(), everything, db.transaction():
        recorder.write(results)


def _only(hooks: Any, webhook: Any) -> Any:
    (delivery,) = hooks.deliveries(webhook)
    return delivery


def test_an_attempt_whose_worker_died_is_known_and_counted(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    hooks.emit()
    assert len(_take(hooks, hooks.claim())) == 1
    deliver()
    assert hooks.receiver.received == [], "the lease still stands"
    before = counted(hooks.org.app, "labeling_lease_expiries_total", queue="webhooks")
    hooks.let_leases_expire()
    deliver()
    assert counted(hooks.org.app, "labeling_lease_expiries_total", queue="webhooks") > before
    (request,) = hooks.receiver.received
    assert request.headers["X-Service-Attempt"] == "2"
    delivery = _only(hooks, created)
    assert delivery["status"] == "delivered"
    lost, sent = delivery["attempts"]
    assert (lost["number"], lost["status_code"], lost["error_kind"]) == (1, None, "interrupted")
    assert lost["error"]
    assert (sent["number"], sent["status_code"]) == (2, 200)
    assert hooks.get(created)["consecutive_failures"] == 0


def test_a_claim_whose_worker_died_costs_no_attempt(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    hooks.emit()
    assert len(hooks.claim()) == 1
    assert hooks.claim() == [], "somebody has it"
    hooks.let_leases_expire()
    deliver()
    assert [a["number"] for a in _only(hooks, created)["attempts"]] == [1]
    assert len(hooks.receiver.received) == 1


def test_never_more_than_four_attempts_however_often_workers_die(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    hooks.emit()
    for _ in range(4):
        assert [attempt.verdict for attempt in _take(hooks, hooks.claim())] == ["pending"]
        hooks.let_leases_expire()
    deliver()
    assert hooks.receiver.received == []
    delivery = _only(hooks, created)
    assert (delivery["status"], delivery["next_attempt_at"]) == ("abandoned", None)
    assert [a["number"] for a in delivery["attempts"]] == [1, 2, 3, 4]
    assert {a["error_kind"] for a in delivery["attempts"]} == {"interrupted"}


def test_a_message_that_comes_twice_is_sent_once(app: Flask, hooks: Any) -> None:
    hooks.create()
    hooks.emit()
    rows = hooks.claim()
    assert len(_take(hooks, rows)) == 1
    assert _take(hooks, rows) == []


def test_what_arrived_under_a_lost_lease_is_not_sent_again(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    hooks.emit()
    (attempt,) = _take(hooks, hooks.claim())
    result = sending.send(attempt)
    assert result.ok
    hooks.let_leases_expire()
    rows = hooks.claim()
    _write(hooks, result)
    shown = _only(hooks, created)
    assert (shown["status"], [a["status_code"] for a in shown["attempts"]]) == ("pending", [200])
    assert [attempt.verdict for attempt in _take(hooks, rows)] == ["skipped"]
    deliver()
    delivery = _only(hooks, created)
    assert (delivery["status"], delivery["next_attempt_at"]) == ("skipped", None)
    assert delivery["delivered_at"] is not None
    assert [a["status_code"] for a in delivery["attempts"]] == [200]
    assert len(hooks.receiver.received) == 1


def test_suppression_ends_after_a_day(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    hooks.emit()
    hooks.claim()
    hooks.sql(
        "UPDATE webhook_deliveries SET delivered_at = now() - interval '24 hours 1 second'"
        " WHERE organization_id = :org"
    )
    hooks.let_leases_expire()
    deliver()
    assert _only(hooks, created)["status"] == "delivered"
    assert len(hooks.receiver.received) == 1


def test_a_late_outcome_replaces_the_interruption(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    hooks.receiver.say("/hook", Answer(503, b"later"), Answer())
    hooks.emit()
    (attempt,) = _take(hooks, hooks.claim())
    result = sending.send(attempt)
    hooks.let_leases_expire()
    deliver()
    assert [a["error_kind"] for a in _only(hooks, created)["attempts"]] == ["interrupted", None]
    _write(hooks, result)
    delivery = _only(hooks, created)
    assert delivery["status"] == "delivered", "a lost lease decides nothing"
    assert [a["status_code"] for a in delivery["attempts"]] == [503, 200]
    assert hooks.get(created)["consecutive_failures"] == 1, "but the receiver did fail"


def test_what_arrived_after_the_deactivation_counts_as_delivered(hooks: Any) -> None:
    created = hooks.create()
    hooks.emit()
    (attempt,) = _take(hooks, hooks.claim())
    hooks.org.api("admin").post(f"/webhooks/{created['id']}/deactivate")
    assert _only(hooks, created)["status"] == "abandoned"
    _write(hooks, sending.send(attempt))
    assert _only(hooks, created)["status"] == "delivered"
    assert hooks.get(created)["active"] is False


def test_an_outcome_of_an_earlier_round_says_nothing_of_this_one(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    hooks.emit()
    (attempt,) = _take(hooks, hooks.claim())
    result = sending.send(attempt)
    hooks.let_leases_expire()
    deliver()
    delivery = _only(hooks, created)
    path = f"/webhooks/{created['id']}/deliveries/{delivery['id']}/redeliver"
    assert hooks.org.api("admin").post(path).status_code == 202
    _write(hooks, result)
    deliver()
    assert (_only(hooks, created)["status"], len(hooks.receiver.received)) == ("delivered", 3)


def test_outcomes_of_a_webhook_that_is_gone_are_dropped(hooks: Any) -> None:
    created = hooks.create()
    hooks.emit()
    (attempt,) = _take(hooks, hooks.claim())
    hooks.org.api("admin").delete(f"/webhooks/{created['id']}")
    _write(hooks, sending.send(attempt))
    sql = "SELECT count(*) AS n FROM webhook_attempts WHERE organization_id = :org"
    assert hooks.sql(sql)[0].n == 0


def test_a_webhook_deactivated_before_its_turn_gets_nothing(hooks: Any) -> None:
    hooks.create()
    hooks.emit()
    rows = hooks.claim()
    hooks.sql("UPDATE webhooks SET active = false WHERE organization_id = :org")
    assert [attempt.verdict for attempt in _take(hooks, rows)] == ["abandoned"]


def test_untaken_attempts_do_not_count(hooks: Any, deliver: Any) -> None:
    created = hooks.create()
    hooks.emit()
    (attempt,) = _take(hooks, hooks.claim())
    lease = Lease(str(attempt.organization_id), str(attempt.id), str(attempt.lease_token))
    everything = tenancy.across_organizations(reason="a test is the dispatcher")
    with hooks.org.app.app_context(), everything, db.transaction():
        leases.untake([lease, lease])
        leases.untake([lease])
    deliver()
    assert [a["number"] for a in _only(hooks, created)["attempts"]] == [1]


def test_leases_of_what_is_under_way_are_renewed(app: Flask, hooks: Any) -> None:
    hooks.create()
    hooks.emit(2)
    rows = hooks.claim()
    taken = _take(hooks, rows[:1])
    held = [Lease(str(t.organization_id), str(t.id), str(t.lease_token)) for t in taken]
    waiting = [Lease(row[0], row[3], row[4]) for row in rows[1:]]
    hooks.let_leases_expire()
    everything = tenancy.across_organizations(reason="a test is the dispatcher")
    with app.app_context(), everything, db.transaction():
        leases.renew([*held, *waiting])
    assert hooks.claim() == []


def test_settling_keeps_to_the_leases_that_stand(hooks: Any) -> None:
    hooks.create()
    hooks.emit(2)
    one, two = _take(hooks, hooks.claim())
    everything = tenancy.across_organizations(reason="a test is the recorder")
    with hooks.org.app.app_context(), everything, db.transaction():
        stale = sending._result(one, ok=True)
        assert one.lease_token is not None
        assert outcomes.settle([stale], (30, 120, 300)) == {one.lease_token}
        assert outcomes.settle([stale], (30, 120, 300)) == set()
    assert two.lease_token != one.lease_token
