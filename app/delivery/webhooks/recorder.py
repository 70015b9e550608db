"""The recorder: one thread that writes many outcomes in one transaction."""

import random
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from threading import Condition, Event, Thread
from uuid import UUID

from flask import Flask
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.delivery.notifications.service import sending as notifications
from app.delivery.webhooks import abandoning
from app.delivery.webhooks.queries import outcomes
from app.delivery.webhooks.queries.outcomes import Counters, Result
from app.delivery.webhooks.queries.pacing import DEACTIVATE_AT
from app.kit import audit, container, db, metrics, tenancy
from app.kit.logging import get_logger
from app.kit.permissions import Role

log = get_logger(__name__)

BATCH = 100
GATHER_SECONDS = 0.02
"""The maximum wait in seconds for more results, because one transaction for many costs less."""
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 16.0
_BUSY_SECONDS = 0.05
_WAIT_SECONDS = 0.2


def compute_pause(failures: int) -> float:
    """Return the pause in seconds before the next first attempt, after consecutive failures.

    The pauses up to the tenth failure add up to a minute. By then, a receiver that restarts is
    available again, and the webhook of a receiver that no longer exists is deactivated.
    """
    return min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE) if failures else 0.0


def write(results: Sequence[Result]) -> list[Result]:
    """Write outcomes in order in the running transaction, and return outcomes to write later.

    Updates the status of deliveries and the counters of webhooks. Deactivates a webhook at its
    tenth consecutive failure; because its row is locked, this happens only once. Outcomes are
    written later if another transaction has locked their webhooks or deliveries.
    """
    counters, busy_keys = outcomes.lock_webhooks(list({r.webhook for r in results}))
    postponed = [r for r in results if r.webhook in busy_keys]
    results = [r for r in results if r.webhook in counters]
    if not results:
        return postponed
    was_valid = outcomes.update_deliveries(results, container.settings().webhook_retry_delays)
    locked = outcomes.list_existing_tokens([r for r in results if r.lease_token not in was_valid])
    postponed += [r for r in results if r.lease_token in locked]
    results = [r for r in results if r.lease_token in was_valid]
    outcomes.mark_delivered([r for r in results if r.ok and not was_valid[r.lease_token]])
    outcomes.record_attempts(results)
    for result in results:
        _add_result(counters[result.webhook], result)
    outcomes.update_counters({r.webhook: counters[r.webhook] for r in results})
    _handle_deactivations({key: c for key, c in counters.items() if c.deactivated})
    return postponed


def _add_result(counters: Counters, result: Result) -> None:
    """Add the result of an attempt to its webhook's counters.

    Test deliveries do not count, and neither do attempts that end after the webhook was
    deactivated. But a successful test shows that the receiver works again, and ends the pause.
    """
    counters.status_code = result.status_code
    if result.ok:
        counters.pause = 0.0
    if result.attempt.test or result.fatal or not counters.active:
        return
    counters.failures = 0 if result.ok else counters.failures + 1
    counters.pause = compute_pause(counters.failures)
    if counters.failures >= DEACTIVATE_AT:
        last_error = result.error or f"the endpoint responded with status {result.status_code}"
        counters.active, counters.deactivated, counters.pause = False, True, 0.0
        counters.disabled_reason = (
            f"Deactivated after {DEACTIVATE_AT} failed attempts in a row."
            f" Last failure: {last_error}"
        )


def _handle_deactivations(deactivated: dict[outcomes.WebhookKey, Counters]) -> None:
    """Abandon the pending deliveries of deactivated webhooks, and notify the owners."""
    limit = abandoning.FIRST_BATCH
    for (organization_id, webhook_id), counters in deactivated.items():
        with tenancy.organization(organization_id):
            limit -= abandoning.abandon_or_enqueue(organization_id, webhook_id, limit=limit)
            notifications.notify(
                "webhook_deactivated",
                role=Role.owner,
                kind="webhook_deactivated",
                values={"reason": counters.disabled_reason},
                link=f"/api/v1/webhooks/{webhook_id}",
            )
            log.warning("webhook.deactivated", webhook=str(webhook_id))


