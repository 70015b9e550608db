"""Attempts by many threads. `shares` says whose turn it is.

One thread decides what begins and takes the leases, in batches; the threads of a pool send; one
thread writes outcomes. No transaction is open while anything is sent.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Condition, Thread
from typing import Any

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from app.delivery.webhooks import sending
from app.delivery.webhooks.queries import leases
from app.delivery.webhooks.queries.leases import Lease, Taken
from app.delivery.webhooks.queries.outcomes import Result
from app.delivery.webhooks.recorder import Recorder
from app.delivery.webhooks.shares import Picked, Shares
from app.kit import container, db, metrics, tenancy
from app.kit.logging import get_logger

log = get_logger(__name__)

THREADS = 128
TAKE_BATCH = 64
RENEW_SECONDS = 8.0


class Dispatcher:
    """Begins, sends and records. `accept` and `settle` may be called from any thread."""

    def __init__(
        self, app: Flask, *, threads: int = THREADS, send: Callable[[Taken], Result] = sending.send
    ) -> None:
        self._app = app
        self._send = send
        self._changed = Condition()
        self._shares = Shares(threads)
        self._held: dict[str, Lease] = {}
        self._stopping = False
        self._next_renewal = time.monotonic() + RENEW_SECONDS
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="webhook")
        self._recorder = Recorder(app, self._written)
        self._thread = Thread(target=self._run, name="webhook-dispatcher", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._recorder.start()
        self._thread.start()

    def accept(self, batch: Sequence[Sequence[Any]]) -> None:
        """Queue claimed deliveries: [organization, webhook, failures, delivery, token] each."""
        with self._changed:
            self._shares.add(batch)
            self._changed.notify_all()

    def settle(self, timeout: float) -> bool:
        """Wait until nothing waits, is under way or unwritten; whether that came in time."""
        with self._changed:
            return self._changed.wait_for(self._idle, timeout)

    def _idle(self) -> bool:
        return not self._held and self._shares.idle

    def stop(self, timeout: float) -> None:
        """Begin nothing more, let attempts end, write them down, give the rest back."""
        deadline = time.monotonic() + timeout
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join(timeout)
        with self._changed:
            left = deadline - time.monotonic() - 1.0
            self._changed.wait_for(lambda: not self._shares.sending, max(0.0, left))
        self._recorder.stop(max(0.1, deadline - time.monotonic()))
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        while not self._stopping:
            with self._changed:
                self._changed.wait_for(self._called_for, self._next_renewal - time.monotonic())
                picked = [] if self._stopping else self._shares.pick(TAKE_BATCH)
            try:
                self._begin(picked)
                self._return()
                self._renew()
            except SQLAlchemyError as failure:
                log.warning("webhook.dispatcher_waits", error=type(failure).__name__)
                # An outage: what somebody else waits for too.
                time.sleep(random.uniform(0.05, 0.5))  # noqa: S311 - no secret
            except Exception:
                log.exception("webhook.dispatcher_failed")
                time.sleep(1.0)
        self._leave()

    def _called_for(self) -> bool:
        return self._stopping or self._shares.giving_back or self._shares.stirred

    def _begin(self, picked: Picked) -> None:
        if not picked:
            return
        try:
            taken = self._take([lease for _, lease in picked])
        except BaseException:
            with self._changed:
                self._shares.put_back(picked)
            raise
        by_id = {str(attempt.id): attempt for attempt in taken}
        with self._changed:
            for webhook, lease in picked:
                attempt = by_id.get(lease.id)
                if attempt is not None and attempt.lease_token is not None:
                    held = _lease(attempt)
                    self._held[held.token] = held
                self._shares.took(webhook, attempt)
            self._launch(dict.fromkeys(webhook for webhook, _ in picked))
            self._changed.notify_all()
        for attempt in taken:
            if attempt.lease_token is None and attempt.verdict != leases.PAUSED:
                metrics.DELIVERIES.labels(attempt.verdict).inc()

    def _take(self, wanted: list[Lease]) -> list[Taken]:
        attempts = 1 + len(container.settings().webhook_retry_delays)
        with self._database():
            return leases.take(wanted, attempts=attempts)

    def _launch(self, webhooks: Iterator[str] | dict[str, None] | list[str]) -> None:
        """Give threads to these webhooks as far as it is their turn; called under the lock."""
        for webhook in webhooks:
            while (attempt := self._shares.next_of(webhook)) is not None:
                self._pool.submit(self._attempt, webhook, attempt)

    def _attempt(self, webhook: str, first: Taken) -> None:
        """Send, and go on with the same webhook while nobody else waits for the thread."""
        attempt: Taken | None = first
        while attempt is not None:
            result = self._send(attempt)
            with self._changed:
                self._shares.sent(webhook, result)
                scarce = self._shares.free_threads <= 1
                attempt = None if scarce or self._stopping else self._shares.next_of(webhook)
                if scarce and not self._stopping:
                    self._launch(self._shares.begun())
                self._changed.notify_all()
            self._recorder.put(result)

    def _written(self, results: Sequence[Result]) -> None:
        with self._changed:
            for result in results:
                self._held.pop(str(result.lease_token), None)
                self._shares.written(str(result.webhook_id))
            self._changed.notify_all()

    def _return(self) -> None:
        """Give back what is not to be sent now: it costs no attempt."""
        with self._changed:
            untaken = [_lease(attempt) for attempt in self._shares.untake]
            released = list(self._shares.release)
        if not (untaken or released):
            return
        with self._database():
            leases.untake(untaken)
            leases.release(released)
        with self._changed:
            del self._shares.untake[: len(untaken)]
            del self._shares.release[: len(released)]
            for lease in untaken:
                self._held.pop(lease.token, None)
            self._changed.notify_all()

    def _renew(self) -> None:
        if time.monotonic() < self._next_renewal:
            return
        self._next_renewal = time.monotonic() + RENEW_SECONDS
        with self._changed:
            held = [*self._held.values(), *self._shares.waiting()]
        if held:
            with self._database():
                leases.renew(held)

    def _leave(self) -> None:
        """At the end: what is not sent is for another worker, and need not wait for its lease."""
        with self._changed:
            begun = [*self._shares.untake, *self._shares.drop_begun()]
            waiting = [*self._shares.release, *self._shares.waiting()]
        try:
            with self._database():
                leases.untake([_lease(unsent) for unsent in begun])
                leases.release(waiting)
        except SQLAlchemyError as failure:
            log.warning("webhook.leases_kept", error=type(failure).__name__)

    @contextmanager
    def _database(self) -> Iterator[None]:
        with (
            self._app.app_context(),
            tenancy.across_organizations(reason="deliveries of every organization"),
            db.transaction(),
        ):
            yield


def _lease(attempt: Taken) -> Lease:
    return Lease(str(attempt.organization_id), str(attempt.id), str(attempt.lease_token))
