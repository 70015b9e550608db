"""Which attempts begin and which is sent next, so that no organization or webhook delays another.

Organizations take turns, and within one its webhooks do. An organization has at most half of the
threads that others leave. Of these, webhooks that are slow get an eighth of what others leave,
together with those not known yet a quarter. The last threads are for organizations that have none.
So however many receivers hang, the next organization finds a thread.

Nothing here is safe for threads; the dispatcher holds its lock around it.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from app.delivery.webhooks.limits import Limits
from app.delivery.webhooks.queries.due import DueWebhook
from app.delivery.webhooks.queries.leases import Attempt, Room
from app.delivery.webhooks.queries.outcomes import Result
from app.delivery.webhooks.states import (
    SLOW_SECONDS,
    OrganizationState,
    Pace,
    States,
    WebhookState,
)

MAX_DUE = 256
"""So many webhooks of an organization are kept in mind as due; later looks find the others."""
MAX_UNWRITTEN = 256
"""An organization with so many outcomes to be written starts nothing more."""


class Quotas:
    """The organizations and webhooks that a deliverer serves with `threads` threads.

    `requeue` holds the attempts that are to be given back to the database.
    """

    def __init__(self, threads: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.threads = threads
        self.reserved = threads // 16
        self.sending = 0
        self.requeue: list[Attempt] = []
        self._clock = clock
        self._changed = False
        self._states = States()
        self._due: OrderedDict[UUID, OrganizationState] = OrderedDict()
        self._ready: OrderedDict[UUID, OrganizationState] = OrderedDict()

    @property
    def free_threads(self) -> int:
        """Threads that send nothing."""
        return self.threads - self.sending

    @property
    def is_idle(self) -> bool:
        """Whether nothing is due, under way or unwritten here, or is to be given back."""
        return not (self.requeue or self._states.organizations)

    @property
    def may_pick(self) -> bool:
        """Whether `pick` might return something that it did not the last time."""
        return self._changed and bool(self._due) and self.free_threads > 0

    def note_due(self, found: Iterable[DueWebhook]) -> None:
        """Remember webhooks that have deliveries to attempt now."""
        for one in found:
            webhook = self._states.webhook(one.organization_id, one.webhook_id)
            if webhook.is_idle:
                webhook.failures = one.failures
            self._mark_due(webhook)

    def pick(self, limit: int) -> list[Room]:
        """Return for which webhooks how many attempts should begin now, `limit` in all."""
        picked: list[Room] = []
        left = limit
        share = max(1, limit // max(1, len(self._due)))
        for organization in list(self._due.values()):
            if not left:
                break
            for room in self._pick_of(organization, min(left, share)):
                picked.append(room)
                left -= room.number
            self._due.move_to_end(organization.id)
        self._changed = bool(picked)
        return picked

    def cancel(self, picked: Iterable[Room]) -> None:
        """Note that nothing of what was picked has begun."""
        for webhook in self._webhooks_of(picked):
            webhook.beginning = 0
        self._changed = True

    def begin(self, picked: Sequence[Room], attempts: Iterable[Attempt], ended: list[int]) -> None:
        """Take in the attempts that have begun of what was picked.

        `ended` is what `count_ended` returned for it before. An attempt that begun without the
        knowledge of a failure that came meanwhile is given back.
        """
        by_webhook: dict[UUID, list[Attempt]] = {room.webhook_id: [] for room in picked}
        for attempt in attempts:
            by_webhook[attempt.webhook_id].append(attempt)
        for room, ended_before in zip(picked, ended, strict=True):
            webhook = self._states.webhook(room.organization_id, room.webhook_id)
            begun = by_webhook[room.webhook_id]
            webhook.beginning = 0
            if len(begun) < room.number:
                self._unmark_due(webhook)
            self._prefetch(webhook, begun, is_current=webhook.ended == ended_before)
        self._changed = True

    def count_ended(self, picked: Iterable[Room]) -> list[int]:
        """Return how many attempts at each of these webhooks have ended."""
        return [webhook.ended for webhook in self._webhooks_of(picked)]

    def has_failing(self, picked: Iterable[Room]) -> bool:
        """Return whether the latest attempt at one of these webhooks failed, as far as known."""
        return any(webhook.failures for webhook in self._webhooks_of(picked))

    def start_next(self) -> Attempt | None:
        """Return the next attempt to send, and count it as under way; None when none may be."""
        now = self._clock()
        for _ in range(len(self._ready) if self.free_threads > 0 else 0):
            organization = next(iter(self._ready.values()))
            self._ready.move_to_end(organization.id)
            organization.reclassify(now)
            for _ in range(len(organization.ready)):
                webhook = next(iter(organization.ready.values()))
                organization.ready.move_to_end(webhook.id)
                if self._may_start(organization, webhook):
                    return self._start(organization, webhook, now)
        return None

    def end(self, attempt: Attempt, result: Result) -> None:
        """Take in the result of an attempt that was under way."""
        webhook, organization = self._stop(attempt)
        webhook.ended += 1
        webhook.unwritten += 1
        organization.unwritten += 1
        quick = result.duration_ms < SLOW_SECONDS * 1000
        webhook.pace = Pace.QUICK if quick else Pace.SLOW
        if not (result.test or result.fatal):
            webhook.failures = 0 if result.ok else webhook.failures + 1
        self._requeue(webhook, webhook.drop_surplus())

    def give_up(self, attempt: Attempt) -> None:
        """Give an attempt back that was to be sent and was not."""
        _, organization = self._stop(attempt)
        self.requeue.append(attempt)
        self._states.forget_idle(organization)

    def note_written(self, results: Iterable[Result]) -> None:
        """Note that outcomes are in the database, which decides when failing webhooks go on."""
        for result in results:
            webhook = self._states.webhook(result.organization_id, result.webhook_id)
            organization = self._states.organization(result.organization_id)
            webhook.unwritten -= 1
            organization.unwritten -= 1
            if webhook.failures and not webhook.unwritten:
                self._mark_due(webhook)
            self._states.forget_idle(organization)
        self._changed = True

    def drop_prefetched(self) -> list[Attempt]:
        """Remove and return every attempt that has begun and is not sent."""
        dropped: list[Attempt] = []
        for organization in list(self._ready.values()):
            for webhook in list(organization.ready.values()):
                dropped += webhook.prefetched
                webhook.prefetched.clear()
                self._update_ready(webhook)
            self._states.forget_idle(organization)
        return dropped

    def _webhooks_of(self, picked: Iterable[Room]) -> list[WebhookState]:
        return [self._states.webhook(room.organization_id, room.webhook_id) for room in picked]

    def _mark_due(self, webhook: WebhookState) -> None:
        organization = self._states.organization(webhook.organization_id)
        organization.due[webhook.id] = webhook
        if len(organization.due) > MAX_DUE:
            organization.due.popitem(last=False)
        self._due[organization.id] = organization
        self._changed = True

    def _unmark_due(self, webhook: WebhookState) -> None:
        organization = self._states.organization(webhook.organization_id)
        organization.due.pop(webhook.id, None)
        if not organization.due:
            self._due.pop(organization.id, None)
            self._states.forget_idle(organization)

    def _limits(self, organization: OrganizationState) -> Limits:
        return Limits.of(self.threads - (self.sending - organization.sending))

    def _pick_of(self, organization: OrganizationState, limit: int) -> list[Room]:
        """Return for which webhooks of an organization attempts should begin.

        First each gets one attempt, then the others that it may have.
        """
        organization.reclassify(self._clock())
        begun: Counter[Pace] = Counter()
        for webhook in organization.ready.values():
            begun[webhook.pace] += len(webhook.prefetched)
        if self.free_threads <= self.reserved:
            limit = 0 if organization.sending + begun.total() else 1
        # What is prefetched for quick webhooks takes no thread yet.
        limits = self._limits(organization)
        limits = replace(limits, total=2 * limits.total)
        for is_first in (True, False):
            for webhook in list(organization.due.values()):
                if limit <= 0:
                    break
                number = min(limit, self._number(organization, webhook, limits, begun))
                if is_first and webhook.pace is not Pace.QUICK:
                    number = 0 if webhook.in_hand else min(1, number)
                if number > 0:
                    organization.due.move_to_end(webhook.id)
                    webhook.beginning += number
                    begun[webhook.pace] += number
                    limit -= number
        return [
            Room(organization.id, webhook.id, webhook.beginning)
            for webhook in organization.due.values()
            if webhook.beginning
        ]

    def _number(
        self,
        organization: OrganizationState,
        webhook: WebhookState,
        limits: Limits,
        begun: Counter[Pace],
    ) -> int:
        """Return how many attempts at a webhook should begin, with `begun` not under way yet."""
        threads = organization.threads
        room = limits.room(webhook.pace, lambda pace: threads[pace] + begun[pace])
        if room <= 0 or self._is_kept_out(webhook):
            return 0
        return min(room, webhook.begin_room(limits.at_once(webhook, room)))

    def _is_kept_out(self, webhook: WebhookState) -> bool:
        """Whether the last free threads are for others: webhooks that are not slow."""
        return webhook.pace is Pace.SLOW and self.free_threads <= self.reserved // 2

    def _may_start(self, organization: OrganizationState, webhook: WebhookState) -> bool:
        scarce = self.free_threads <= self.reserved
        if (scarce and organization.sending) or self._is_kept_out(webhook):
            return False
        if organization.unwritten >= MAX_UNWRITTEN:
            return False
        room = self._limits(organization).room(webhook.pace, organization.threads.__getitem__)
        return room > 0 and webhook.sending < webhook.at_once

    def _start(self, organization: OrganizationState, webhook: WebhookState, now: float) -> Attempt:
        attempt = webhook.prefetched.popleft()
        assert attempt.lease_token is not None
        organization.start(webhook, attempt.lease_token, now)
        self.sending += 1
        self._update_ready(webhook)
        return attempt

    def _stop(self, attempt: Attempt) -> tuple[WebhookState, OrganizationState]:
        webhook = self._states.webhook(attempt.organization_id, attempt.webhook_id)
        organization = self._states.organization(attempt.organization_id)
        assert attempt.lease_token is not None
        organization.stop(webhook, attempt.lease_token)
        self.sending -= 1
        self._changed = True
        return webhook, organization

    def _prefetch(self, webhook: WebhookState, begun: list[Attempt], *, is_current: bool) -> None:
        """Keep attempts that have begun. `is_current`: none ended since they were picked."""
        if begun and is_current and not webhook.unwritten:
            webhook.failures = begun[0].failures
        for attempt in begun:
            if attempt.lease_token is None:
                continue
            if attempt.test or is_current or attempt.failures >= webhook.failures:
                webhook.prefetched.append(attempt)
            else:
                self.requeue.append(attempt)
        if not webhook.failures:
            self.requeue += webhook.drop_surplus()
        self._update_ready(webhook)

    def _requeue(self, webhook: WebhookState, attempts: list[Attempt]) -> None:
        self.requeue += attempts
        self._update_ready(webhook)

    def _update_ready(self, webhook: WebhookState) -> None:
        organization = self._states.organization(webhook.organization_id)
        if webhook.prefetched:
            organization.ready[webhook.id] = webhook
            self._ready[organization.id] = organization
            return
        organization.ready.pop(webhook.id, None)
        if not organization.ready:
            self._ready.pop(organization.id, None)
            self._states.forget_idle(organization)
