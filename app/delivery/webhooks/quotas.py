"""Quotas, which decide which attempts begin and which attempt is sent next.

No organization may delay another. Organizations are served in rotation, and so are the webhooks
within an organization. An organization may use at most half of the threads that other organizations
leave free. Its slow webhooks may use at most an eighth of these threads, and its slow and unknown
webhooks together at most a quarter. The last threads are reserved for organizations that use no
thread. So there is a thread for the next organization, regardless of how many receivers hang.

This module is not thread-safe; the dispatcher calls it under its lock.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from app.delivery.webhooks.queries.due import DueWebhook
from app.delivery.webhooks.queries.leases import Attempt, BeginLimit
from app.delivery.webhooks.queries.outcomes import Result
from app.delivery.webhooks.states import (
    SLOW_SECONDS,
    Limits,
    OrganizationState,
    Pace,
    States,
    Threads,
    WebhookState,
)

MAX_DUE = 256
"""The maximum number of due webhooks remembered per organization; later searches find the rest."""


class PickedWebhook(NamedTuple):
    """A webhook, and the number of attempts that should begin at it.

    `ended` is the number of its attempts that had ended when it was picked. `is_failing` is whether
    the latest of these attempts failed.
    """

    limit: BeginLimit
    ended: int
    is_failing: bool


class Quotas:
    """The organizations and webhooks that a dispatcher serves with `threads` threads.

    `to_requeue` contains the attempts to requeue in the database.
    """

    def __init__(self, threads: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.threads = Threads(threads)
        self.to_requeue: list[Attempt] = []
        self._clock = clock
        self._changed = False
        self._states = States()
        self._due: OrderedDict[UUID, OrganizationState] = OrderedDict()
        self._ready: OrderedDict[UUID, OrganizationState] = OrderedDict()

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is due, under way, unwritten or to be requeued."""
        return not (self.to_requeue or self._states.organizations)

    @property
    def may_pick(self) -> bool:
        """Return whether `pick` might return more than the last time."""
        return self._changed and bool(self._due) and self.threads.free > 0

    def add_due(self, webhooks: Iterable[DueWebhook]) -> None:
        """Remember webhooks that have deliveries to attempt now."""
        for due in webhooks:
            webhook = self._states.get_webhook(due.organization_id, due.webhook_id)
            if webhook.is_idle:
                webhook.failures = due.failures
            self._mark_due(webhook)

    def pick(self, limit: int) -> list[PickedWebhook]:
        """Return the webhooks at which attempts should begin now, at most `limit` attempts."""
        picks: list[PickedWebhook] = []
        left = limit
        quota = max(1, limit // max(1, len(self._due)))
        for organization in list(self._due.values()):
            if not left:
                break
            for webhook in self._pick_webhooks(organization, min(left, quota)):
                picks.append(webhook)
                left -= webhook.limit.number
            self._due.move_to_end(organization.id)
        self._changed = bool(picks)
        return picks

    def cancel(self, picks: Iterable[PickedWebhook]) -> None:
        """Record that none of the picked attempts have begun."""
        for limit, _, _ in picks:
            self._states.get_webhook(limit.organization_id, limit.webhook_id).beginning = 0
        self._changed = True

    def begin(self, picks: Sequence[PickedWebhook], attempts: Iterable[Attempt]) -> None:
        """Record which of the picked attempts have begun.

        An attempt that began before a failure became known is requeued.
        """
        by_webhook: dict[UUID, list[Attempt]] = {limit.webhook_id: [] for limit, _, _ in picks}
        for attempt in attempts:
            by_webhook[attempt.webhook_id].append(attempt)
        for limit, ended, _ in picks:
            webhook = self._states.get_webhook(limit.organization_id, limit.webhook_id)
            begun = by_webhook[limit.webhook_id]
            webhook.beginning = 0
            if len(begun) < limit.number:
                self._unmark_due(webhook)
            self._prefetch(webhook, begun, is_current=webhook.ended == ended)
        self._changed = True

    def start_next(self) -> Attempt | None:
        """Return the next attempt to send and count it as under way; None if none may be sent."""
        now = self._clock()
        for _ in range(len(self._ready) if self.threads.free > 0 else 0):
            organization = next(iter(self._ready.values()))
            self._ready.move_to_end(organization.id)
            organization.reclassify_slow_attempts(now)
            for _ in range(len(organization.ready) if self.threads.has_free(organization) else 0):
                webhook = next(iter(organization.ready.values()))
                organization.ready.move_to_end(webhook.id)
                if self.threads.may_start(organization, webhook):
                    return self._start(organization, webhook, now)
        return None

    def end(self, attempt: Attempt, result: Result) -> None:
        """Record the result of an attempt that was under way."""
        webhook, organization = self._stop(attempt)
        webhook.ended += 1
        webhook.unwritten += 1
        organization.unwritten += 1
        is_quick = result.duration_ms < SLOW_SECONDS * 1000
        webhook.pace = Pace.QUICK if is_quick else Pace.SLOW
        if not (result.attempt.test or result.fatal):
            webhook.failures = 0 if result.ok else webhook.failures + 1
        self.to_requeue += webhook.remove_surplus()
        self._update_ready(webhook)

    def requeue_unsent(self, attempt: Attempt) -> None:
        """Requeue an attempt that was counted as under way and was not sent."""
        self.to_requeue.append(attempt)
        self.discard(attempt)

    def discard(self, attempt: Attempt) -> None:
        """Record that an attempt that was under way ended without a result."""
        _, organization = self._stop(attempt)
        self._states.remove_idle(organization)

    def mark_written(self, results: Iterable[Result]) -> None:
        """Record that outcomes are in the database.

        Attempts at failing webhooks and at further replayed deliveries may now begin.
        """
        for result in results:
            webhook = self._states.get_webhook(
                result.attempt.organization_id, result.attempt.webhook_id
            )
            organization = self._states.get_organization(result.attempt.organization_id)
            webhook.unwritten -= 1
            organization.unwritten -= 1
            has_waited = webhook.failures and not webhook.unwritten
            if has_waited or result.attempt.replayed:
                self._mark_due(webhook)
            self._states.remove_idle(organization)
        self._changed = True

    def remove_prefetched(self) -> list[Attempt]:
        """Remove and return all attempts that have begun and have not been sent."""
        attempts: list[Attempt] = []
        for organization in list(self._ready.values()):
            for webhook in list(organization.ready.values()):
                attempts += webhook.prefetched
                webhook.prefetched.clear()
                self._update_ready(webhook)
            self._states.remove_idle(organization)
        return attempts

    def _mark_due(self, webhook: WebhookState) -> None:
        organization = self._states.get_organization(webhook.organization_id)
        organization.due[webhook.id] = webhook
        if len(organization.due) > MAX_DUE:
            organization.due.popitem(last=False)
        self._due[organization.id] = organization
        self._changed = True

    def _unmark_due(self, webhook: WebhookState) -> None:
        organization = self._states.get_organization(webhook.organization_id)
        organization.due.pop(webhook.id, None)
        if not organization.due:
            self._due.pop(organization.id, None)
            self._states.remove_idle(organization)

    def _pick_webhooks(self, organization: OrganizationState, limit: int) -> list[PickedWebhook]:
        """Return the webhooks of an organization at which attempts should begin.

        Each webhook first gets one attempt, then as many more as it may have.
        """
        organization.reclassify_slow_attempts(self._clock())
        begun: Counter[Pace] = Counter()
        for webhook in organization.ready.values():
            begun[webhook.pace] += len(webhook.prefetched)
        if self.threads.are_scarce:
            limit = 0 if organization.sending + begun.total() else 1
        # Twice the total, because prefetched attempts at quick webhooks use no thread yet.
        limits = self.threads.get_limits(organization)
        limits = replace(limits, total=2 * limits.total)
        for is_first in (True, False):
            for webhook in list(organization.due.values()):
                if limit <= 0:
                    break
                number = min(limit, self._count_to_begin(organization, webhook, limits, begun))
                if is_first and webhook.pace is not Pace.QUICK:
                    number = 0 if webhook.in_progress else min(1, number)
                if number > 0:
                    organization.due.move_to_end(webhook.id)
                    webhook.beginning += number
                    begun[webhook.pace] += number
                    limit -= number
        return [
            PickedWebhook(
                BeginLimit(organization.id, webhook.id, webhook.beginning, webhook.max_replays),
                webhook.ended,
                webhook.failures > 0,
            )
            for webhook in organization.due.values()
            if webhook.beginning
        ]

    def _count_to_begin(
        self,
        organization: OrganizationState,
        webhook: WebhookState,
        limits: Limits,
        begun: Counter[Pace],
    ) -> int:
        """Return how many attempts at a webhook should begin.

        `begun` counts attempts by pace that have begun and are not under way yet.
        """
        threads = organization.threads
        free = limits.count_free(webhook.pace, lambda pace: threads[pace] + begun[pace])
        if free <= 0 or self.threads.is_excluded(webhook):
            return 0
        return min(free, webhook.count_to_begin(limits.get_max_concurrent(webhook, free)))

    def _start(self, organization: OrganizationState, webhook: WebhookState, now: float) -> Attempt:
        attempt = webhook.prefetched.popleft()
        organization.start(webhook, attempt.lease.token, now)
        self.threads.used += 1
        self._update_ready(webhook)
        return attempt

    def _stop(self, attempt: Attempt) -> tuple[WebhookState, OrganizationState]:
        webhook = self._states.get_webhook(attempt.organization_id, attempt.webhook_id)
        organization = self._states.get_organization(attempt.organization_id)
        organization.stop(webhook, attempt.lease.token)
        self.threads.used -= 1
        self._changed = True
        return webhook, organization

    def _prefetch(self, webhook: WebhookState, begun: list[Attempt], *, is_current: bool) -> None:
        """Keep begun attempts; `is_current` is whether none has ended since they were picked."""
        if begun and is_current and not webhook.unwritten:
            webhook.failures = begun[0].failures
        for attempt in begun:
            if attempt.lease_token is None:
                continue
            if attempt.test or is_current or attempt.failures >= webhook.failures:
                webhook.prefetched.append(attempt)
            else:
                self.to_requeue.append(attempt)
        if not webhook.failures:
            self.to_requeue += webhook.remove_surplus()
        self._update_ready(webhook)

    def _update_ready(self, webhook: WebhookState) -> None:
        organization = self._states.get_organization(webhook.organization_id)
        if webhook.prefetched:
            organization.ready[webhook.id] = webhook
            self._ready[organization.id] = organization
            return
        organization.ready.pop(webhook.id, None)
        if not organization.ready:
            self._ready.pop(organization.id, None)
            self._states.remove_idle(organization)
