"""The states of the webhooks and organizations that a dispatcher serves, and their limits."""

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from app.delivery.webhooks.queries.leases import Attempt
from app.delivery.webhooks.queries.pacing import MAX_FAILING

MAX_CONCURRENT = 8
"""The maximum number of attempts under way for a quick webhook."""
MAX_CONCURRENT_NOT_QUICK = 2
MAX_PREFETCHED_ATTEMPTS = 8
"""The maximum number of additional attempts for a quick webhook that have begun but are not sent.
Without prefetched attempts, threads would wait for the database."""
MIN_ATTEMPTS_TO_BEGIN = 4
"""The minimum number of attempts to begin for a quick webhook while other attempts are under way,
because a statement for fewer attempts costs too much."""
SLOW_SECONDS = 2.0
MAX_KNOWN_WEBHOOKS = 10_000
"""The maximum number of webhooks whose pace is remembered."""
MAX_UNWRITTEN_OUTCOMES = 256
"""An organization with this many unwritten outcomes starts no more attempts."""


class Pace(Enum):
    """The response speed of a webhook; UNKNOWN until it has responded to this dispatcher."""

    QUICK = "quick"
    UNKNOWN = "unknown"
    SLOW = "slow"


@dataclass(slots=True)
class WebhookState:
    """A webhook, and its attempts that this dispatcher has begun.

    Attributes:
        failures: the number of consecutive failures, including failures not yet in the database.
        prefetched: attempts that have begun and have not been sent yet.
        picked_count: the maximum number of attempts that the current call of `begin_attempts` may
            begin; 0 if there is no such call.
        sending_count: the number of attempts under way.
        unwritten_count: the number of ended attempts whose outcomes are not in the database yet.
        ended_count: the number of attempts that have ended.
    """

    organization_id: UUID
    id: UUID
    failures: int = 0
    pace: Pace = Pace.UNKNOWN
    prefetched: "deque[Attempt]" = field(default_factory=deque)
    picked_count: int = 0
    sending_count: int = 0
    unwritten_count: int = 0
    ended_count: int = 0

    @property
    def in_progress_count(self) -> int:
        """Return the number of attempts that are about to begin, or have begun but not ended."""
        return self.picked_count + len(self.prefetched) + self.sending_count

    @property
    def is_idle(self) -> bool:
        """Return whether the webhook has no attempts and no unwritten outcomes."""
        return not (self.in_progress_count or self.unwritten_count)

    @property
    def max_concurrent_attempts(self) -> int:
        """Return the maximum number of concurrent delivery attempts to the webhook.

        For a failing webhook, the SQL query selects the attempts that begin, because the database
        also contains the failures that other dispatchers recorded.
        """
        if self.failures:
            return MAX_FAILING
        return MAX_CONCURRENT if self.pace is Pace.QUICK else MAX_CONCURRENT_NOT_QUICK

    @property
    def max_replays(self) -> int:
        """Return the maximum number of attempts under way for the webhook's replayed deliveries."""
        return self.max_concurrent_attempts // 2

    def count_attempts_to_begin(self, max_concurrent_attempts: int) -> int:
        """Return how many attempts to begin now, if `max_concurrent_attempts` is the limit."""
        if self.failures and self.unwritten_count:
            return 0
        if self.failures or self.pace is not Pace.QUICK:
            return max(0, max_concurrent_attempts - self.in_progress_count)
        count = max_concurrent_attempts + MAX_PREFETCHED_ATTEMPTS - self.in_progress_count
        return count if count >= MIN_ATTEMPTS_TO_BEGIN or not self.in_progress_count else 0

    def remove_surplus(self) -> list[Attempt]:
        """Remove and return the prefetched attempts that must not be sent now.

        These are all attempts for a failing webhook, and attempts above the limit of a webhook that
        is not quick. Test deliveries are never removed, because no limit applies to them.
        """
        if self.failures:
            kept_count = 0
        elif self.pace is Pace.QUICK:
            return []
        else:
            kept_count = max(0, MAX_CONCURRENT_NOT_QUICK - self.sending_count)
        surplus_attempts = [attempt for attempt in self.prefetched if not attempt.test][kept_count:]
        surplus_tokens = {attempt.lease_token for attempt in surplus_attempts}
        self.prefetched = deque(
            attempt for attempt in self.prefetched if attempt.lease_token not in surplus_tokens
        )
        return surplus_attempts


@dataclass(slots=True)
class OrganizationState:
    """An organization, and the state of its webhooks.

    Attributes:
        due: the webhooks that may have deliveries to attempt.
        ready: the webhooks with prefetched attempts.
        sending_counts: the number of attempts under way, by the pace of their webhooks. An attempt
            that takes longer than `SLOW_SECONDS` counts as slow before it has ended.
        unwritten_count: the number of ended attempts whose outcomes are not in the database yet.
        recent_attempts: the attempts under way for less than `SLOW_SECONDS`, by lease token, each
            with its start, the pace that it counts as, and its webhook.
    """

    id: UUID
    due: "OrderedDict[UUID, WebhookState]" = field(default_factory=OrderedDict)
    ready: "OrderedDict[UUID, WebhookState]" = field(default_factory=OrderedDict)
    sending_counts: Counter[Pace] = field(default_factory=Counter)
    unwritten_count: int = 0
    recent_attempts: "OrderedDict[UUID, tuple[float, Pace, WebhookState]]" = field(
        default_factory=OrderedDict
    )

    @property
    def sending_count(self) -> int:
        """Return the number of attempts under way."""
        return self.sending_counts.total()

    @property
    def is_idle(self) -> bool:
        """Return whether the organization has no due webhooks, attempts or unwritten outcomes."""
        return not (self.due or self.ready or self.sending_count or self.unwritten_count)

    def record_start(self, webhook: WebhookState, token: UUID, now: float) -> None:
        """Record that a delivery attempt to a webhook started at `now`."""
        webhook.sending_count += 1
        self.sending_counts[webhook.pace] += 1
        self.recent_attempts[token] = (now, webhook.pace, webhook)

    def record_end(self, webhook: WebhookState, token: UUID) -> None:
        """Record that a delivery attempt to a webhook has ended."""
        webhook.sending_count -= 1
        _, pace, _ = self.recent_attempts.pop(token, (0.0, Pace.SLOW, webhook))
        self.sending_counts[pace] -= 1

    def reclassify_slow_attempts(self, now: float) -> None:
        """Reclassify attempts that exceed `SLOW_SECONDS`, and their webhooks, as slow."""
        while self.recent_attempts:
            token, (began, pace, webhook) = next(iter(self.recent_attempts.items()))
            if began > now - SLOW_SECONDS:
                return
            del self.recent_attempts[token]
            self.sending_counts[pace] -= 1
            self.sending_counts[Pace.SLOW] += 1
            webhook.pace = Pace.SLOW


