"""The dispatcher that sends webhook deliveries with many threads.

One thread looks for webhooks with due deliveries, begins attempts in batches, and renews leases.
The threads of a pool send the attempts. Another thread records outcomes. `quotas` selects the
attempts to begin and the attempt to send next. No transaction is open during a request.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Condition, Thread

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from app.delivery.webhooks import sending
from app.delivery.webhooks.queries import leases
from app.delivery.webhooks.queries.due import DueWebhookFinder
from app.delivery.webhooks.queries.leases import DELIVERY_LEASES, Attempt
from app.delivery.webhooks.queries.outcomes import AttemptResult
from app.delivery.webhooks.quotas import Quotas
from app.delivery.webhooks.recorder import Recorder
from app.delivery.webhooks.sender_pool import SenderPool
from app.kit import container, db, metrics, tenancy
from app.kit.leases import LeaseKeeper
from app.kit.logging import get_logger

log = get_logger(__name__)

QUEUE = "webhooks"
"""The name of the queue for messages that wake dispatchers, also used as a label in metrics."""
THREAD_COUNT = 256
BEGIN_BATCH_SIZE = 64
STALLED_SECONDS = sending.DEADLINE_SECONDS + 5.0
"""The duration of an attempt in seconds above which this process counts as stalled."""
LEASE_MARGIN_SECONDS = 12.0
"""The minimum remaining lease time in seconds for an attempt to be sent, so that the lease does not
expire during the attempt."""
ERROR_PAUSE_SECONDS = 1.0
"""The pause in seconds after an unexpected error, or if no thread can be started."""


class Dispatcher:
    """Begins, sends and records attempts at deliveries. The public methods are thread-safe."""

    def __init__(
        self,
        app: Flask,
        *,
        thread_count: int = THREAD_COUNT,
        send: Callable[[Attempt], AttemptResult] = sending.send,
    ) -> None:
        self._app = app
        self._send = send
        self._changed = Condition()
        self._quotas = Quotas(thread_count)
        self._finder = DueWebhookFinder()
        self._leases = LeaseKeeper(app, DELIVERY_LEASES)
        self._is_woken = False
        self._is_searching = False
        self._is_stopping = False
        self._pool = SenderPool(thread_count)
        self._recorder = Recorder(app, self._handle_ended_results)
        self._thread = Thread(target=self._run, name="webhook-dispatcher", daemon=True)

    def start(self) -> None:
        """Start the recorder thread and the dispatcher thread."""
        self._recorder.start()
        self._thread.start()

    def wake(self) -> None:
        """Make the dispatcher look for due deliveries."""
        with self._changed:
            self._is_woken = True
            self._changed.notify_all()

    def wait_until_idle(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds until all due deliveries are attempted and recorded.

        Returns False on a timeout.
        """
        with self._changed:
            return self._changed.wait_for(self._is_idle, timeout)

    def _is_idle(self) -> bool:
        is_searching = self._is_woken or self._is_searching
        return not (is_searching or self._leases) and self._quotas.is_idle

    def stop(self, timeout: float) -> None:
        """Stop within `timeout` seconds: finish attempts under way, and requeue unsent attempts."""
        deadline = time.monotonic() + timeout
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        self._thread.join(timeout)
        with self._changed:
            seconds_left = deadline - time.monotonic() - 1.0
            self._changed.wait_for(lambda: not self._quotas.threads.used, max(0.0, seconds_left))
        self._recorder.stop(max(0.1, deadline - time.monotonic()))
        self._pool.shut_down()

    def _run(self) -> None:
        while not self._is_stopping:
            with self._changed:
                self._changed.wait_for(self._has_work, self._leases.compute_seconds_until_due())
            try:
                # Leases are renewed first, so that no attempt is begun twice after a stall.
                self._leases.renew_due()
                self._requeue_attempts()
                self._find_due_webhooks()
                self._begin_attempts()
            except SQLAlchemyError as failure:
                log.warning("webhook.dispatcher_waits", error=type(failure).__name__)
                # This is probably an outage that also affects other processes. The random delay
                # prevents all processes from retrying simultaneously.
                time.sleep(random.uniform(0.05, 0.5))  # noqa: S311 - no secret
            except Exception:
                log.exception("webhook.dispatcher_failed")
                time.sleep(ERROR_PAUSE_SECONDS)
        self._requeue_unsent()

    def _has_work(self) -> bool:
        may_search = self._is_woken and self._quotas.threads.free > 0
        must_requeue = bool(self._quotas.attempts_to_requeue)
        return self._is_stopping or must_requeue or may_search or self._quotas.can_pick

    def _find_due_webhooks(self) -> None:
        """Find the webhooks with due deliveries, if `wake` was called and a thread is free."""
        with self._changed:
            if self._is_stopping or not self._is_woken or not self._quotas.threads.free:
                return
            self._is_woken, self._is_searching = False, True
        try:
            with self._open_transaction():
                # The relay has found due deliveries, but one search of this finder may not visit
                # their webhooks, so `find_due` repeats the search.
                webhooks = self._finder.find_due()
        except BaseException:
            with self._changed:
                self._is_woken, self._is_searching = True, False
            raise
        with self._changed:
            self._is_searching = False
            self._quotas.add_due(webhook for webhook in webhooks if webhook.due)
            self._changed.notify_all()

    def _begin_attempts(self) -> None:
        """Begin the attempts that `quotas` picks, and submit them to the free threads."""
        with self._changed:
            picks = [] if self._is_stopping else self._quotas.pick(BEGIN_BATCH_SIZE)
        if not picks:
            return
        began_at = time.monotonic()
        try:
            with self._open_transaction():
                attempts = leases.begin_attempts(
                    [webhook.limit for webhook in picks],
                    max_attempts=1 + len(container.settings().webhook_retry_delays),
                    include_failing=any(webhook.is_failing for webhook in picks),
                )
        except BaseException:
            with self._changed:
                self._quotas.cancel_picks(picks)
            raise
        with self._changed:
            self._leases.add((a.lease for a in attempts if a.lease_token is not None), began_at)
            self._quotas.add_attempts(picks, attempts)
            are_submitted = self._submit_attempts()
            self._changed.notify_all()
        _update_metrics(attempts)
        if not are_submitted:
            time.sleep(ERROR_PAUSE_SECONDS)

    def _submit_attempts(self) -> bool:
        """Submit the next attempts to the thread pool. The caller must hold the lock `_changed`.

        Returns False if no thread can be started. In this case, the attempts that no thread of this
        process would send are requeued, because another process may be able to send them.
        """
        while not self._is_stopping and (attempt := self._quotas.start_next()) is not None:
            if not self._pool.submit(self._send_attempts, attempt):
                self._quotas.requeue_unsent(attempt)
                if not self._quotas.threads.used:
                    self._quotas.attempts_to_requeue += self._quotas.remove_prefetched()
                return False
        return True

    def _send_attempts(self, first: Attempt) -> None:
        """Send the attempt `first`, and then the next attempts until none may be sent."""
        attempt: Attempt | None = first
        while attempt is not None:
            has_lost_lease = not self._leases.is_valid_for(attempt.lease, LEASE_MARGIN_SECONDS)
            result = None if has_lost_lease else self._send_attempt(attempt)
            with self._changed:
                if result is not None:
                    self._quotas.record_result(attempt, result)
                    self._recorder.put(result)
                elif has_lost_lease:
                    self._quotas.requeue_unsent(attempt)
                else:
                    self._quotas.discard(attempt)
                    self._leases.remove([attempt.lease])
                attempt = None if self._is_stopping else self._quotas.start_next()
                self._submit_attempts()
                self._changed.notify_all()

    def _send_attempt(self, attempt: Attempt) -> AttemptResult | None:
        """Send an attempt and return its result.

        Returns None if the attempt failed while this process was stalled, because the receiver may
        not be the cause. The next attempt at the delivery records this attempt as interrupted.
        """
        began_at = time.monotonic()
        result = self._send(attempt)
        has_stalled = time.monotonic() - began_at > STALLED_SECONDS
        return None if has_stalled and not result.ok else result

    def _handle_ended_results(self, results: Sequence[AttemptResult]) -> None:
        with self._changed:
            self._leases.remove(result.attempt.lease for result in results)
            self._quotas.mark_written(results)
            self._submit_attempts()
            self._changed.notify_all()

    def _requeue_attempts(self) -> None:
        """Requeue attempts that must not be sent now, without counting them."""
        with self._changed:
            attempts = list(self._quotas.attempts_to_requeue)
        if not attempts:
            return
        with self._open_transaction():
            leases.requeue(attempts)
        with self._changed:
            del self._quotas.attempts_to_requeue[: len(attempts)]
            self._leases.remove(attempt.lease for attempt in attempts)
            self._changed.notify_all()

    def _requeue_unsent(self) -> None:
        """Requeue unsent attempts, so that other dispatchers need not wait for leases to expire."""
        with self._changed:
            attempts = [*self._quotas.attempts_to_requeue, *self._quotas.remove_prefetched()]
        try:
            with self._open_transaction():
                leases.requeue(attempts)
        except SQLAlchemyError as failure:
            log.warning("webhook.leases_kept", error=type(failure).__name__)

    @contextmanager
    def _open_transaction(self) -> Iterator[None]:
        with (
            self._app.app_context(),
            tenancy.across_organizations(reason="deliveries of every organization"),
            db.transaction(),
        ):
            yield


def _update_metrics(attempts: Sequence[Attempt]) -> None:
    """Update the metrics for expired leases, and for deliveries that needed no attempt."""
    metrics.LEASE_EXPIRIES.labels(QUEUE).inc(sum(attempt.expired for attempt in attempts))
    for attempt in attempts:
        if attempt.lease_token is None:
            metrics.DELIVERIES.labels(attempt.status).inc()
