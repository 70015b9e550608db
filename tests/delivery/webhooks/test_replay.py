"""Replay what a webhook missed while it was deactivated or failing."""

from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import text

from app.delivery.webhooks import fanout, replaying, sending
from app.delivery.webhooks.queries import leases, replays
from app.delivery.webhooks.queries.leases import BeginLimit
from app.kit import db, tenancy
from app.kit.ids import uuid7
from tests.delivery.webhooks.conftest import Answer
from tests.factories.queueing import KilledError, build_killing_checkpoint
from tests.factories.waiting import wait_until
from tests.factories.work import run_jobs_of

BROKEN = Answer(500, b"out of order")
_BLOCKED = text("SELECT FROM pg_locks WHERE NOT granted AND :pid = ANY(pg_blocking_pids(pid))")


def _get_replay_error(hooks: Any, webhook: Any, **replay: Any) -> Any:
    path = f"/webhooks/{webhook['id']}/activate"
    answer = hooks.org.api("admin").post(path, json={"replay": replay})
    return answer.status_code, answer.json["error"]


def _replay(hooks: Any, webhook: Any, deliver: bool = False, **replay: Any) -> dict[str, Any]:
    """Request a replay, run its job, and return the webhook; `deliver` also sends what is due."""
    hooks.act(webhook, "activate", replay=replay)
    run_jobs_of(hooks.org, "bulk")
    if deliver:
        hooks.deliver()
    shown: dict[str, Any] = hooks.get(webhook)
    return shown


def _move(hooks: Any, delivery: dict[str, Any], at: datetime) -> None:
    """Set the time at which a delivery was recorded."""
    times = "created_at = :at, updated_at = :at"
    hooks.update("webhook_deliveries", times, "id = :id", id=delivery["id"], at=at)


def _list_sent_delivery_ids(hooks: Any) -> list[str]:
    return [request.headers["X-Service-Delivery"] for request in hooks.receiver.received]


def _create_missed_deliveries(hooks: Any, count: int) -> tuple[Any, list[dict[str, Any]]]:
    """Return a deactivated webhook and the deliveries that it missed, the oldest first."""
    created = hooks.create()
    hooks.act(created, "deactivate")
    hooks.create_deliveries(count)
    return created, hooks.list_deliveries(created, page_size=1000)[::-1]


def test_what_was_missed_while_deactivated_is_recorded_and_sent(hooks: Any) -> None:
    created, missed = _create_missed_deliveries(hooks, 3)
    hooks.deliver()
    assert hooks.receiver.received == []
    assert [(d["status"], d["attempts"], d["round"]) for d in missed] == [("abandoned", [], 1)] * 3
    assert {d["next_attempt_at"] for d in missed} == {None}
    webhook = hooks.get(created)
    assert (webhook["missed_count"], webhook["replay"]) == (3, None)
    until = datetime.fromisoformat(webhook["replayable_until"])
    oldest = datetime.fromisoformat(missed[0]["updated_at"])
    assert until == oldest + timedelta(days=30)

    answer = hooks.act(created, "activate", replay={})
    assert (answer["active"], answer["missed_count"]) == (True, 3)
    assert answer["replay"]["progress"] == {"done": 0, "total": None}
    assert answer["replay"]["statuses"] == ["abandoned", "failed"]
    run_jobs_of(hooks.org, "bulk")
    hooks.deliver()
    assert sorted(_list_sent_delivery_ids(hooks)) == sorted(d["id"] for d in missed)
    webhook = hooks.get(created)
    assert (webhook["missed_count"], webhook["replayable_until"]) == (0, None)
    assert webhook["replay"]["progress"] == {"done": 3, "total": 3}
    assert webhook["replay"]["finished_at"] is not None
    assert webhook["replay"]["stop_reason"] is None
    assert [d["round"] for d in hooks.list_deliveries(created, status="delivered")] == [2] * 3