class DispatcherStates:
    """The states of organizations that are not idle, and of the webhooks used most recently."""

    def __init__(self) -> None:
        self.organizations: dict[UUID, OrganizationState] = {}
        self._webhooks: OrderedDict[UUID, WebhookState] = OrderedDict()

    def get_webhook(self, organization_id: UUID, webhook_id: UUID) -> WebhookState:
        """Return the state of a webhook, creating it if necessary."""
        webhook = self._webhooks.get(webhook_id)
        if webhook is None:
            if len(self._webhooks) >= MAX_KNOWN_WEBHOOKS:
                self._remove_idle_states()
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

    def _remove_idle_states(self) -> None:
        """Remove idle webhooks without due deliveries from the least recently used 10%."""
        for webhook in list(self._webhooks.values())[: MAX_KNOWN_WEBHOOKS // 10]:
            organization = self.organizations.get(webhook.organization_id)
            is_due = organization is not None and webhook.id in organization.due
            if webhook.is_idle and not is_due:
                del self._webhooks[webhook.id]


@dataclass(frozen=True, slots=True)
class AttemptLimits:
    """The maximum numbers of attempts that an organization may have under way.

    `total` applies to all webhooks of the organization, `not_quick` to slow webhooks and webhooks
    of unknown pace together, and `slow` to slow webhooks.
    """

    total: int
    not_quick: int
    slow: int

    @classmethod
    def from_available(cls, count: int) -> "AttemptLimits":
        """Return the limits for an organization to which `count` threads are available."""
        return cls(max(1, count // 2), max(1, count // 4), max(1, count // 8))

    def count_free(self, pace: Pace, count_used: Callable[[Pace], int]) -> int:
        """Return how many more attempts to deliver to webhooks with the pace `pace` may start.

        `count_used` returns how many such attempts are in progress for a given pace.
        """
        slow, unknown, quick = (
            count_used(Pace.SLOW),
            count_used(Pace.UNKNOWN),
            count_used(Pace.QUICK),
        )
        free = self.total - slow - unknown - quick
        if pace is not Pace.QUICK:
            free = min(free, self.not_quick - slow - unknown)
        return min(free, self.slow - slow) if pace is Pace.SLOW else free

    def get_max_concurrent(self, webhook: WebhookState, free_count: int) -> int:
        """Return the maximum number of concurrent delivery attempts to a webhook.

        `free_count` is how many more attempts are allowed for webhooks of the same pace. A webhook
        that is not quick gets more than one attempt only while more than half of the organization's
        limit for its pace is free. The other half is for webhooks that become due later.
        """
        if webhook.pace is Pace.QUICK:
            return min(
                webhook.max_concurrent_attempts,
                max(1, (free_count + webhook.in_progress_count) // 2),
            )
        quota = self.slow if webhook.pace is Pace.SLOW else self.not_quick
        return webhook.max_concurrent_attempts if free_count > quota // 2 else 1


class ThreadUsage:
    """Counts the used threads of a dispatcher, and limits the threads of each organization.

    The last free threads are reserved for organizations that use no thread.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.used = 0
        self._reserved_count = count // 16

    @property
    def free(self) -> int:
        """Return the number of idle threads."""
        return self.count - self.used

    @property
    def are_scarce(self) -> bool:
        """Return whether only reserved threads are free."""
        return self.free <= self._reserved_count

    def get_limits(self, organization: OrganizationState) -> AttemptLimits:
        """Return the limits for an organization, given the threads that other organizations use."""
        return AttemptLimits.from_available(self.free + organization.sending_count)

    def can_use_thread(self, organization: OrganizationState) -> bool:
        """Return whether an organization may use one more thread."""
        if not self.free or (organization.sending_count and self.are_scarce):
            return False
        if organization.unwritten_count >= MAX_UNWRITTEN_OUTCOMES:
            return False
        return organization.sending_count < self.get_limits(organization).total

    def is_excluded(self, webhook: WebhookState) -> bool:
        """Return whether a webhook is excluded now, because it is slow and few threads are free."""
        return webhook.pace is Pace.SLOW and self.free <= self._reserved_count // 2

    def can_start(self, organization: OrganizationState, webhook: WebhookState) -> bool:
        """Return whether an attempt to deliver to a webhook may start if a thread is free."""
        limits, counts = self.get_limits(organization), organization.sending_counts
        if limits.count_free(webhook.pace, counts.__getitem__) <= 0 or self.is_excluded(webhook):
            return False
        return webhook.sending_count < webhook.max_concurrent_attempts
