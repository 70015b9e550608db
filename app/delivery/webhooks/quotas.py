"""Quotas that select the attempts to begin and the attempt to send next.

No organization may delay another. Organizations are served in round-robin order, and so are the
webhooks within an organization. An organization may use at most half of the threads that other
organizations leave free. All its webhooks that are not known to respond quickly may use at most a
quarter of these threads, and its slow webhooks at most an eighth. The last free threads are
reserved for organizations that use no thread. So the next organization always gets a thread, even
if many receivers hang. This module is not thread-safe; its callers must hold the dispatcher's lock.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from app.delivery.webhooks.queries.due import DueWebhook
from app.delivery.webhooks.queries.leases import Attempt, BeginLimit
from app.delivery.webhooks.queries.outcomes import AttemptResult
from app.delivery.webhooks.states import (
    SLOW_SECONDS,
    AttemptLimits,
    DispatcherStates,
    OrganizationState,
    Pace,
    ThreadUsage,
    WebhookState,
)

MAX_DUE_WEBHOOKS = 256
"""The maximum number of due webhooks to remember per organization; the oldest are dropped."""


class PickedWebhook(NamedTuple):
    """A webhook for which attempts should begin, with the limit for these attempts.

    `ended_count` is the number of the webhook's attempts that had ended when the webhook was
    picked. `is_failing` is true if the latest of these attempts failed.
    """

    limit: BeginLimit
    ended_count: int
    is_failing: bool


class Quotas:
    """Selects attempts for a dispatcher with `thread_count` threads, fairly for all organizations.

    `attempts_to_requeue` contains the attempts that the dispatcher must requeue in the database.
    """

    def __init__(self, thread_count: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.threads = ThreadUsage(thread_count)
        self.attempts_to_requeue: list[Attempt] = []
        self._clock = clock
        self._has_changed = False
        self._states = DispatcherStates()
        self._due: OrderedDict[UUID, OrganizationState] = OrderedDict()
        self._ready: OrderedDict[UUID, OrganizationState] = OrderedDict()

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is due, in progress, to be requeued or to be recorded."""
        return not (self.attempts_to_requeue or self._states.organizations)

    @property
    def can_pick(self) -> bool:
        """Return whether to call `pick`: there are changes, due webhooks and free threads."""
        return self._has_changed and bool(self._due) and self.threads.free > 0

    def add_due(self, webhooks: Iterable[DueWebhook]) -> None:
        """Add webhooks that have deliveries to attempt now."""
        for row in webhooks:
            webhook = self._states.get_webhook(row.organization_id, row.webhook_id)
            if webhook.is_idle:
                webhook.failures = row.failures
            self._mark_due(webhook)

    def pick(self, limit: int) -> list[PickedWebhook]:
        """Pick webhooks for which attempts should begin now, at most `limit` attempts in total."""
        picks: list[PickedWebhook] = []
        remaining = limit
        quota = max(1, limit // max(1, len(self._due)))
        for organization in list(self._due.values()):
            if not remaining:
                break
            for webhook in self._pick_webhooks(organization, min(remaining, quota)):
                picks.append(webhook)
                remaining -= webhook.limit.max_attempts
            self._due.move_to_end(organization.id)
        self._has_changed = bool(picks)
        return picks

    def cancel_picks(self, picks: Iterable[PickedWebhook]) -> None:
        """Cancel picks, because their attempts could not begin."""
        for limit, _, _ in picks:
            self._states.get_webhook(limit.organization_id, limit.webhook_id).picked_count = 0
        self._has_changed = True

    def add_attempts(self, picks: Sequence[PickedWebhook], attempts: Iterable[Attempt]) -> None:
        """Add the picked attempts that have begun.

        An attempt that began before a failure became known is requeued.
        """
        by_webhook: dict[UUID, list[Attempt]] = {limit.webhook_id: [] for limit, _, _ in picks}
        for attempt in attempts:
            by_webhook[attempt.webhook_id].append(attempt)
        for limit, ended_count, _ in picks:
            webhook = self._states.get_webhook(limit.organization_id, limit.webhook_id)
            begun_attempts = by_webhook[limit.webhook_id]
            webhook.picked_count = 0
            if len(begun_attempts) < limit.max_attempts:
                self._unmark_due(webhook)
            self._prefetch(webhook, begun_attempts, is_current=webhook.ended_count == ended_count)
        self._has_changed = True

    def start_next(self) -> Attempt | None:
        """Start the next attempt, and return it; return None if no attempt may be sent now."""
        now = self._clock()
        for _ in range(len(self._ready) if self.threads.free > 0 else 0):
            organization = next(iter(self._ready.values()))
            self._ready.move_to_end(organization.id)
            organization.reclassify_slow_attempts(now)
            can_send = self.threads.can_use_thread(organization)
            for _ in range(len(organization.ready) if can_send else 0):
                webhook = next(iter(organization.ready.values()))
                organization.ready.move_to_end(webhook.id)
                if self.threads.can_start(organization, webhook):
                    return self._start(organization, webhook, now)
        return None

    def record_result(self, attempt: Attempt, result: AttemptResult) -> None:
        """Record the result of an attempt that was under way."""
        webhook, organization = self._record_end(attempt)
        webhook.ended_count += 1
        webhook.unwritten_count += 1
        organization.unwritten_count += 1
        is_quick = result.duration_ms < SLOW_SECONDS * 1000
        webhook.pace = Pace.QUICK if is_quick else Pace.SLOW
        if not (result.attempt.test or result.fatal):
            webhook.failures = 0 if result.ok else webhook.failures + 1
        self.attempts_to_requeue += webhook.remove_surplus()
        self._update_ready_webhooks(webhook)

    def requeue_unsent(self, attempt: Attempt) -> None:
        """Requeue an attempt that was counted as under way but was not sent."""
        self.attempts_to_requeue.append(attempt)
        self.discard(attempt)

    def discard(self, attempt: Attempt) -> None:
        """Discard an attempt that was under way and ended without a result."""
        _, organization = self._record_end(attempt)
        self._states.remove_idle(organization)

    def mark_written(self, results: Iterable[AttemptResult]) -> None:
        """Mark results as written or lost, so that failing webhooks and replays continue."""
        for result in results:
            webhook = self._states.get_webhook(
                result.attempt.organization_id, result.attempt.webhook_id
            )
            organization = self._states.get_organization(result.attempt.organization_id)
            webhook.unwritten_count -= 1
            organization.unwritten_count -= 1
            has_waited = webhook.failures and not webhook.unwritten_count
            if has_waited or result.attempt.replayed:
                self._mark_due(webhook)
            self._states.remove_idle(organization)
        self._has_changed = True

    def remove_prefetched(self) -> list[Attempt]:
        """Remove and return all attempts that have begun and have not been sent."""
        attempts: list[Attempt] = []
        for organization in list(self._ready.values()):
            for webhook in list(organization.ready.values()):
                attempts += webhook.prefetched
                webhook.prefetched.clear()
                self._update_ready_webhooks(webhook)
            self._states.remove_idle(organization)
        return attempts

    def _mark_due(self, webhook: WebhookState) -> None:
        organization = self._states.get_organization(webhook.organization_id)
        organization.due[webhook.id] = webhook
        if len(organization.due) > MAX_DUE_WEBHOOKS:
            organization.due.popitem(last=False)
        self._due[organization.id] = organization
        self._has_changed = True

    def _unmark_due(self, webhook: WebhookState) -> None:
        organization = self._states.get_organization(webhook.organization_id)
        organization.due.pop(webhook.id, None)
        if not organization.due:
            self._due.pop(organization.id, None)
            self._states.remove_idle(organization)

    def _pick_webhooks(self, organization: OrganizationState, limit: int) -> list[PickedWebhook]:
        """Pick the webhooks of an organization for which attempts should begin.

        Each webhook first gets one attempt, and then further attempts up to its limit.
        """
        organization.reclassify_slow_attempts(self._clock())
        begun_counts: Counter[Pace] = Counter()
        for webhook in organization.ready.values():
            begun_counts[webhook.pace] += len(webhook.prefetched)
        if self.threads.are_scarce:
            limit = 0 if organization.sending_count + begun_counts.total() else 1
        # The total is doubled, because prefetched attempts for quick webhooks use no thread yet.
        limits = self.threads.get_limits(organization)
        limits = replace(limits, total=2 * limits.total)
        for is_first in (True, False):
            for webhook in list(organization.due.values()):
                if limit <= 0:
                    break
                count = min(
                    limit,
                    self._count_attempts_to_begin(organization, webhook, limits, begun_counts),
                )
                if is_first and webhook.pace is not Pace.QUICK:
                    count = 0 if webhook.in_progress_count else min(1, count)
                if count > 0:
                    organization.due.move_to_end(webhook.id)
                    webhook.picked_count += count
                    begun_counts[webhook.pace] += count
                    limit -= count
        return [
            PickedWebhook(
                BeginLimit(organization.id, webhook.id, webhook.picked_count, webhook.max_replays),
                webhook.ended_count,
                webhook.failures > 0,
            )
            for webhook in organization.due.values()
            if webhook.picked_count
        ]

    def _count_attempts_to_begin(
        self,
        organization: OrganizationState,
        webhook: WebhookState,
        limits: AttemptLimits,
        begun_counts: Counter[Pace],
    ) -> int:
        """Return how many delivery attempts to a webhook should begin.

        `begun_counts` counts, by pace, the prefetched attempts and those that will begin now.
        """
        sending_counts = organization.sending_counts
        free = limits.count_free(webhook.pace, lambda p: sending_counts[p] + begun_counts[p])
        if free <= 0 or self.threads.is_excluded(webhook):
            return 0
        return min(free, webhook.count_attempts_to_begin(limits.get_max_concurrent(webhook, free)))

    def _start(self, organization: OrganizationState, webhook: WebhookState, now: float) -> Attempt:
        attempt = webhook.prefetched.popleft()
        organization.record_start(webhook, attempt.lease.token, now)
        self.threads.used += 1
        self._update_ready_webhooks(webhook)
        return attempt

    def _record_end(self, attempt: Attempt) -> tuple[WebhookState, OrganizationState]:
        webhook = self._states.get_webhook(attempt.organization_id, attempt.webhook_id)
        organization = self._states.get_organization(attempt.organization_id)
        organization.record_end(webhook, attempt.lease.token)
        self.threads.used -= 1
        self._has_changed = True
        return webhook, organization

    def _prefetch(
        self, webhook: WebhookState, attempts: list[Attempt], *, is_current: bool
    ) -> None:
        """Add attempts that have begun to the prefetched attempts, or requeue them.

        `is_current` is true if no attempt for the webhook has ended since the webhook was picked.
        """
        if attempts and is_current and not webhook.unwritten_count:
            webhook.failures = attempts[0].failures
        for attempt in attempts:
            if attempt.lease_token is None:
                continue
            if attempt.test or is_current or attempt.failures >= webhook.failures:
                webhook.prefetched.append(attempt)
            else:
                self.attempts_to_requeue.append(attempt)
        if not webhook.failures:
            self.attempts_to_requeue += webhook.remove_surplus()
        self._update_ready_webhooks(webhook)

    def _update_ready_webhooks(self, webhook: WebhookState) -> None:
        organization = self._states.get_organization(webhook.organization_id)
        if webhook.prefetched:
            organization.ready[webhook.id] = webhook
            self._ready[organization.id] = organization
            return
        organization.ready.pop(webhook.id, None)
        if not organization.ready:
            self._ready.pop(organization.id, None)
            self._states.remove_idle(organization)
