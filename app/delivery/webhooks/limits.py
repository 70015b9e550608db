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

    def room(self, pace: Pace, used: Callable[[Pace], int]) -> int:
        """Return how many more attempts at webhooks of a pace may be under way.

        `used` returns the number of those under way by pace.
        """
        slow, unknown, quick = used(Pace.SLOW), used(Pace.UNKNOWN), used(Pace.QUICK)
        room = self.total - slow - unknown - quick
        if pace is not Pace.QUICK:
            room = min(room, self.not_quick - slow - unknown)
        return min(room, self.slow - slow) if pace is Pace.SLOW else room

    def max_concurrent(self, webhook: WebhookState, room: int) -> int:
        """Return how many attempts at a webhook may be under way, with `room` for its pace.

        A webhook that is not quick gets more than one only while half of its organization's quota
        is free, which leaves room for webhooks that become due later.
        """
        if webhook.pace is Pace.QUICK:
            return min(webhook.max_concurrent, max(1, (room + webhook.in_progress) // 2))
        quota = self.slow if webhook.pace is Pace.SLOW else self.not_quick
        return webhook.max_concurrent if room > quota // 2 else 1


class Threads:
    """The threads of a dispatcher; the last ones are reserved for organizations that have none."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.used = 0
        self._reserved = number // 16

    @property
    def free(self) -> int:
        """The number of idle threads."""
        return self.number - self.used

    @property
    def are_scarce(self) -> bool:
        """Whether only reserved threads are free."""
        return self.free <= self._reserved

    def get_limits(self, organization: OrganizationState) -> Limits:
        """Return the limits of an organization, given the threads that the others use."""
        return Limits.of(self.free + organization.sending)

    def has_room(self, organization: OrganizationState) -> bool:
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
        """Return whether an attempt at a webhook may start, if its organization has room."""
        room = self.get_limits(organization).room(webhook.pace, organization.threads.__getitem__)
        has_room = room > 0 and webhook.sending < webhook.max_concurrent
        return has_room and not self.is_excluded(webhook)
