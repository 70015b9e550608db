"""The database goes away, an outcome cannot be written, a key is gone, the process ends."""

from collections.abc import Sequence
from typing import Any

import pytest
from cryptography.fernet import Fernet
from flask import Flask
from sqlalchemy.exc import (
    DataError,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
)

from app.delivery.webhooks import dispatcher, recorder, sending
from app.delivery.webhooks.dispatcher import Dispatcher
from app.delivery.webhooks.queries import leases
from app.delivery.webhooks.queries.leases import Attempt, BeginLimit
from app.delivery.webhooks.queries.outcomes import AttemptResult
from app.kit import container, jobs
from app.kit.secrets import Keyring
from tests.delivery.webhooks.conftest import fail_two_writes, list_own_results, run_dispatchers


def test_stopping_gives_back_what_was_not_sent(app: Flask, hooks: Any) -> None:
    created = hooks.create()
    hooks.create_deliveries(40)
    ending: list[Dispatcher] = []

    def send(attempt: Attempt) -> AttemptResult:
        ending[0]._is_stopping |= attempt.organization_id == hooks.org.id
        return sending.send(attempt)

    ending.append(Dispatcher(app, send=send))
    ending[0].start()
    ending[0].wake()
    ending[0]._thread.join(30)
    ending[0].stop(10)
    sent = len(hooks.receiver.received)
    assert 1 <= sent < 40
    assert len(hooks.list_deliveries(created, status="delivered")) == sent
    hooks.deliver()
    assert len(hooks.receiver.received) == 40
    attempts = [a["number"] for d in hooks.list_deliveries(created) for a in d["attempts"]]
    assert attempts == [1] * 40, "what was given back was due at once, and lost no attempt"


def test_a_secret_that_cannot_be_read_fails_the_delivery(hooks: Any) -> None:
    created = hooks.create()
    other = Keyring("another root", [Fernet.generate_key().decode()])
    hooks.update("webhooks", "secret = :secret", secret=other.encrypt("0" * 64))
    hooks.deliver_events()
    delivery = hooks.get_only_delivery(created)
    assert (delivery["status"], delivery["next_attempt_at"]) == ("failed", None)
    assert delivery["attempts"][0]["error_kind"] == "secret"
    assert hooks.receiver.received == []
    webhook = hooks.get(created)
    assert (webhook["active"], webhook["consecutive_failures"]) == (True, 0)


def test_secrets_survive_a_change_of_the_encryption_key(
    hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    current = container.current()
    created = hooks.create()
    hooks.act(created, "rotate-secret")
    new = Fernet.generate_key().decode()
    keys = (new, *current.settings.encryption_keys)
    monkeypatch.setattr(current, "keyring", Keyring(current.settings.secret_key, keys))
    hooks.deliver_events()
    assert hooks.get_only_delivery(created)["status"] == "delivered"

    with hooks.as_deliverer():
        jobs.enqueue("webhooks.tidy", {}, organization_id=None)
    hooks.deliver()
    only_new = Keyring(current.settings.secret_key, [new])
    (row,) = hooks.sql("SELECT secret, previous_secret FROM webhooks WHERE organization_id = :org")
    assert only_new.decrypt(row.previous_secret).decode() == created["secret"]
    monkeypatch.setattr(current, "keyring", only_new)
    hooks.deliver_events()
    assert {d["status"] for d in hooks.list_deliveries(created)} == {"delivered"}


@pytest.mark.parametrize(
    "failure",
    [
        OperationalError("write", {}, Exception("the server is away")),
        InterfaceError("write", {}, Exception("connection already closed")),
        InternalError("write", {}, Exception("cannot execute in a read-only transaction")),
        ProgrammingError("write", {}, Exception("no answer"), connection_invalidated=True),
    ],
)
def test_the_recorder_waits_for_the_database(
    hooks: Any, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    created = hooks.create()
    calls = fail_two_writes(hooks, monkeypatch, failure)
    hooks.deliver_events()
    assert calls == [1, 1, 1]
    assert hooks.get_only_delivery(created)["status"] == "delivered"
    assert len(hooks.receiver.received) == 1


def test_an_outcome_that_cannot_be_written_takes_no_other_along(
    hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = hooks.create()
    real, poisoned = recorder.write, []

    def picky(results: Sequence[AttemptResult]) -> list[AttemptResult]:
        if not poisoned:
            poisoned.extend(result.attempt.id for result in list_own_results(hooks, results)[:1])
        if any(result.attempt.id in poisoned for result in results):
            raise DataError("write", {}, Exception("no such value"))
        return real(results)

    monkeypatch.setattr(recorder, "write", picky)
    hooks.deliver_events(20)
    statuses = {d["id"]: d["status"] for d in hooks.list_deliveries(created)}
    assert statuses.pop(str(poisoned[0])) == "pending", "its lease will run out"
    assert set(statuses.values()) == {"delivered"}


def test_the_dispatcher_waits_for_the_database(hooks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    created = hooks.create()
    real, calls = leases.begin_attempts, []

    def unreliable(
        limits: Sequence[BeginLimit], *, max_attempts: int, include_failing: bool
    ) -> list[Attempt]:
        calls.append(len(limits))
        if len(calls) < 3:
            raise OperationalError("begin", {}, Exception("the server is away"))
        return real(limits, max_attempts=max_attempts, include_failing=include_failing)

    monkeypatch.setattr(leases, "begin_attempts", unreliable)
    hooks.deliver_events(5)
    assert len(calls) >= 3
    assert len(hooks.list_deliveries(created, status="delivered")) == 5
    assert len(hooks.receiver.received) == 5


def test_failures_of_a_process_that_stood_still_are_not_the_receivers(
    app: Flask, hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its deadline passed while it was stopped: nobody knows what became of the request."""
    created = hooks.create()
    hooks.create_deliveries()
    monkeypatch.setattr(dispatcher, "STALLED_SECONDS", -1.0)
    failing = {"send": lambda attempt: AttemptResult(attempt, ok=False)}
    with run_dispatchers(app, **failing) as (other,):
        assert other.wait_until_idle(30)
    delivery = hooks.get_only_delivery(created)
    assert (delivery["status"], delivery["attempts"]) == ("pending", [])
    assert hooks.get(created)["consecutive_failures"] == 0
    monkeypatch.undo()
    hooks.expire_leases()
    hooks.deliver()
    kinds = [(a["number"], a["error_kind"]) for a in hooks.get_only_delivery(created)["attempts"]]
    assert kinds == [(1, "interrupted"), (2, None)]