class OutcomeQueue:
    """A thread-safe queue that keeps the order of each organization's results."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._queued: OrderedDict[UUID, deque[Result]] = OrderedDict()
        self._not_before: dict[UUID, float] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, result: Result) -> None:
        """Add a result."""
        with self._changed:
            self._queued.setdefault(result.attempt.organization_id, deque()).append(result)
            self._size += 1
            self._changed.notify()

    def requeue(self, results: Sequence[Result], delay: float) -> None:
        """Return results to the front; the results of their organizations wait `delay` seconds."""
        with self._changed:
            for result in reversed(results):
                self._queued.setdefault(result.attempt.organization_id, deque()).appendleft(result)
                self._not_before[result.attempt.organization_id] = time.monotonic() + delay
                self._size += 1

    def get(self, limit: int, timeout: float, *, organizations: int | None = None) -> list[Result]:
        """Remove and return up to `limit` results, divided fairly among organizations.

        Waits up to `timeout` seconds for the first result. `organizations` is the maximum number of
        organizations, None for no limit.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._size, timeout):
                return []
            self._changed.wait_for(lambda: self._size >= limit, GATHER_SECONDS)
            return self._remove(limit, organizations)

    def _remove(self, limit: int, organizations: int | None) -> list[Result]:
        now = time.monotonic()
        ready = [key for key in self._queued if self._not_before.get(key, 0.0) <= now]
        ready = ready[:organizations]
        results: list[Result] = []
        while ready and len(results) < limit:
            quota = max(1, (limit - len(results)) // len(ready))
            for organization_id in list(ready):
                queued = self._queued[organization_id]
                count = min(quota, len(queued), limit - len(results))
                results += [queued.popleft() for _ in range(count)]
                if not queued:
                    ready.remove(organization_id)
                    del self._queued[organization_id]
                    self._not_before.pop(organization_id, None)
                else:
                    self._queued.move_to_end(organization_id)
        self._size -= len(results)
        return results


class Recorder:
    """The thread that writes outcomes; it calls `on_end` with the written and lost results."""

    def __init__(self, app: Flask, on_end: Callable[[Sequence[Result]], None]) -> None:
        self._app = app
        self._on_end = on_end
        self._queue = OutcomeQueue()
        self._single_batches = 0
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="webhook-recorder", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def put(self, result: Result) -> None:
        """Queue an outcome to be written soon."""
        self._queue.put(result)

    def stop(self, timeout: float) -> None:
        """Write all queued outcomes and stop the thread.

        Outcomes that cannot be written in time are lost; their deliveries are attempted again when
        the leases expire.
        """
        self._stopping.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        while not (self._stopping.is_set() and not self._queue):
            organizations = 1 if self._single_batches else None
            self._single_batches = max(0, self._single_batches - 1)
            batch = self._queue.get(BATCH, _WAIT_SECONDS, organizations=organizations)
            if batch:
                self._write(batch)
            elif self._queue:
                time.sleep(_BUSY_SECONDS)

    def _write(self, batch: list[Result]) -> None:
        """Write a batch; retry later to write outcomes that cannot be written now."""
        try:
            postponed = self._commit(batch)
        except SQLAlchemyError as failure:
            if _is_transient(failure):
                log.warning("webhook.outcomes_wait", error=type(failure).__name__)
                # This is a deadlock, or an outage that also affects other processes. The next
                # batches have one organization each: if the rows of one organization are the cause,
                # the results of the others are written.
                self._single_batches = len({result.attempt.organization_id for result in batch})
                self._queue.requeue(batch, random.uniform(0.05, 0.5))  # noqa: S311 - no secret
                return
            postponed = self._write_singly(batch)
        if postponed:
            self._queue.requeue(postponed, _BUSY_SECONDS)
        tokens = {result.lease_token for result in postponed}
        self._on_end([result for result in batch if result.lease_token not in tokens])

    def _write_singly(self, batch: list[Result]) -> list[Result]:
        """Write outcomes one by one, as one may be invalid; return outcomes to write later."""
        postponed: list[Result] = []
        for result in batch:
            try:
                postponed += self._commit([result])
            except SQLAlchemyError as failure:
                if _is_transient(failure):
                    postponed.append(result)
                    continue
                log.exception("webhook.outcome_lost", delivery=str(result.attempt.id))
        return postponed

    def _commit(self, batch: Sequence[Result]) -> list[Result]:
        with (
            self._app.app_context(),
            audit.acting("system", None, "webhooks.deliver", operation="webhooks.deliver"),
            tenancy.across_organizations(reason="outcomes of every organization's deliveries"),
            db.transaction(),
        ):
            postponed = write(batch)
        postponed_tokens = {result.lease_token for result in postponed}
        for result in batch:
            if result.lease_token not in postponed_tokens:
                _report_result(result)
        return postponed


def _is_transient(failure: SQLAlchemyError) -> bool:
    """Return whether the statements may succeed later, because the database did not respond."""
    if isinstance(failure, OperationalError | InterfaceError | PoolTimeoutError):
        return True
    return isinstance(failure, DBAPIError) and failure.connection_invalidated


def _report_result(result: Result) -> None:
    """Update the metrics, and log a failed attempt."""
    metrics.DELIVERIES.labels("delivered" if result.ok else "failed").inc()
    if not result.ok:
        log.info(
            "webhook.attempt_failed",
            delivery=str(result.attempt.id),
            webhook=str(result.attempt.webhook_id),
            number=result.attempt.number,
            status=result.status_code,
            error=result.error_kind,
        )
