"""Attempts by many threads, so dealt out that no receiver holds up another.

One thread decides what begins and takes the leases, in batches; the threads of a pool send; one
thread writes outcomes. A webhook has few attempts under way at a time: fewer when it fails or is
slow, fewer still when threads run short, and never so many that a failing one could get more than
the attempts after which it is deactivated.
"""

import random
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from app.delivery.webhooks import sending
from app.delivery.webhooks.queries import leases
from app.delivery.webhooks.queries.leases import Lease, Taken
from app.delivery.webhooks.queries.outcomes import Result
from app.delivery.webhooks.recorder import DEACTIVATE_AT, Recorder
from app.kit import container, db, metrics, tenancy
from app.kit.logging import get_logger

log = get_logger(__name__)

THREADS = 128
AT_ONCE = 8
AT_ONCE_TROUBLED = 2
SLOW_MS = 2000
TAKE_BATCH = 64
RENEW_SECONDS = 8.0
KNOWN_WEBHOOKS = 10_000


@dataclass(slots=True)
class Hook:
    """What is known of a webhook here. `waiting`: delivery id → its lease."""

    failures: int = 0
    slow: bool = False
    in_flight: int = 0
    waiting: "OrderedDict[str, Lease]" = field(default_factory=OrderedDict)

    def room(self, free_threads: int) -> int:
        """How many more attempts may begin. Half of what threads are left stays for the others."""
        limit = AT_ONCE_TROUBLED if self.failures or self.slow else AT_ONCE
        limit = min(limit, DEACTIVATE_AT - self.failures, max(1, free_threads // 2))
        return max(0, min(limit - self.in_flight, len(self.waiting), free_threads))

    def note(self, result: Result) -> None:
        """Take note of an attempt's end."""
        self.in_flight -= 1
        self.slow = result.duration_ms >= SLOW_MS
        if not (result.test or result.fatal):
            self.failures = 0 if result.ok else self.failures + 1


class Dispatcher:
    """Begins, sends and records. `accept` and `settle` may be called from any thread."""

    def __init__(
        self, app: Flask, *, threads: int = THREADS, send: Callable[[Taken], Result] = sending.send
    ) -> None:
        self._app = app
        self._send = send
        self._threads = threads
        self._changed = Condition()
        self._hooks: OrderedDict[str, Hook] = OrderedDict()
        self._ready: OrderedDict[str, None] = OrderedDict()
        self._under_way: dict[str, Lease] = {}
        self._in_flight = 0
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
        """Queue claimed deliveries: [organization, webhook, failures, delivery, token] each.

        A delivery that waits here already goes on under its newer token.
        """
        with self._changed:
            for organization, webhook, failures, delivery, token in batch:
                hook = self._hook(webhook)
                if not hook.in_flight and not hook.waiting:
                    hook.failures = failures
                hook.waiting[delivery] = Lease(organization, delivery, token)
                self._ready[webhook] = None
            self._changed.notify_all()

    def settle(self, timeout: float) -> bool:
        """Wait until nothing waits, is under way or unwritten; whether that came in time."""
        with self._changed:
            return self._changed.wait_for(self._idle, timeout)

    def stop(self, timeout: float) -> None:
        """Begin nothing more, let attempts end, write them down, give the rest back."""
        deadline = time.monotonic() + timeout
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._in_flight, max(0.0, timeout - 1.0))
        self._thread.join(max(0.0, deadline - time.monotonic()))
        self._recorder.stop(max(0.1, deadline - time.monotonic()))
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _idle(self) -> bool:
        return not self._under_way and not any(h.waiting for h in self._hooks.values())

    def _hook(self, webhook: str) -> Hook:
        hook = self._hooks.get(webhook)
        if hook is None:
            hook = self._hooks[webhook] = Hook()
            self._forget_idle()
        self._hooks.move_to_end(webhook)
        return hook

    def _forget_idle(self) -> None:
        if len(self._hooks) <= KNOWN_WEBHOOKS:
            return
        idle = [k for k, h in self._hooks.items() if not h.in_flight and not h.waiting]
        for webhook in idle[: KNOWN_WEBHOOKS // 10]:
            del self._hooks[webhook]

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._stopping or self._may_begin(),
                    max(0.0, self._next_renewal - time.monotonic()),
                )
                if self._stopping:
                    break
                picked = self._pick()
            try:
                if picked:
                    self._begin(picked)
                self._renew()
            except SQLAlchemyError as failure:
                log.warning("webhook.dispatcher_waits", error=type(failure).__name__)
                # An outage: what somebody else waits for too.
                time.sleep(random.uniform(0.05, 0.5))  # noqa: S311 - no secret
        self._give_back()

    def _may_begin(self) -> bool:
        return bool(self._ready) and self._in_flight < self._threads

    def _pick(self) -> list[tuple[str, Lease]]:
        """What may begin now, a fair share of each webhook that waits; called under the lock."""
        picked: list[tuple[str, Lease]] = []
        for webhook in list(self._ready):
            hook = self._hooks[webhook]
            room = hook.room(self._threads - self._in_flight)
            for _ in range(min(room, TAKE_BATCH - len(picked))):
                _, lease = hook.waiting.popitem(last=False)
                picked.append((webhook, lease))
                self._under_way[lease.token] = lease
                hook.in_flight += 1
                self._in_flight += 1
            if len(picked) >= TAKE_BATCH or self._in_flight >= self._threads:
                break
            # It comes back when one of its attempts ends, or when it is given more.
            del self._ready[webhook]
        return picked

    def _begin(self, picked: list[tuple[str, Lease]]) -> None:
        try:
            taken = self._take([lease for _, lease in picked])
        except SQLAlchemyError:
            self._put_back(picked)
            raise
        by_id = {str(attempt.id): attempt for attempt in taken}
        begun: list[Taken] = []
        with self._changed:
            for webhook, lease in picked:
                attempt = by_id.get(lease.id)
                self._under_way.pop(lease.token, None)
                if attempt is None or attempt.lease_token is None:
                    self._end(webhook, lease.token)
                    continue
                token = str(attempt.lease_token)
                self._under_way[token] = Lease(lease.organization_id, lease.id, token)
                begun.append(attempt)
            self._changed.notify_all()
        for attempt in begun:
            self._pool.submit(self._attempt, attempt)
        for attempt in taken:
            if attempt.lease_token is None:
                metrics.DELIVERIES.labels(attempt.verdict).inc()

    def _put_back(self, picked: list[tuple[str, Lease]]) -> None:
        with self._changed:
            for webhook, lease in reversed(picked):
                self._end(webhook, lease.token)
                waiting = self._hooks[webhook].waiting
                waiting.setdefault(lease.id, lease)
                waiting.move_to_end(lease.id, last=False)

    def _take(self, wanted: list[Lease]) -> list[Taken]:
        attempts = 1 + len(container.settings().webhook_retry_delays)
        with self._database():
            return leases.take(wanted, attempts=attempts)

    def _attempt(self, attempt: Taken) -> None:
        result = self._send(attempt)
        webhook = str(attempt.webhook_id)
        with self._changed:
            self._hooks[webhook].note(result)
            self._in_flight -= 1
            self._ready[webhook] = None
            self._changed.notify_all()
        self._recorder.put(result)

    def _end(self, webhook: str, token: str) -> None:
        """An attempt was not begun; called under the lock."""
        self._under_way.pop(token, None)
        self._hooks[webhook].in_flight -= 1
        self._in_flight -= 1
        self._ready[webhook] = None

    def _written(self, results: Sequence[Result]) -> None:
        """Outcomes are in the database, which knows by now whether a webhook is deactivated."""
        with self._changed:
            for result in results:
                self._under_way.pop(str(result.lease_token), None)
                webhook = str(result.webhook_id)
                hook = self._hooks.get(webhook)
                if hook is not None and hook.failures >= DEACTIVATE_AT:
                    hook.failures = DEACTIVATE_AT - 1
                    self._ready[webhook] = None
            self._changed.notify_all()

    def _renew(self) -> None:
        if time.monotonic() < self._next_renewal:
            return
        self._next_renewal = time.monotonic() + RENEW_SECONDS
        with self._changed:
            held = [*self._under_way.values(), *self._waiting()]
        if held:
            with self._database():
                leases.renew(held)

    def _waiting(self) -> list[Lease]:
        return [lease for hook in self._hooks.values() for lease in hook.waiting.values()]

    def _give_back(self) -> None:
        """At the end: what was not begun is for another worker, and need not wait for its lease."""
        with self._changed:
            held = self._waiting()
        try:
            if held:
                with self._database():
                    leases.release(held)
        except SQLAlchemyError as failure:
            log.warning("webhook.leases_kept", count=len(held), error=type(failure).__name__)

    @contextmanager
    def _database(self) -> Iterator[None]:
        with (
            self._app.app_context(),
            tenancy.across_organizations(reason="deliveries of every organization"),
            db.transaction(),
        ):
            yield
