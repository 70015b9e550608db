"""Fixtures that turn on the rate limits, and that run a call while a lock is held."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.kit import db, ratelimit
from tests.factories.waiting import wait_until

_WAITING = text("SELECT FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')")


@pytest.fixture
def rate_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn on the rate limits, which are off in other tests."""
    monkeypatch.setattr(ratelimit, "_store", ratelimit.RateLimitStore())


def _is_waiting(app: Flask) -> bool:
    with app.app_context(), db.engine().connect() as connection:
        return connection.execute(_WAITING).first() is not None


@pytest.fixture
def run_while_locked(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Return a function that runs a call in another thread once a query has locked its row.

    The first call of the query returns as soon as the other thread waits for a lock, or has ended.
    """
    pool = ThreadPoolExecutor(1)
    started: list[Future[Any]] = []

    def start_after(module: Any, name: str, call: Any) -> list[Future[Any]]:
        lock = getattr(module, name)

        def lock_and_start(*args: Any, **options: Any) -> Any:
            row = lock(*args, **options)
            if row is not None and not started:
                started.append(pool.submit(call))
                wait_until(lambda: started[0].done() or _is_waiting(app), "the other thread")
            return row

        monkeypatch.setattr(module, name, lock_and_start)
        return started

    yield start_after
    pool.shutdown()
