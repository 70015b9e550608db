"""The states of the webhooks and organizations that a dispatcher serves, and their limits."""

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from app.delivery.webhooks.queries.leases import Attempt
from app.delivery.webhooks.queries.pacing import MAX_FAILING

MAX_CONCURRENT = 8
"""The maximum number of attempts under way at a quick webhook."""
MAX_CONCURRENT_NOT_QUICK = 2
MAX_PREFETCHED = 8
"""The maximum number of further attempts at a quick webhook that have begun and wait to be sent, so
that threads never wait for the database."""
MIN_TO_BEGIN = 4
"""The minimum number of attempts at a quick webhook to begin while others are under way; fewer are
not worth a statement."""
SLOW_SECONDS = 2.0
MAX_KNOWN_WEBHOOKS = 10_000
"""The maximum number of webhooks whose pace is remembered."""
MAX_UNWRITTEN = 256
"""An organization with this many unwritten outcomes starts no more attempts."""


class Pace(Enum):
    """How quickly a webhook responds; UNKNOWN if it has not responded to this dispatcher yet."""

    QUICK = "quick"
    UNKNOWN = "unknown"
    SLOW = "slow"


@dataclass(slots=True)
class WebhookState:
    """A webhook, and the attempts at it that this dispatcher has begun.

    Attributes:
        failures: consecutive failed attempts, including failures not in the database yet.
        prefetched: attempts that have begun and have not been sent yet.
        beginning: the number of attempts that a running statement may begin.
        sending: the number of attempts under way.
        unwritten: the number of ended attempts whose outcomes are not in the database yet.
        ended: the number of attempts that have ended.
    """

    organization_id: UUID
    id: UUID
    failures: int = 0
    pace: Pace = Pace.UNKNOWN
    prefetched: "deque[Attempt]" = field(default_factory=deque)
    beginning: int = 0
    sending: int = 0
    unwritten: int = 0
    ended: int = 0

    @property
    def in_progress(self) -> int:
        """Return the number of attempts that have begun, or are about to, and have not ended."""
        return self.beginning + len(self.prefetched) + self.sending

    @property
    def is_idle(self) -> bool:
        """Return whether the webhook has no attempts and no unwritten outcomes."""
        return not (self.in_progress or self.unwritten)

    @property
    def max_concurrent(self) -> int:
        """Return the maximum number of attempts under way at the webhook.

        For a failing webhook, the database decides when attempts begin, because it knows the
        failures that other dispatchers saw.
        """
        if self.failures:
            return MAX_FAILING
        return MAX_CONCURRENT if self.pace is Pace.QUICK else MAX_CONCURRENT_NOT_QUICK

    @property
    def max_replays(self) -> int:
        """Return the maximum number of attempts under way at replayed deliveries."""
        return self.max_concurrent // 2

    def count_to_begin(self, max_concurrent: int) -> int:
        """Return how many attempts should begin now if `max_concurrent` may be under way."""
        if self.failures and self.unwritten:
            return 0
        if self.failures or self.pace is not Pace.QUICK:
            return max(0, max_concurrent - self.in_progress)
        number = max_concurrent + MAX_PREFETCHED - self.in_progress
        return number if number >= MIN_TO_BEGIN or not self.in_progress else 0

    def remove_surplus(self) -> list[Attempt]:
        """Remove and return the prefetched attempts that must not be sent now.

        These are all attempts at a failing webhook, and attempts above the limit of a webhook that
        is not quick. Test deliveries are never removed, because they count towards no limit.
        """
        if self.failures:
            kept_count = 0
        elif self.pace is Pace.QUICK:
            return []
        else:
            kept_count = max(0, MAX_CONCURRENT_NOT_QUICK - self.sending)
        surplus = [attempt for attempt in self.prefetched if not attempt.test][kept_count:]
        surplus_tokens = {attempt.lease_token for attempt in surplus}
        self.prefetched = deque(
            attempt for attempt in self.prefetched if attempt.lease_token not in surplus_tokens
        )
        return surplus


@dataclass(slots=True)
class OrganizationState:
    """An organization, and the state of its webhooks.

    Attributes:
        due: its webhooks that may have deliveries to attempt.
        ready: its webhooks with prefetched attempts.
        threads: the number of attempts under way, by the pace of their webhooks. An attempt that
            takes longer than `SLOW_SECONDS` counts as slow before it has ended.
        unwritten: the number of ended attempts whose outcomes are not in the database yet.
        recent: attempts under way that do not count as slow for that reason, each with its start,
            the pace that it counts as, and its webhook.
    """

    id: UUID
    due: "OrderedDict[UUID, WebhookState]" = field(default_factory=OrderedDict)
    ready: "OrderedDict[UUID, WebhookState]" = field(default_factory=OrderedDict)
    threads: Counter[Pace] = field(default_factory=Counter)
    unwritten: int = 0
    recent: "OrderedDict[UUID, tuple[float, Pace, WebhookState]]" = field(
        default_factory=OrderedDict
    )

    @property
    def sending(self) -> int:
        """Return the number of attempts under way."""
        return self.threads.total()

    @property
    def is_idle(self) -> bool:
        """Return whether the organization has no due webhooks, attempts or unwritten outcomes."""
        return not (self.due or self.ready or self.sending or self.unwritten)

    def start(self, webhook: WebhookState, token: UUID, now: float) -> None:
        """Count an attempt as under way."""
        webhook.sending += 1
        self.threads[webhook.pace] += 1
        self.recent[token] = (now, webhook.pace, webhook)

    def stop(self, webhook: WebhookState, token: UUID) -> None:
        """Count an attempt as ended."""
        webhook.sending -= 1
        _, pace, _ = self.recent.pop(token, (0.0, Pace.SLOW, webhook))
        self.threads[pace] -= 1

    def reclassify_slow_attempts(self, now: float) -> None:
        """Count attempts longer than `SLOW_SECONDS` as slow, and mark their webhooks as slow."""
        while self.recent:
            token, (began, pace, webhook) = next(iter(self.recent.items()))
            if began > now - SLOW_SECONDS:
                return
            del self.recent[token]
            self.threads[pace] -= 1
            self.threads[Pace.SLOW] += 1
            webhook.pace = Pace.SLOW


