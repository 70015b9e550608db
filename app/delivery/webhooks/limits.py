"""How many attempts organizations and webhooks may have under way."""

from collections.abc import Callable
from dataclasses import dataclass

from app.delivery.webhooks.states import Pace, WebhookState


@dataclass(frozen=True, slots=True)
class Limits:
    """How many attempts an organization may have under way, given what the others have.

    `not_quick` is for webhooks that are slow or not known yet, `slow` for those that are slow.
    """

    total: int
    not_quick: int
    slow: int

    @classmethod
    def of(cls, available: int) -> "Limits":
        """Return the limits where others leave so many threads."""
        return cls(max(1, available // 2), max(1, available // 4), max(1, available // 8))

    def room(self, pace: Pace, used: Callable[[Pace], int]) -> int:
        """Return how many more attempts at webhooks of a pace may be under way."""
        slow, unknown, quick = used(Pace.SLOW), used(Pace.UNKNOWN), used(Pace.QUICK)
        room = self.total - slow - unknown - quick
        if pace is not Pace.QUICK:
            room = min(room, self.not_quick - slow - unknown)
        return min(room, self.slow - slow) if pace is Pace.SLOW else room

    def at_once(self, webhook: WebhookState, room: int) -> int:
        """Return how many attempts at a webhook may be under way, with `room` for its pace.

        One that is not quick gets more than one only while half of its organization's are free. So
        those that are there leave room for one that comes later.
        """
        if webhook.pace is Pace.QUICK:
            return min(webhook.at_once, max(1, (room + webhook.in_hand) // 2))
        quota = self.slow if webhook.pace is Pace.SLOW else self.not_quick
        return webhook.at_once if room > quota // 2 else 1