def test_what_failed_is_sent_again_with_its_id_and_bytes(hooks: Any) -> None:
    """Ten failures abandon 40 deliveries, most of them without an attempt."""
    created = hooks.create()
    hooks.receiver.add_responses("/hook", BROKEN)
    hooks.deliver_events(40)
    failed = {r.headers["X-Service-Delivery"]: r for r in hooks.receiver.received}
    assert hooks.get(created)["missed_count"] == 40
    hooks.receiver.answers.clear()
    hooks.receiver.received.clear()
    webhook = _replay(hooks, created, deliver=True)
    assert webhook["replay"]["progress"] == {"done": 40, "total": 40}
    assert len(_list_sent_delivery_ids(hooks)) == len(set(_list_sent_delivery_ids(hooks))) == 40
    for request in hooks.receiver.received:
        before = failed.get(request.headers["X-Service-Delivery"])
        number = int(request.headers["X-Service-Attempt"])
        if before is None:
            assert number == 1
        else:
            assert request.body == before.body
            assert request.headers["X-Service-Signature"] == before.headers["X-Service-Signature"]
            assert number > 1
    assert hooks.count_deliveries(created, "delivered") == 40


def test_an_active_webhook_can_be_replayed(hooks: Any) -> None:
    created = hooks.create()
    hooks.insert_deliveries(created, 2, "abandoned")
    hooks.insert_deliveries(created, 1, "failed")
    hooks.insert_deliveries(created, 4, "delivered")
    webhook = _replay(hooks, created, deliver=True)
    assert webhook["replay"]["progress"] == {"done": 3, "total": 3}
    assert len(hooks.receiver.received) == 3
    assert hooks.count_deliveries(created, "delivered") == 7


def test_the_range_includes_its_start_and_excludes_its_end(hooks: Any) -> None:
    created, missed = _create_missed_deliveries(hooks, 4)
    begin = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)
    for number, delivery in enumerate(missed):
        _move(hooks, delivery, begin + timedelta(hours=number))
    ends = {"from": begin + timedelta(hours=1), "to": begin + timedelta(hours=3)}
    webhook = _replay(hooks, created, deliver=True, **{k: v.isoformat() for k, v in ends.items()})
    assert set(_list_sent_delivery_ids(hooks)) == {missed[1]["id"], missed[2]["id"]}
    assert webhook["missed_count"] == 2
    replay = webhook["replay"]
    assert {k: datetime.fromisoformat(replay[k]) for k in ends} == ends


def test_only_the_named_events_and_statuses_are_sent(hooks: Any) -> None:
    created = hooks.create(events=["artifact.ingested", "drift.detected"])
    hooks.insert_deliveries(created, 3, "failed")
    hooks.act(created, "deactivate")
    hooks.create_deliveries(2)
    hooks.create_deliveries(2, "drift.detected")
    _replay(hooks, created, deliver=True, events=["drift.detected"])
    assert [r.headers["X-Service-Event"] for r in hooks.receiver.received] == ["drift.detected"] * 2
    hooks.receiver.received.clear()
    webhook = _replay(hooks, created, deliver=True, statuses=["failed"])
    assert len(hooks.receiver.received) == 3
    assert webhook["missed_count"] == 2


def test_tests_are_never_replayed(hooks: Any) -> None:
    created = hooks.create()
    hooks.receiver.add_responses("/hook", BROKEN)
    hooks.act(created, "test")
    for _ in range(4):
        hooks.make_due()
        hooks.deliver()
    assert hooks.list_deliveries(created)[0]["status"] == "abandoned"
    webhook = _replay(hooks, created, deliver=True)
    assert (webhook["missed_count"], webhook["replay"]["progress"]["done"]) == (0, 0)
    assert len(hooks.receiver.received) == 4


def test_what_was_delivered_within_a_day_is_not_sent_again(hooks: Any) -> None:
    created = hooks.create()
    hooks.deliver_events(3)
    old = hooks.list_deliveries(created)[0]["id"]
    delivered_earlier = "delivered_at = now() - interval '25 hours'"
    hooks.update("webhook_deliveries", delivered_earlier, "id = :id", id=old)
    hooks.receiver.received.clear()
    webhook = _replay(hooks, created, deliver=True, statuses=["delivered", "skipped"])
    assert _list_sent_delivery_ids(hooks) == [old]
    assert webhook["replay"]["progress"] == {"done": 1, "total": 1}
    _replay(hooks, created, deliver=True, statuses=["delivered", "skipped"])
    assert _list_sent_delivery_ids(hooks) == [old]


