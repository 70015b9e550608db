"""Run calls at the same time, in a known order during a lock, or until a simulated kill."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import count
from threading import Barrier
from typing import Any

from flask import Flask
from sqlalchemy import text

from app.kit import db
from tests.factories.waiting import wait_until

_CALL_SECONDS = 300
_COUNT_WAITING = text("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")
_WAITS_FOR_ROW = text("SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'")


def run_concurrently(*calls: Callable[[], Any]) -> list[Any]:
    """Start the calls at the same time, and return their results in order.

    Raises AssertionError if a call takes more than `_CALL_SECONDS`, because of a deadlock.
    """
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait(timeout=60)
        return call()

    pool = ThreadPoolExecutor(len(calls))
    futures = [pool.submit(run, call) for call in calls]
    _, unfinished = wait(futures, timeout=_CALL_SECONDS)
    pool.shutdown(wait=False)
    assert not unfinished, f"{len(unfinished)} of {len(calls)} calls have not returned"
    return [future.result() for future in futures]


def call_in_thread(call: Callable[..., Any], *args: Any) -> Any:
    """Call a function on another thread, which has its own database session; return its result."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call, *args).result()


def wait_for_blocked_transaction(app: Flask) -> None:
    """Wait until a transaction waits for a row that another transaction has locked."""
    with app.app_context(), db.engine().connect() as observer:
        wait_until(lambda: observer.scalar(_WAITS_FOR_ROW), "a blocked transaction", seconds=8)


@contextmanager
def hold_lock(app: Flask, lock: Callable[[], object]) -> Iterator[Callable[..., Future[Any]]]:
    """Yield a function that starts a call, and returns when the call waits for a lock.

    `lock` takes the locks in a transaction that is committed when the block ends. The calls then
    continue in the order in which they were started.
    """
    futures: list[Future[Any]] = []
    with ThreadPoolExecutor(2) as pool, app.app_context():
        with db.transaction(), db.engine().connect() as observer:
            lock()

            def start(call: Callable[[], Any]) -> Future[Any]:
                futures.append(pool.submit(call))
                wait_until(lambda: observer.scalar(_COUNT_WAITING) == len(futures), "the call")
                return futures[-1]

            yield start
        for future in futures:
            future.result(timeout=60)


class KilledError(Exception):
    """Simulates the end of a worker."""


def build_killing_checkpoint(number: int) -> Callable[[], None]:
    """Return a checkpoint that commits, but whose call with this number ends the worker instead."""
    calls = count(1)

    def commit() -> None:
        if next(calls) == number:
            db.session().rollback()
            raise KilledError
        db.session().commit()

    return commit
