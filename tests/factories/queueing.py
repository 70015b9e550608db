"""Start calls while another transaction holds a lock, so that they run in a known order."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from flask import Flask
from sqlalchemy import text

from app.kit import db
from tests.factories.waiting import wait_until

_COUNT_WAITING = text("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")


@contextmanager
def queueing(app: Flask, hold: Callable[[], object]) -> Iterator[Callable[..., Future[Any]]]:
    """Yield a function that starts a call, and returns when the call waits for a lock of `hold`.

    `hold` runs in a transaction that is committed when the block ends. The calls then continue in
    the order in which they were started.
    """
    futures: list[Future[Any]] = []
    with ThreadPoolExecutor(2) as pool, app.app_context():
        with db.transaction(), db.engine().connect() as observer:
            hold()

            def start(call: Callable[[], Any]) -> Future[Any]:
                futures.append(pool.submit(call))
                wait_until(lambda: observer.scalar(_COUNT_WAITING) == len(futures), "the call")
                return futures[-1]

            yield start
        for future in futures:
            future.result(timeout=60)
