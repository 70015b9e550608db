"""Errors that nobody expects: they end no thread, and no delivery stays leased because of them."""

import threading
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import pytest
from flask import Flask

from app.delivery.webhooks import dispatcher, recorder
from app.delivery.webhooks.queries.outcomes import AttemptResult
from app.delivery.webhooks.sender_pool import SenderPool
from tests.delivery.webhooks.conftest import fail_two_writes, list_own_results, run_dispatchers
from tests.factories.waiting import wait_until


def _fail_threads(monkeypatch: pytest.MonkeyPatch, may_start: Callable[[], bool]) -> None:
    """Let the system refuse to start a thread that sends, as at a limit of processes."""
    real = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name.startswith("webhook_") and not may_start():
            raise RuntimeError("can't start new thread")
        real(thread)

    monkeypatch.setattr(threading.Thread, "start", start)


@pytest.mark.parametrize("error", [KeyError("reason"), MemoryError(), RuntimeError("no thread")])
def test_the_recorder_survives_an_error(
    app: Flask, hooks: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(recorder, "_ERROR_PAUSE_SECONDS", 0.1)
    created = hooks.create()
    calls = fail_two_writes(hooks, monkeypatch, error)
    hooks.create_deliveries()
    with run_dispatchers(app) as (other,):
        wait_until(lambda: hooks.count_deliveries(created, "delivered") == 1)
        assert other.wait_until_idle(30)
    assert calls == [1, 1, 1], "the batch, the outcome alone, and both again after the pause"
    assert len(hooks.receiver.received) == 1


def test_an_outcome_with_an_error_is_given_up_and_holds_up_no_other(
    app: Flask, hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "_ERROR_PAUSE_SECONDS", 0.1)
    created = hooks.create()
    real = recorder.write
    poisoned: list[UUID] = []
    alone: list[UUID] = []

    def picky(results: Sequence[AttemptResult]) -> list[AttemptResult]:
        own_ids = [result.attempt.id for result in list_own_results(hooks, results)]
        poisoned.extend([] if poisoned else own_ids[:1])
        if poisoned and poisoned[0] in own_ids:
            alone.extend(own_ids if len(results) == 1 else [])
            raise KeyError("reason")
        return real(results)

    monkeypatch.setattr(recorder, "write", picky)
    hooks.create_deliveries(20)
    with run_dispatchers(app) as (other,):
        wait_until(lambda: hooks.count_deliveries(created, "delivered") == 19)
        assert other.wait_until_idle(30), "the lease of the other one is not renewed any more"
        assert not other._leases
        assert not other._recorder._error_counts
    assert recorder.MAX_TRIES <= len(alone) <= 2 * recorder.MAX_TRIES
    monkeypatch.undo()
    (waiting,) = hooks.list_deliveries(created, status="pending")
    assert waiting["id"] == str(poisoned[0])
    hooks.expire_leases()
    hooks.deliver()
    assert hooks.count_deliveries(created, "delivered") == 20
    assert len(hooks.receiver.received) == 21, "sent at least once, and again as nothing was known"


def test_an_error_after_the_writing_ends_no_thread(app: Flask, hooks: Any) -> None:
    """Outcomes are not written again, because failures of the webhook would be counted twice."""
    created = hooks.create()
    hooks.create_deliveries(3)
    errors: list[Exception] = []
    with run_dispatchers(app) as (other,):
        real = other._recorder._on_end

        def on_end(results: Sequence[AttemptResult]) -> None:
            real(results)
            if not errors and list_own_results(hooks, results):
                errors.append(KeyError("state"))
                raise errors[0]

        other._recorder._on_end = on_end  # type: ignore[method-assign]
        other.wake()
        wait_until(lambda: hooks.count_deliveries(created, "delivered") == 3)
        hooks.create_deliveries(3)
        other.wake()
        wait_until(lambda: hooks.count_deliveries(created, "delivered") == 6)
    assert len(hooks.receiver.received) == 6


@pytest.mark.parametrize("number", [0, 1], ids=["no thread", "one thread"])
def test_a_process_that_can_start_no_thread_loses_nothing(
    app: Flask, hooks: Any, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(dispatcher, "ERROR_PAUSE_SECONDS", 0.05)
    created = hooks.create()
    started, refused = [], []

    def may_start() -> bool:
        # A process without any thread gets one later, else it could never send anything.
        if len(started) < number or (not number and len(refused) >= 3):
            started.append(1)
            return True
        refused.append(1)
        return False

    _fail_threads(monkeypatch, may_start)
    hooks.create_deliveries(20)
    with run_dispatchers(app) as (other,):

        def all_end() -> bool:
            other.wake()
            return bool(hooks.count_deliveries(created, "delivered") == 20)

        wait_until(all_end)
        assert other.wait_until_idle(30)
    assert refused
    assert len(hooks.receiver.received) == 20, "nothing is sent twice"
    attempts = [a["number"] for d in hooks.list_deliveries(created) for a in d["attempts"]]
    assert attempts == [1] * 20, "an attempt that was not sent does not count"


def test_attempts_without_a_thread_are_left_to_other_processes(
    app: Flask, hooks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "ERROR_PAUSE_SECONDS", 0.05)
    created = hooks.create()
    refused: list[int] = []

    def may_start() -> bool:
        refused.append(1)
        return False

    _fail_threads(monkeypatch, may_start)
    hooks.create_deliveries(5)
    with run_dispatchers(app):
        wait_until(lambda: len(refused) >= 2)
        assert hooks.receiver.received == []
    monkeypatch.undo()
    hooks.deliver()
    assert hooks.count_deliveries(created, "delivered") == 5
    assert len(hooks.receiver.received) == 5


def test_the_pool_never_runs_a_refused_task_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The executor queues a task before it starts a thread for it."""
    pool = SenderPool(4)
    may_go, ran = threading.Event(), []

    def send(attempt: Any) -> None:
        may_go.wait(30)
        ran.append(attempt)

    assert pool.submit(send, "first")  # type: ignore[arg-type]
    with monkeypatch.context() as patch:
        _fail_threads(patch, lambda: False)

        class Named:
            id = "refused"

        assert not pool.submit(send, Named())  # type: ignore[arg-type]
    may_go.set()
    wait_until(lambda: bool(ran))
    assert pool.submit(send, "last")  # type: ignore[arg-type]
    wait_until(lambda: len(ran) == 2)
    assert ran == ["first", "last"]
    pool.shut_down()