def test_a_delivery_that_is_replayed_twice_is_sent_once_at_a_time(hooks: Any) -> None:
    created, _ = _create_missed_deliveries(hooks, 5)
    _replay(hooks, created)
    first = hooks.begin_attempts()
    assert len(first) == 1, "of two attempts under way, one is left for new deliveries"
    _replay(hooks, created)
    assert hooks.begin_attempts() == []
    assert hooks.get(created)["replay"]["progress"]["done"] == 0
    hooks.record_results(*[sending.send(attempt) for attempt in first])
    (delivery,) = hooks.list_deliveries(created, status="delivered")
    assert [attempt["number"] for attempt in delivery["attempts"]] == [1]


def test_a_replay_waits_for_an_attempt_from_before_the_deactivation(hooks: Any) -> None:
    created, attempt = hooks.begin_only_attempt()
    hooks.act(created, "deactivate")
    _replay(hooks, created)
    assert hooks.begin_attempts() == []
    (delivery,) = hooks.list_deliveries(created)
    assert delivery["status"] == "pending"
    assert datetime.fromisoformat(delivery["next_attempt_at"]) > attempt.at
    hooks.make_due()
    assert [(a.id, a.number, a.round) for a in hooks.begin_attempts()] == [(attempt.id, 2, 2)]


def test_new_deliveries_are_sent_before_replayed_ones(hooks: Any) -> None:
    created, missed = _create_missed_deliveries(hooks, 6)
    for age, delivery in enumerate(missed):
        _move(hooks, delivery, datetime.now(UTC) - timedelta(minutes=9 - age))
    _replay(hooks, created)
    hooks.create_deliveries(3)
    new = {d["id"] for d in hooks.list_deliveries(created) if d["round"] == 1}
    assert len(new) == 3
    oldest = [d["id"] for d in missed]
    # The attempts of one call are in no order.
    begun: list[set[str]] = []
    for number in (2, 2, 6):
        with hooks.as_deliverer():
            limits = [BeginLimit(hooks.org.id, created["id"], number, 4)]
            attempts = leases.begin_attempts(limits, max_attempts=4)
        begun.append({str(attempt.id) for attempt in attempts})
    assert len(begun[0]) == len(begun[1]) == 2
    assert begun[0] < new
    assert begun[1] == {*(new - begun[0]), oldest[0]}
    assert begun[2] == set(oldest[1:4]), "no more than four replayed ones are under way"


def test_a_failing_webhook_gets_one_first_attempt_at_a_time(hooks: Any) -> None:
    """Whether it is new or replayed."""
    created, _ = _create_missed_deliveries(hooks, 3)
    _replay(hooks, created)
    hooks.emit(1)
    hooks.update("webhooks", "consecutive_failures = 1")
    (attempt,) = hooks.begin_attempts()
    assert not attempt.replayed
    assert hooks.begin_attempts() == []
    hooks.expire_leases()
    delivered = "status = 'delivered', next_attempt_at = NULL, leased_until = NULL"
    hooks.update("webhook_deliveries", delivered, "NOT replayed")
    (attempt,) = hooks.begin_attempts()
    assert attempt.replayed


def test_a_long_replay_ends_with_nothing_else_to_wake_the_deliverer(hooks: Any) -> None:
    created, missed = _create_missed_deliveries(hooks, 60)
    _replay(hooks, created, deliver=True)
    assert sorted(_list_sent_delivery_ids(hooks)) == sorted(d["id"] for d in missed)


def test_what_was_pending_at_the_deactivation_is_replayed(hooks: Any) -> None:
    """Even if the job that abandons it has not run yet."""
    created = hooks.create()
    hooks.insert_deliveries(created, 1_100)
    hooks.act(created, "deactivate")
    assert hooks.count_deliveries(created, "pending") == 100
    webhook = _replay(hooks, created)
    assert webhook["replay"]["progress"] == {"done": 1_100, "total": 1_100}
    assert hooks.count_deliveries(created, "pending") == 1_100


