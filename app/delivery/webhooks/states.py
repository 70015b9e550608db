"""What a deliverer knows of the webhooks and organizations that it serves."""

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from app.delivery.webhooks.queries.leases import Attempt
from app.delivery.webhooks.queries.pacing import MAX_FAILING

AT_ONCE = 8
"""So many attempts at a webhook that answers quickly are under way at a time."""
AT_ONCE_NOT_QUICK = 2
PREFETCHED = 8
"""So many more of a quick webhook have begun and wait for their turn, so that none of its senders
waits for the database."""
BEGIN_AT_LEAST = 4
"""Fewer attempts at a quick webhook are not worth a statement while others are under way."""
SLOW_SECONDS = 2.0
KNOWN_WEBHOOKS = 10_000
"""The pace of so many webhooks is remembered."""


class Pace(Enum):
    """How quickly a webhook answers. UNKNOWN: it has not answered this deliverer yet."""

    QUICK = "quick"
    UNKNOWN = "unknown"
    SLOW = "slow"


@dataclass(slots=True)
class WebhookState:
    """A webhook, and the attempts at it that have begun here.

    Attributes:
        failures: failed attempts in a row, with those that are not in the database yet.
        prefetched: attempts that have begun and are not sent yet.
        beginning: how many a running statement may begin.
        sending: attempts under way.
        unwritten: attempts that ended and whose outcomes are not in the database yet.
        ended: counts the attempts that ended.
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
    def in_hand(self) -> int:
        """How many attempts have begun, or are about to, and have not ended."""
        return self.beginning + len(self.prefetched) + self.sending

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is here."""
        return not (self.in_hand or self.unwritten)

    @property
    def at_once(self) -> int:
        """Return how many attempts the webhook's own limit lets be under way.

        When those of a failing one begin is decided in the database, which knows of the failures
        that other deliverers saw.
        """
        if self.failures:
            return MAX_FAILING
        return AT_ONCE if self.pace is Pace.QUICK else AT_ONCE_NOT_QUICK

    def begin_room(self, at_once: int) -> int:
        """Return how many attempts should begin now, with `at_once` under way at most."""
        if self.failures and self.unwritten:
            return 0
        if self.failures or self.pace is not Pace.QUICK:
            return max(0, at_once - self.in_hand)
        room = at_once + PREFETCHED - self.in_hand
        return room if room >= BEGIN_AT_LEAST or not self.in_hand else 0

    def drop_surplus(self) -> list[Attempt]:
        """Remove and return the prefetched attempts that must not be sent now.

        Those are all of a failing webhook, and of a slow one what exceeds its number. Tests stay:
        they count towards nothing.
        """
        if self.failures:
            keep = 0
        elif self.pace is Pace.QUICK:
            return []
        else:
            keep = max(0, AT_ONCE_NOT_QUICK - self.sending)
        surplus = [attempt for attempt in self.prefetched if not attempt.test][keep:]
        dropped = {attempt.lease_token for attempt in surplus}
        kept = [attempt for attempt in self.prefetched if attempt.lease_token not in dropped]
        self.prefetched = deque(kept)
        return surplus


@dataclass(slots=True)
class OrganizationState:
    """An organization, and what its webhooks have here.

    Attributes:
        due: its webhooks that may have deliveries to attempt.
        ready: its webhooks with prefetched attempts.
        threads: attempts under way, by the pace of their webhooks. One that takes long is slow
            before it has ended.
        young: attempts under way that have not taken long yet: since when, and what they count as.
    """

    id: UUID
    due: "OrderedDict[UUID, WebhookState]" = field(default_factory=OrderedDict)
    ready: "OrderedDict[UUID, WebhookState]" = field(default_factory=OrderedDict)
    threads: Counter[Pace] = field(default_factory=Counter)
    unwritten: int = 0
    young: "OrderedDict[UUID, tuple[float, Pace, WebhookState]]" = field(
        default_factory=OrderedDict
    )

    @property
    def sending(self) -> int:
        """How many attempts are under way."""
        return self.threads.total()

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is here."""
        return not (self.due or self.ready or self.sending or self.unwritten)

    def start(self, webhook: WebhookState, token: UUID, now: float) -> None:
        """Count an attempt as under way."""
        webhook.sending += 1
        self.threads[webhook.pace] += 1
        self.young[token] = (now, webhook.pace, webhook)

    def stop(self, webhook: WebhookState, token: UUID) -> None:
        """Count an attempt as ended."""
        webhook.sending -= 1
        _, pace, _ = self.young.pop(token, (0.0, Pace.SLOW, webhook))
        self.threads[pace] -= 1

    def reclassify(self, now: float) -> None:
        """Count attempts that take long as slow, and their webhooks too."""
        while self.young:
            token, (began, pace, webhook) = next(iter(self.young.items()))
            if began > now - SLOW_SECONDS:
                return
            del self.young[token]
            self.threads[pace] -= 1
            self.threads[Pace.SLOW] += 1
            webhook.pace = Pace.SLOW


class States:
    """The organizations that have something here, and the webhooks heard of lately."""

    def __init__(self) -> None:
        self.organizations: dict[UUID, OrganizationState] = {}
        self._webhooks: OrderedDict[UUID, WebhookState] = OrderedDict()

    def webhook(self, organization_id: UUID, webhook_id: UUID) -> WebhookState:
        """Return a webhook, which is a new one if it was not known."""
        found = self._webhooks.get(webhook_id)
        if found is None:
            if len(self._webhooks) >= KNOWN_WEBHOOKS:
                self._forget_webhooks()
            found = self._webhooks[webhook_id] = WebhookState(organization_id, webhook_id)
        self._webhooks.move_to_end(webhook_id)
        return found

    def organization(self, organization_id: UUID) -> OrganizationState:
        """Return an organization, which is a new one if it had nothing here."""
        found = self.organizations.get(organization_id)
        if found is None:
            found = self.organizations[organization_id] = OrganizationState(organization_id)
        return found

    def forget_idle(self, organization: OrganizationState) -> None:
        """Forget an organization that has nothing here."""
        if organization.is_idle:
            self.organizations.pop(organization.id, None)

    def _forget_webhooks(self) -> None:
        """Forget idle ones among those that were not heard of for longest."""
        for webhook in list(self._webhooks.values())[: KNOWN_WEBHOOKS // 10]:
            organization = self.organizations.get(webhook.organization_id)
            is_due = organization is not None and webhook.id in organization.due
            if webhook.is_idle and not is_due:
                del self._webhooks[webhook.id]
