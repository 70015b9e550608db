"""The recorder: a thread that writes the outcomes of attempts, many in one transaction."""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from threading import Event, Thread
from uuid import UUID

from flask import Flask
from sqlalchemy.exc import (
    DBAPIError,
    InterfaceError,
    InternalError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.delivery.notifications.service import sending as notifications
from app.delivery.webhooks import abandoning
from app.delivery.webhooks.outcome_queue import OutcomeQueue
from app.delivery.webhooks.queries import outcomes
from app.delivery.webhooks.queries.outcomes import AttemptResult, WebhookHealth
from app.delivery.webhooks.queries.pacing import DEACTIVATE_AT
from app.kit import audit, container, db, metrics, tenancy
from app.kit.logging import get_logger
from app.kit.permissions import Role

log = get_logger(__name__)

BATCH_SIZE = 100
FIRST_PAUSE_SECONDS = 0.25
MAX_PAUSE_SECONDS = 16.0
_BUSY_SECONDS = 0.05
"""The delay in seconds before the next attempt to write outcomes whose rows were locked."""
_WAIT_SECONDS = 0.2
"""The maximum time in seconds to wait for a result before checking whether to stop."""
MAX_TRIES = 3
"""The maximum number of failed attempts to write an outcome, not counting database errors. The
outcome is then discarded."""
_ERROR_PAUSE_SECONDS = 1.0
"""The pause in seconds after an error that is not an error of the database."""


def compute_pause(failures: int) -> float:
    """Return how long a webhook is paused after `failures` consecutive failures, in seconds.

    During the pause, no first attempt at a delivery is made; retries have their own due times.

    The pauses up to the tenth failure add up to about a minute. By then, a receiver that restarts
    is available again, and the webhook of a receiver that no longer exists is deactivated.
    """
    return min(FIRST_PAUSE_SECONDS * 2 ** (failures - 1), MAX_PAUSE_SECONDS) if failures else 0.0


def write(results: Sequence[AttemptResult]) -> list[AttemptResult]:
    """Write outcomes in order in the current transaction, and return the outcomes to write later.

    Updates the status of deliveries and the health of webhooks. At its tenth consecutive failure, a
    webhook is deactivated, its pending deliveries are abandoned, and owners are notified; because
    its row is locked, this happens only once. Outcomes are written later if another transaction has
    locked their webhooks or deliveries.
    """
    health, busy_keys = outcomes.lock_webhooks(list({r.webhook_key for r in results}))
    postponed_results = [r for r in results if r.webhook_key in busy_keys]
    results = [r for r in results if r.webhook_key in health]
    if not results:
        return postponed_results
    validity_by_token = outcomes.update_deliveries(
        results, container.settings().webhook_retry_delays
    )
    remaining_results = [r for r in results if r.lease_token not in validity_by_token]
    locked_tokens = outcomes.list_existing_tokens(remaining_results)
    postponed_results += [r for r in results if r.lease_token in locked_tokens]
    results = [r for r in results if r.lease_token in validity_by_token]
    outcomes.mark_delivered([r for r in results if r.ok and not validity_by_token[r.lease_token]])
    outcomes.record_attempts(results)
    for result in results:
        _add_result(health[result.webhook_key], result)
    outcomes.update_health({r.webhook_key: health[r.webhook_key] for r in results})
    _handle_deactivations({key: item for key, item in health.items() if item.deactivated})
    return postponed_results


def _add_result(health: WebhookHealth, result: AttemptResult) -> None:
    """Add the result of an attempt to the health of its webhook.

    Fatal results, failed tests, and attempts that end after the webhook was deactivated do not
    change the failure count. Any success ends the pause, because the receiver works again.
    """
    health.status_code = result.status_code
    if result.ok:
        health.pause = 0.0
    if result.fatal or not health.active or (result.attempt.test and not result.ok):
        return
    health.failures = 0 if result.ok else health.failures + 1
    health.pause = compute_pause(health.failures)
    if health.failures >= DEACTIVATE_AT:
        last_error = result.error or f"the endpoint responded with status {result.status_code}"
        health.active, health.deactivated, health.pause = False, True, 0.0
        health.disabled_reason = (
            f"Deactivated after {DEACTIVATE_AT} failed attempts in a row."
            f" Last failure: {last_error}"
        )


def _handle_deactivations(health_by_key: dict[outcomes.WebhookKey, WebhookHealth]) -> None:
    """Handle deactivations: abandon the webhooks' pending deliveries, and notify owners."""
    limit = abandoning.FIRST_BATCH_SIZE
    for (organization_id, webhook_id), health in health_by_key.items():
        with tenancy.organization(organization_id):
            limit -= abandoning.abandon_or_enqueue(organization_id, webhook_id, limit=limit)
            notifications.notify(
                "webhook_deactivated",
                role=Role.owner,
                kind="webhook_deactivated",
                values={"reason": health.disabled_reason},
                link=f"/api/v1/webhooks/{webhook_id}",
            )
            log.warning("webhook.deactivated", webhook=str(webhook_id))


class Recorder:
    """The thread that writes outcomes; it calls `on_end` with the written and lost results."""

    def __init__(self, app: Flask, on_end: Callable[[Sequence[AttemptResult]], None]) -> None:
        self._app = app
        self._on_end = on_end
        self._queue = OutcomeQueue()
        self._single_organization_batches = 0
        self._error_counts: Counter[UUID] = Counter()
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="webhook-recorder", daemon=True)

    def start(self) -> None:
        """Start the recorder thread."""
        self._thread.start()

    def put(self, result: AttemptResult) -> None:
        """Queue an outcome to be written soon."""
        self._queue.put(result)

    def stop(self, timeout: float) -> None:
        """Write all queued outcomes and stop the thread, within `timeout` seconds.

        Outcomes that cannot be written in time are lost; their deliveries are attempted again when
        the leases expire.
        """
        self._stopping.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        while not (self._stopping.is_set() and not self._queue):
            try:
                self._write_next()
            except Exception:
                # If this thread ended, no outcome of this process would be written any more, and
                # the dispatcher would renew the leases forever.
                log.exception("webhook.recorder_failed")
                time.sleep(_ERROR_PAUSE_SECONDS)

    def _write_next(self) -> None:
        """Write the next batch of outcomes, or wait for outcomes."""
        max_organizations = 1 if self._single_organization_batches else None
        self._single_organization_batches = max(0, self._single_organization_batches - 1)
        batch = self._queue.get(BATCH_SIZE, _WAIT_SECONDS, max_organizations=max_organizations)
        if batch:
            self._write(batch)
        elif self._queue:
            time.sleep(_BUSY_SECONDS)

    def _write(self, batch: list[AttemptResult]) -> None:
        """Write a batch of outcomes, and requeue the outcomes that cannot be written now."""
        failed_results: list[AttemptResult] = []
        try:
            postponed_results = self._commit(batch)
        except Exception as failure:
            if _is_transient(failure):
                log.warning("webhook.outcomes_wait", error=type(failure).__name__)
                # This is a deadlock, or an outage that also affects other processes. Each of the
                # next batches has the results of one organization, so that the rows of one
                # organization cannot prevent the results of other organizations from being written.
                self._single_organization_batches = len(
                    {result.attempt.organization_id for result in batch}
                )
                self._queue.requeue(batch, random.uniform(0.05, 0.5))  # noqa: S311 - no secret
                return
            log.exception("webhook.outcomes_failed")
            postponed_results, failed_results = self._write_one_by_one(batch)
        self._queue.requeue(postponed_results, _BUSY_SECONDS)
        self._queue.requeue(failed_results, _ERROR_PAUSE_SECONDS)
        requeued_tokens = {result.lease_token for result in (*postponed_results, *failed_results)}
        self._end([result for result in batch if result.lease_token not in requeued_tokens])

    def _write_one_by_one(
        self, batch: list[AttemptResult]
    ) -> tuple[list[AttemptResult], list[AttemptResult]]:
        """Write outcomes one by one, because a single outcome may cause the error of the batch.

        An outcome that the database rejects is lost, because the database would reject it again.
        After other errors, there are `MAX_TRIES` attempts to write the outcome.

        Returns:
            The outcomes to write later, and the outcomes to write again after a pause.
        """
        postponed_results: list[AttemptResult] = []
        failed_results: list[AttemptResult] = []
        for result in batch:
            try:
                postponed_results += self._commit([result])
            except Exception as failure:
                if _is_transient(failure):
                    postponed_results.append(result)
                elif self._count_failure(result, failure):
                    failed_results.append(result)
                else:
                    log.exception("webhook.outcome_lost", delivery=str(result.attempt.id))
        return postponed_results, failed_results

    def _count_failure(self, result: AttemptResult, failure: Exception) -> bool:
        """Count a failure to write an outcome, and return whether another attempt may succeed."""
        if isinstance(failure, SQLAlchemyError):
            return False
        self._error_counts[result.lease_token] += 1
        return self._error_counts[result.lease_token] < MAX_TRIES

    def _commit(self, batch: Sequence[AttemptResult]) -> list[AttemptResult]:
        with (
            self._app.app_context(),
            audit.bind_actor("system", None, "webhooks.deliver", operation="webhooks.deliver"),
            tenancy.across_organizations(reason="outcomes of every organization's deliveries"),
            db.transaction(),
        ):
            postponed_results = write(batch)
        postponed_tokens = {result.lease_token for result in postponed_results}
        for result in batch:
            if result.lease_token not in postponed_tokens:
                _report_result(result)
        return postponed_results

    def _end(self, results: Sequence[AttemptResult]) -> None:
        """End the work on results that were written or lost, so that their leases end too.

        Results are not written again after an error here, because failures would count twice.
        """
        for result in results:
            self._error_counts.pop(result.lease_token, None)
        self._on_end(results)


def _is_transient(failure: Exception) -> bool:
    """Return whether the statements that raised `failure` may succeed later.

    They may succeed after a deadlock, or if the database did not respond or was read-only, as a
    standby is before its promotion.
    """
    if isinstance(failure, OperationalError | InterfaceError | InternalError | PoolTimeoutError):
        return True
    return isinstance(failure, DBAPIError) and failure.connection_invalidated


def _report_result(result: AttemptResult) -> None:
    """Update the metrics for a result, and log the attempt if it failed."""
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