def test_a_killed_replay_goes_on_after_its_last_batch(
    hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "BATCH_SIZE", 10)
    created, _ = _create_missed_deliveries(hooks, 35)
    hooks.act(created, "activate", replay={})
    (job,) = hooks.sql(
        "SELECT args FROM jobs WHERE organization_id = :org AND function = :name",
        name=replaying.REPLAY_JOB,
    )
    commit = build_killing_checkpoint(5)  # Two of the checkpoints are before the first batch.
    app_context, organization = hooks.org.app.app_context(), tenancy.organization(hooks.org.id)
    with app_context, organization, pytest.raises(KilledError):
        replaying.run_replay(hooks.org.id, created["id"], job.args["replay_id"], commit)
    assert hooks.get(created)["replay"]["progress"] == {"done": 20, "total": 35}
    run_jobs_of(hooks.org, "bulk")
    assert hooks.get(created)["replay"]["progress"] == {"done": 35, "total": 35}
    rounds = [d["round"] for d in hooks.list_deliveries(created, page_size=1000)]
    assert rounds == [2] * 35, "none was replayed twice"


def test_a_deactivation_stops_a_replay_and_another_one_may_follow(
    hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "BATCH_SIZE", 10)
    created, _ = _create_missed_deliveries(hooks, 25)
    hooks.act(created, "activate", replay={})
    assert _get_replay_error(hooks, created)[0] == 409
    assert _get_replay_error(hooks, created)[1]["details"] == {"state": "replaying"}
    hooks.act(created, "deactivate")
    run_jobs_of(hooks.org, "bulk")
    replay = hooks.get(created)["replay"]
    assert (replay["stop_reason"], replay["progress"]["done"]) == ("deactivated", 0)
    assert replay["finished_at"] is not None
    webhook = _replay(hooks, created, deliver=True)
    assert webhook["replay"]["progress"] == {"done": 25, "total": 25}
    assert hooks.count_deliveries(created, "delivered") == 25


