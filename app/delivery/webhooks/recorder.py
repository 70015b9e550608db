"""Writes down what became of attempts: many outcomes in one transaction, by one thread."""

import random
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Event, Thread

from flask import Flask
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.delivery.notifications import service as notifications
from app.delivery.webhooks.queries import outcomes
from app.delivery.webhooks.queries.outcomes import Result, Tally
from app.delivery.webhooks.shares import DEACTIVATE_AT
from app.kit import audit, container, db, metrics, tenancy
from app.kit.logging import get_logger
from app.kit.permissions import Role

log = get_logger(__name__)

BATCH = 100
GATHER_SECONDS = 0.02
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 16.0


def pause_after(failures: int) -> float:
    """How many seconds a webhook is left alone after so many failures in a row.

    The pauses up to the tenth failure make a minute: a receiver that restarts is back by then, and
    one that is gone is deactivated soon enough.
    """
    return min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE) if failures else 0.0


def write(results: Sequence[Result]) -> None:
    """Write outcomes, in the order in which they came, into the running transaction.

    Deliveries get their state, webhooks their counters. A webhook that reaches its tenth failure in
    a row is deactivated here, once: whoever writes holds its row.
    """
    tallies = outcomes.lock(list({r.webhook for r in results}))
    results = [r for r in results if r.webhook in tallies]
    if not results:
        return
    held = outcomes.settle(results, container.settings().webhook_retry_delays)
    outcomes.arrived([r for r in results if r.ok and r.lease_token not in held])
    outcomes.record(results)
    for result in results:
        _tally(tallies[result.webhook], result)
    outcomes.count(tallies)
    for (organization_id, webhook_id), tally in tallies.items():
        if tally.deactivated:
            outcomes.abandon(organization_id, webhook_id)
            with tenancy.organization(organization_id):
                _tell_owners(webhook_id, tally)


def _tally(tally: Tally, result: Result) -> None:
    """Test deliveries do not count, nor what ends after the webhook was deactivated. But one that
    succeeds shows that the receiver is back: what waits need not wait for the end of a pause."""
    tally.status_code = result.status_code
    if result.ok:
        tally.pause = 0.0
    if result.test or result.fatal or not tally.active:
        return
    tally.failures = 0 if result.ok else tally.failures + 1
    tally.pause = pause_after(tally.failures)
    if tally.failures >= DEACTIVATE_AT:
        last = result.error or f"the receiver answered {result.status_code}"
        tally.active, tally.deactivated, tally.pause = False, True, 0.0
        tally.disabled_reason = (
            f"Deactivated after {DEACTIVATE_AT} failed attempts in a row. The last one: {last}"
        )


def _tell_owners(webhook_id: object, tally: Tally) -> None:
    notifications.tell(
        "webhook_deactivated",
        role=Role.owner,
        kind="webhook_deactivated",
        values={"reason": tally.disabled_reason},
        link=f"/api/v1/webhooks/{webhook_id}",
    )
    log.warning("webhook.deactivated", webhook=str(webhook_id))


class Recorder:
    """The thread that writes. `done` is called with results once they are committed or given up."""

    def __init__(self, app: Flask, done: Callable[[Sequence[Result]], None]) -> None:
        self._app = app
        self._done = done
        self._queue: SimpleQueue[Result] = SimpleQueue()
        self._ending = Event()
        self._thread = Thread(target=self._run, name="webhook-recorder", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def put(self, result: Result) -> None:
        """Have an outcome written soon."""
        self._queue.put(result)

    def stop(self, timeout: float) -> None:
        """Write what was put, and end. What the database does not take in time is lost: its
        deliveries are attempted again when their leases run out."""
        self._ending.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        while not (self._ending.is_set() and self._queue.empty()):
            batch = self._gather()
            if batch:
                self._write(batch)

    def _gather(self) -> list[Result]:
        try:
            batch = [self._queue.get(timeout=0.2)]
        except Empty:
            return []
        until = time.monotonic() + GATHER_SECONDS
        while len(batch) < BATCH and (left := until - time.monotonic()) > 0:
            try:
                batch.append(self._queue.get(timeout=left))
            except Empty:
                break
        return batch

    def _write(self, batch: list[Result]) -> None:
        """Write a batch, and try again as long as the database is away."""
        while True:
            try:
                self._commit(batch)
            except (OperationalError, PoolTimeoutError) as failure:
                log.warning("webhook.outcomes_wait", error=type(failure).__name__)
                # A deadlock or an outage: what somebody else waits for too.
                time.sleep(random.uniform(0.05, 0.5))  # noqa: S311 - no secret
                continue
            except SQLAlchemyError:
                self._write_singly(batch)
            break
        self._done(batch)

    def _write_singly(self, batch: list[Result]) -> None:
        """One outcome that cannot be written must not take the others with it."""
        for result in batch:
            try:
                self._commit([result])
            except SQLAlchemyError:
                log.exception("webhook.outcome_lost", delivery=str(result.delivery_id))

    def _commit(self, batch: Sequence[Result]) -> None:
        with (
            self._app.app_context(),
            audit.acting("system", None, "webhooks.deliver", operation="webhooks.deliver"),
            tenancy.across_organizations(reason="outcomes of every organization's deliveries"),
            db.transaction(),
        ):
            write(batch)
        for result in batch:
            outcome = "delivered" if result.ok else "failed"
            metrics.DELIVERIES.labels(outcome).inc()
            if not result.ok:
                log.info(
                    "webhook.attempt_failed",
                    delivery=str(result.delivery_id),
                    webhook=str(result.webhook_id),
                    number=result.number,
                    status=result.status_code,
                    error=result.error_kind,
                )
