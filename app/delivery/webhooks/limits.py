"""Limits on the attempts that organizations and webhooks may have under way."""

from collections.abc import Callable
from dataclasses import dataclass

from app.delivery.webhooks.states import OrganizationState, Pace, WebhookState

MAX_UNWRITTEN = 256
"""An organization with this many unwritten outcomes starts no more attempts."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum numbers of attempts that an organization may have under way.

    `total` is for all its webhooks, `not_quick` for those that are slow or of unknown pace, `slow`
    for the slow ones.
    """

    total: int
    not_quick: int
    slow: int

    @classmethod
    def of(cls, available: int) -> "Limits":
        """Return the limits of an organization to which others leave `available` threads."""
        return cls(max(1, available // 2), max(1, available // 4), max(1, available // 8))

    def count_free(self, pace: Pace, used: Callable[[Pace], int]) -> int:
        """Return how many more attempts at webhooks of a pace may be under way.

        `used` returns the number of those under way by pace.
        """
        slow, unknown, quick = used(Pace.SLOW), used(Pace.UNKNOWN), used(Pace.QUICK)
        free = self.total - slow - unknown - quick
        if pace is not Pace.QUICK:
            free = min(free, self.not_quick - slow - unknown)
        return min(free, self.slow - slow) if pace is Pace.SLOW else free

    def get_max_concurrent(self, webhook: WebhookState, free: int) -> int:
        """Return how many attempts at a webhook may be under way; `free` is that of its pace.

        A webhook that is not quick gets more than one only while half of its organization's quota
        is free. The rest is for webhooks that become due later.
        """
        if webhook.pace is Pace.QUICK:
            return min(webhook.max_concurrent, max(1, (free + webhook.in_progress) // 2))
        quota = self.slow if webhook.pace is Pace.SLOW else self.not_quick
        return webhook.max_concurrent if free > quota // 2 else 1


class Threads:
    """The threads of a dispatcher; the last ones are reserved for organizations that have none."""

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
        """Return the limits of an organization, given the threads that the others use."""
        return Limits.of(self.free + organization.sending)

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
