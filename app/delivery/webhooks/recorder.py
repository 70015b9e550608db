"""Records how attempts ended: many outcomes in one transaction, by one thread."""

import random
import time
from collections.abc import Callable, Sequence
from threading import Event, Thread

from flask import Flask
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.delivery.notifications import service as notifications
from app.delivery.webhooks import abandoning
from app.delivery.webhooks.outcome_queue import OutcomeQueue
from app.delivery.webhooks.queries import outcomes
from app.delivery.webhooks.queries.outcomes import Counters, Result
from app.delivery.webhooks.queries.pacing import DEACTIVATE_AT
from app.kit import audit, container, db, metrics, tenancy
from app.kit.logging import get_logger
from app.kit.permissions import Role

log = get_logger(__name__)

BATCH = 100
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 16.0
_BUSY_SECONDS = 0.05
_WAIT_SECONDS = 0.2


def pause_after(failures: int) -> float:
    """Return how many seconds no first attempt is made after so many failures in a row.

    The pauses up to the tenth failure take a minute: a receiver that restarts is back by then, and
    one that is gone is deactivated soon enough.
    """
    return min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE) if failures else 0.0


def write(results: Sequence[Result]) -> list[Result]:
    """Write outcomes, in the order in which they came, into the running transaction.

    Deliveries get their status, webhooks their counters. A webhook that reaches its tenth failure
    in a row is deactivated here, once: whoever writes has locked its row.

    Returns:
        The outcomes that were not written, as somebody else has their webhooks or deliveries
        locked.
    """
    counters, busy = outcomes.lock(list({r.webhook for r in results}))
    postponed = [r for r in results if r.webhook in busy]
    results = [r for r in results if r.webhook in counters]
    if not results:
        return postponed
    stood = outcomes.settle(results, container.settings().webhook_retry_delays)
    locked = outcomes.list_existing([r for r in results if r.lease_token not in stood])
    postponed += [r for r in results if r.lease_token in locked]
    results = [r for r in results if r.lease_token in stood]
    outcomes.mark_arrived([r for r in results if r.ok and not stood[r.lease_token]])
    outcomes.record_attempts(results)
    for result in results:
        _count(counters[result.webhook], result)
    outcomes.update_counters({r.webhook: counters[r.webhook] for r in results})
    _deactivate({key: one for key, one in counters.items() if one.deactivated})
    return postponed


def _count(counters: Counters, result: Result) -> None:
    """Count an outcome.

    Test deliveries do not count, nor does what ends after the webhook was deactivated. But a test
    that succeeds shows that the receiver is back: what waits need not wait for the end of a pause.
    """
    counters.status_code = result.status_code
    if result.ok:
        counters.pause = 0.0
    if result.test or result.fatal or not counters.active:
        return
    counters.failures = 0 if result.ok else counters.failures + 1
    counters.pause = pause_after(counters.failures)
    if counters.failures >= DEACTIVATE_AT:
        last = result.error or f"the receiver answered {result.status_code}"
        counters.active, counters.deactivated, counters.pause = False, True, 0.0
        counters.disabled_reason = (
            f"Deactivated after {DEACTIVATE_AT} failed attempts in a row. The last one: {last}"
        )


def _deactivate(deactivated: dict[outcomes.Key, Counters]) -> None:
    """Abandon what waits for webhooks that were deactivated, and notify the owners."""
    limit = abandoning.FIRST_BATCH
    for (organization_id, webhook_id), counters in deactivated.items():
        with tenancy.organization(organization_id):
            limit -= abandoning.begin(organization_id, webhook_id, limit=limit)
            notifications.tell(
                "webhook_deactivated",
                role=Role.owner,
                kind="webhook_deactivated",
                values={"reason": counters.disabled_reason},
                link=f"/api/v1/webhooks/{webhook_id}",
            )
            log.warning("webhook.deactivated", webhook=str(webhook_id))


class Recorder:
    """The thread that writes. `done` is called with results once they are committed or given up."""

    def __init__(self, app: Flask, done: Callable[[Sequence[Result]], None]) -> None:
        self._app = app
        self._done = done
        self._queue = OutcomeQueue()
        self._single = 0
        self._ending = Event()
        self._thread = Thread(target=self._run, name="webhook-recorder", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def put(self, result: Result) -> None:
        """Have an outcome written soon."""
        self._queue.put(result)

    def stop(self, timeout: float) -> None:
        """Write what was put, and end.

        What the database does not take in time is lost: its deliveries are attempted again when
        their leases run out.
        """
        self._ending.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        while not (self._ending.is_set() and not self._queue):
            organizations = 1 if self._single else None
            self._single = max(0, self._single - 1)
            batch = self._queue.get(BATCH, _WAIT_SECONDS, organizations=organizations)
            if batch:
                self._write(batch)
            elif self._queue:
                time.sleep(_BUSY_SECONDS)

    def _write(self, batch: list[Result]) -> None:
        """Write a batch; what could not be written is tried again later."""
        try:
            postponed = self._commit(batch)
        except SQLAlchemyError as failure:
            retried = self._retry(batch, failure)
            if retried is None:
                return
            postponed = retried
        if postponed:
            self._queue.put_back(postponed, _BUSY_SECONDS)
        tokens = {result.lease_token for result in postponed}
        self._done([result for result in batch if result.lease_token not in tokens])

    def _retry(self, batch: list[Result], failure: SQLAlchemyError) -> list[Result] | None:
        """Write a batch that failed one by one; return what to postpone.

        Returns None when the whole batch waits, as the database does not answer.
        """
        if not _is_transient(failure):
            return self._write_singly(batch)
        log.warning("webhook.outcomes_wait", error=type(failure).__name__)
        # A deadlock or an outage: what somebody else waits for too. If it is because of one
        # organization's rows, the others get theirs written meanwhile.
        self._single = len({result.organization_id for result in batch})
        self._queue.put_back(batch, random.uniform(0.05, 0.5))  # noqa: S311 - no secret
        return None

    def _write_singly(self, batch: list[Result]) -> list[Result]:
        """Write outcomes one by one: one that cannot be written must not take the others along."""
        postponed: list[Result] = []
        for result in batch:
            try:
                postponed += self._commit([result])
            except SQLAlchemyError as failure:
                if _is_transient(failure):
                    postponed.append(result)
                    continue
                log.exception("webhook.outcome_lost", delivery=str(result.delivery_id))
        return postponed

    def _commit(self, batch: Sequence[Result]) -> list[Result]:
        with (
            self._app.app_context(),
            audit.acting("system", None, "webhooks.deliver", operation="webhooks.deliver"),
            tenancy.across_organizations(reason="outcomes of every organization's deliveries"),
            db.transaction(),
        ):
            postponed = write(batch)
        waiting = {result.lease_token for result in postponed}
        for result in batch:
            if result.lease_token not in waiting:
                _report(result)
        return postponed


def _is_transient(failure: SQLAlchemyError) -> bool:
    """Return whether the same statements may succeed later: the database did not answer."""
    if isinstance(failure, OperationalError | InterfaceError | PoolTimeoutError):
        return True
    return isinstance(failure, DBAPIError) and failure.connection_invalidated


def _report(result: Result) -> None:
    """Count an outcome, and log a failure."""
    metrics.DELIVERIES.labels("delivered" if result.ok else "failed").inc()
    if not result.ok:
        log.info(
            "webhook.attempt_failed",
            delivery=str(result.delivery_id),
            webhook=str(result.webhook_id),
            number=result.number,
            status=result.status_code,
            error=result.error_kind,
        )