def test_a_replay_that_fails_may_be_requested_again(
    hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    created, _ = _create_missed_deliveries(hooks, 2)
    hooks.act(created, "activate", replay={})
    with monkeypatch.context() as broken:
        broken.setattr(replays, "replay_batch", lambda *_: 1 / 0)
        for _ in range(5):
            run_jobs_of(hooks.org, "bulk")
            hooks.update("jobs", "due_at = now()", "due_at > now()")
    assert hooks.get(created)["replay"]["stop_reason"] == "error"
    assert _replay(hooks, created, deliver=True)["replay"]["progress"] == {"done": 2, "total": 2}


def test_a_webhook_that_is_deactivated_for_a_month_records_nothing_more(hooks: Any) -> None:
    created, missed = _create_missed_deliveries(hooks, 1)
    hooks.update("webhooks", "deactivated_at = now() - interval '30 days'")
    hooks.create_deliveries(2)
    assert [d["id"] for d in hooks.list_deliveries(created)] == [missed[0]["id"]]


def test_a_webhook_that_the_previous_release_deactivated_records(hooks: Any) -> None:
    created, _ = _create_missed_deliveries(hooks, 1)
    hooks.update("webhooks", "deactivated_at = NULL")
    hooks.create_deliveries(2)
    assert hooks.get(created)["missed_count"] == 3


def test_a_replay_finds_what_a_fan_out_is_recording(hooks: Any) -> None:
    """It saw the webhook deactivated, and commits while the activation waits for it."""
    created = hooks.create()
    hooks.act(created, "deactivate")
    event = fanout.Event(str(uuid7()), "artifact.ingested", {}, None, datetime.now(UTC))
    activation = Thread(target=hooks.act, args=(created, "activate"), kwargs={"replay": {}})
    with hooks.org.transaction():
        fanout.fan_out([event])
        pid = db.session().execute(text("SELECT pg_backend_pid()")).scalar_one()
        activation.start()
        wait_until(lambda: _is_blocking(hooks, pid), "the activation to wait", 20)
    activation.join()
    run_jobs_of(hooks.org, "bulk")
    hooks.deliver()
    assert len(hooks.receiver.received) == 1


def _is_blocking(hooks: Any, pid: int) -> bool:
    """Return whether another process waits for a lock of `pid`."""
    with hooks.org.app.app_context():
        engine = db.db.engine
    with engine.connect() as connection:
        return connection.execute(_BLOCKED, {"pid": pid}).first() is not None


def test_the_body_is_optional(hooks: Any) -> None:
    created = hooks.create()
    path = f"/webhooks/{created['id']}/activate"
    api = hooks.org.api("admin")
    assert api.post(path).json["data"]["replay"] is None
    assert api.post(path, json={}).status_code == 200
    revision = hooks.get(created)["revision"]
    assert api.post(path, json={"revision": revision + 1}).status_code == 409
    assert api.post(path, json={"revision": revision, "replay": {}}).status_code == 200


_LATER = "2999-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("replay", "status", "field"),
    [
        ({"from": "2020-01-01T00:00:00Z"}, 400, "replay.from"),
        ({"from": _LATER}, 400, "replay.from"),
        ({"from": "2020-01-01T00:00:00Z", "to": "2020-01-02T00:00:00Z"}, 400, "replay.from"),
        ({"from": "yesterday"}, 422, "replay.from"),
        ({"to": "2020-01-01T00:00:00Z"}, 400, "replay.to"),
        ({"to": 7}, 422, "replay.to"),
        ({"events": []}, 400, "replay.events"),
        ({"events": ["test"]}, 400, "replay.events"),
        ({"events": ["artifact.ingested"] * 2}, 400, "replay.events"),
        ({"events": ["artifact.eaten"]}, 400, "replay.events"),
        ({"statuses": []}, 422, "replay.statuses"),
        ({"statuses": ["pending"]}, 422, "replay.statuses.0"),
        ({"statuses": ["failed"] * 2}, 400, "replay.statuses"),
        ({"statuses": ["failed"] * 100}, 422, "replay.statuses"),
        ({"until": _LATER}, 422, "replay.until"),
    ],
)
def test_what_is_refused(hooks: Any, replay: Any, status: int, field: str) -> None:
    created, _ = _create_missed_deliveries(hooks, 1)
    refused, error = _get_replay_error(hooks, created, **replay)
    assert (refused, error["field"]) == (status, field)
    assert hooks.get(created)["active"] is False, "nothing was done"


def test_the_range_must_not_end_before_it_starts(hooks: Any) -> None:
    created, _ = _create_missed_deliveries(hooks, 1)
    at = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    status, error = _get_replay_error(hooks, created, **{"from": at, "to": at})
    assert (status, error["field"]) == (400, "replay.from")


def test_the_end_of_a_range_is_checked_without_its_start(hooks: Any) -> None:
    created, _ = _create_missed_deliveries(hooks, 1)
    before_retention = datetime.now(UTC) - timedelta(days=30, minutes=1)
    status, error = _get_replay_error(hooks, created, to=before_retention.isoformat())
    assert (status, error["field"]) == (400, "replay.to")
    assert error["message"] == "`replay.to` must not be more than 30 days ago."
    assert datetime.fromisoformat(error["details"]["earliest"]) > before_retention
    within_retention = before_retention + timedelta(hours=1)
    webhook = _replay(hooks, created, to=within_retention.isoformat())
    assert webhook["replay"]["progress"] == {"done": 0, "total": 0}


def test_a_range_may_end_in_the_future(hooks: Any) -> None:
    created, _ = _create_missed_deliveries(hooks, 2)
    webhook = _replay(hooks, created, deliver=True, to=_LATER)
    assert webhook["replay"]["progress"]["done"] == 2
    end = datetime.fromisoformat(webhook["replay"]["to"])
    assert end <= datetime.now(UTC) + timedelta(minutes=1)