class States:
    """The organizations that are not idle, and the webhooks used most recently."""

    def __init__(self) -> None:
        self.organizations: dict[UUID, OrganizationState] = {}
        self._webhooks: OrderedDict[UUID, WebhookState] = OrderedDict()

    def get_webhook(self, organization_id: UUID, webhook_id: UUID) -> WebhookState:
        """Return the state of a webhook, creating it if necessary."""
        webhook = self._webhooks.get(webhook_id)
        if webhook is None:
            if len(self._webhooks) >= MAX_KNOWN_WEBHOOKS:
                self._remove_idle_webhooks()
            webhook = self._webhooks[webhook_id] = WebhookState(organization_id, webhook_id)
        self._webhooks.move_to_end(webhook_id)
        return webhook

    def get_organization(self, organization_id: UUID) -> OrganizationState:
        """Return the state of an organization, creating it if necessary."""
        if organization_id not in self.organizations:
            self.organizations[organization_id] = OrganizationState(organization_id)
        return self.organizations[organization_id]

    def remove_idle(self, organization: OrganizationState) -> None:
        """Remove an organization if it is idle."""
        if organization.is_idle:
            self.organizations.pop(organization.id, None)

    def _remove_idle_webhooks(self) -> None:
        """Remove the idle webhooks among the least recently used tenth."""
        for webhook in list(self._webhooks.values())[: MAX_KNOWN_WEBHOOKS // 10]:
            organization = self.organizations.get(webhook.organization_id)
            is_due = organization is not None and webhook.id in organization.due
            if webhook.is_idle and not is_due:
                del self._webhooks[webhook.id]


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum numbers of attempts that an organization may have under way.

    `total` is for all its webhooks, `not_quick` for slow webhooks and webhooks of unknown pace, and
    `slow` for slow webhooks.
    """

    total: int
    not_quick: int
    slow: int

    @classmethod
    def from_available(cls, available: int) -> "Limits":
        """Return the limits of an organization, if others leave `available` threads free."""
        return cls(max(1, available // 2), max(1, available // 4), max(1, available // 8))

    def count_free(self, pace: Pace, used: Callable[[Pace], int]) -> int:
        """Return how many more attempts at webhooks of a pace may be under way.

        `used` returns the number of attempts under way at webhooks of a pace.
        """
        slow, unknown, quick = used(Pace.SLOW), used(Pace.UNKNOWN), used(Pace.QUICK)
        free = self.total - slow - unknown - quick
        if pace is not Pace.QUICK:
            free = min(free, self.not_quick - slow - unknown)
        return min(free, self.slow - slow) if pace is Pace.SLOW else free

    def get_max_concurrent(self, webhook: WebhookState, free: int) -> int:
        """Return the maximum number of attempts under way at a webhook.

        `free` is the number of further attempts that its pace allows. A webhook that is not quick
        gets more than one attempt only while more than half of its organization's quota is free.
        The rest is for webhooks that become due later.
        """
        if webhook.pace is Pace.QUICK:
            return min(webhook.max_concurrent, max(1, (free + webhook.in_progress) // 2))
        quota = self.slow if webhook.pace is Pace.SLOW else self.not_quick
        return webhook.max_concurrent if free > quota // 2 else 1


class Threads:
    """The threads of a dispatcher; the last are reserved for organizations that use no thread."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.used = 0
        self._reserved = number // 16

    @property
    def free(self) -> int:
        """Return the number of idle threads."""
        return self.number - self.used

    @property
    def are_scarce(self) -> bool:
        """Return whether only reserved threads are free."""
        return self.free <= self._reserved

    def get_limits(self, organization: OrganizationState) -> Limits:
        """Return the limits of an organization, given the threads that other organizations use."""
        return Limits.from_available(self.free + organization.sending)

    def has_free(self, organization: OrganizationState) -> bool:
        """Return whether an organization may use one more thread."""
        if not self.free or (organization.sending and self.are_scarce):
            return False
        if organization.unwritten >= MAX_UNWRITTEN:
            return False
        return organization.sending < self.get_limits(organization).total

    def is_excluded(self, webhook: WebhookState) -> bool:
        """Return whether a webhook may not use the last free threads, because it is slow."""
        return webhook.pace is Pace.SLOW and self.free <= self._reserved // 2

    def may_start(self, organization: OrganizationState, webhook: WebhookState) -> bool:
        """Return whether an attempt at a webhook may start, if a thread is free."""
        limits, threads = self.get_limits(organization), organization.threads
        if limits.count_free(webhook.pace, threads.__getitem__) <= 0 or self.is_excluded(webhook):
            return False
        return webhook.sending < webhook.max_concurrent
