"""Whose turn it is: what each webhook may have under way, so that none holds up another.

A webhook has few attempts under way at a time: two until it has shown that it is quick, and fewer
when threads run short. To keep its senders busy, a quick one has some more taken ahead of them.

From a failure on, a webhook has one attempt at a time, and none before the failure is written
down: when the next one is due is decided by the database, which knows of the failures that other
deliverers saw. So what a failing webhook has here goes back there. After one success it has its
full share again.

Nothing here is safe for threads or waits for anything; the dispatcher holds its lock around it.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.delivery.webhooks.queries.leases import PAUSED, Lease, Taken
from app.delivery.webhooks.queries.outcomes import Result

DEACTIVATE_AT = 10
AT_ONCE = 8
AT_ONCE_AT_FIRST = 2
AHEAD = 8
TAKE_AT_LEAST = 4
SLOW_MS = 2000
KNOWN_WEBHOOKS = 10_000

Picked = list[tuple[str, Lease]]
"""(webhook, lease) of what is to be taken."""


@dataclass(slots=True)
class Hook:
    """What is known of a webhook here: `waiting` is claimed, `begun` is taken and not yet sent,
    `unwritten` is sent, and its outcome not yet in the database."""

    failures: int = 0
    quick: bool = False
    waiting: "OrderedDict[str, Lease]" = field(default_factory=OrderedDict)
    begun: "deque[Taken]" = field(default_factory=deque)
    taking: int = 0
    sending: int = 0
    unwritten: int = 0

    @property
    def at_once(self) -> int:
        """How many attempts may be under way."""
        if self.failures:
            return int(not self.unwritten and self.failures < DEACTIVATE_AT)
        return AT_ONCE if self.quick else AT_ONCE_AT_FIRST

    @property
    def idle(self) -> bool:
        """Whether nothing of it is here."""
        here = self.waiting or self.begun or self.taking or self.sending or self.unwritten
        return not here

    def may_take(self) -> int:
        """How many may be taken now; few at a time would not be worth a statement."""
        limit = self.at_once + (AHEAD if self.at_once == AT_ONCE else 0)
        room = limit - self.taking - len(self.begun) - self.sending
        worth_it = room >= TAKE_AT_LEAST or limit < AT_ONCE or room >= len(self.waiting)
        return max(0, min(room, len(self.waiting))) if worth_it else 0

    def may_send(self, free_threads: int) -> bool:
        """Whether one more may be sent: half of what threads are left stays for the others."""
        limit = min(self.at_once, max(1, free_threads // 2))
        return bool(self.begun) and free_threads > 0 and self.sending < limit

    def ahead(self) -> list[Taken]:
        """What was taken ahead and must not be sent now: the webhook fails, or is slow."""
        if self.at_once == AT_ONCE:
            return []
        keep = max(0, self.at_once - self.sending)
        return [self.begun.pop() for _ in range(len(self.begun) - keep)]


class Shares:
    """The webhooks, and which of them could go on. `threads` can send at a time.

    What is to be given back to the database is put into `untake`, where it was taken already, and
    into `release`, where it was only claimed.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.sending = 0
        self.untake: list[Taken] = []
        self.release: list[Lease] = []
        self._hooks: OrderedDict[str, Hook] = OrderedDict()
        self._stirred: OrderedDict[str, None] = OrderedDict()

    @property
    def free_threads(self) -> int:
        """Threads that send nothing."""
        return self.threads - self.sending

    @property
    def idle(self) -> bool:
        """Whether nothing waits, was begun, is being sent or written, or is to be given back."""
        return not self.giving_back and all(hook.idle for hook in self._hooks.values())

    @property
    def giving_back(self) -> bool:
        """Whether something is to be given back."""
        return bool(self.untake or self.release)

    @property
    def stirred(self) -> bool:
        """Whether `pick` might find something."""
        return bool(self._stirred) and self.free_threads > 0

    def add(self, batch: Sequence[Sequence[Any]]) -> None:
        """Take in claims: [organization, webhook, failures, delivery, token] each.

        A delivery that waits here already goes on under its newer token.
        """
        for organization, webhook, failures, delivery, token in batch:
            hook = self._hook(webhook)
            if hook.idle:
                # A test goes to a deactivated webhook too; whether others do is asked of the
                # database, one at a time.
                hook.failures = min(failures, DEACTIVATE_AT - 1)
            hook.waiting[delivery] = Lease(organization, delivery, token)
            self._stirred[webhook] = None

    def _hook(self, webhook: str) -> Hook:
        hook = self._hooks.get(webhook)
        if hook is None:
            if len(self._hooks) >= KNOWN_WEBHOOKS:
                idle = [name for name, known in self._hooks.items() if known.idle]
                for name in idle[: KNOWN_WEBHOOKS // 10]:
                    del self._hooks[name]
                    # Its last outcome may have stirred it since anybody picked.
                    self._stirred.pop(name, None)
            hook = self._hooks[webhook] = Hook()
        self._hooks.move_to_end(webhook)
        return hook

    def pick(self, most: int) -> Picked:
        """What to take now, at most `most`, a fair share of each webhook."""
        picked: Picked = []
        for webhook in list(self._stirred):
            hook = self._hooks[webhook]
            for _ in range(min(hook.may_take(), most - len(picked))):
                picked.append((webhook, hook.waiting.popitem(last=False)[1]))
                hook.taking += 1
            # It comes back when one of its attempts ends, or when it is given more.
            del self._stirred[webhook]
            if len(picked) >= most:
                self._stirred[webhook] = None
                break
        return picked

    def put_back(self, picked: Picked) -> None:
        """They were not taken after all, and wait as before."""
        for webhook, lease in reversed(picked):
            hook = self._hooks[webhook]
            hook.taking -= 1
            if lease.id not in hook.waiting:
                hook.waiting[lease.id] = lease
                hook.waiting.move_to_end(lease.id, last=False)
            self._stirred[webhook] = None

    def took(self, webhook: str, attempt: Taken | None) -> None:
        """A taking has ended. None: the lease was lost. What came without one is not sent."""
        hook = self._hooks[webhook]
        hook.taking -= 1
        if attempt is not None and attempt.lease_token is not None:
            if not hook.unwritten:
                # Failures that another deliverer saw.
                hook.failures = max(hook.failures, min(attempt.failures, DEACTIVATE_AT - 1))
            hook.begun.append(attempt)
            self.untake += hook.ahead()
        elif attempt is not None and attempt.verdict == PAUSED:
            self._give_back(hook)
        self._stirred[webhook] = None

    def _give_back(self, hook: Hook) -> None:
        self.release += hook.waiting.values()
        hook.waiting.clear()

    def next_of(self, webhook: str) -> Taken | None:
        """An attempt of this webhook that a thread should send now."""
        hook = self._hooks[webhook]
        if not hook.may_send(self.free_threads):
            return None
        hook.sending += 1
        self.sending += 1
        return hook.begun.popleft()

    def sent(self, webhook: str, result: Result) -> None:
        """An attempt has ended."""
        hook = self._hooks[webhook]
        hook.sending -= 1
        hook.unwritten += 1
        self.sending -= 1
        hook.quick = result.duration_ms < SLOW_MS
        if not (result.test or result.fatal):
            hook.failures = 0 if result.ok else hook.failures + 1
        self.untake += hook.ahead()
        self._stirred[webhook] = None

    def written(self, webhook: str) -> None:
        """An outcome is in the database, which says from now on when a failing one goes on."""
        hook = self._hooks[webhook]
        hook.unwritten -= 1
        if hook.failures:
            self._give_back(hook)
        self._stirred[webhook] = None

    def begun(self) -> list[str]:
        """The webhooks that have attempts to send."""
        return [name for name, hook in self._hooks.items() if hook.begun]

    def waiting(self) -> Iterator[Lease]:
        """The leases of all that waits."""
        for hook in self._hooks.values():
            yield from hook.waiting.values()

    def drop_begun(self) -> list[Taken]:
        """All that was taken and is not sent, which it never will be from here."""
        found: list[Taken] = []
        for hook in self._hooks.values():
            found += hook.begun
            hook.begun.clear()
        return found
