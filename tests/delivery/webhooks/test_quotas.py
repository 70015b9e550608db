"""Which attempts begin and which is sent next, without threads, requests or a database."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from app.delivery.webhooks import states
from app.delivery.webhooks.queries.due import DueWebhook
from app.delivery.webhooks.queries.leases import Attempt
from app.delivery.webhooks.queries.outcomes import AttemptResult
from app.delivery.webhooks.queries.pacing import DEACTIVATE_AT, MAX_FAILING
from app.delivery.webhooks.quotas import PickedWebhook, Quotas
from app.delivery.webhooks.states import (
    MAX_CONCURRENT,
    MAX_CONCURRENT_NOT_QUICK,
    MAX_PREFETCHED_ATTEMPTS,
    SLOW_SECONDS,
    AttemptLimits,
)
from app.kit.ids import uuid7
from tests.factories.properties import examples

QUICK_MS = 5
SLOW_MS = int(SLOW_SECONDS * 1000)


@dataclass
class Hook:
    """A webhook's row in the model of the database, and how many deliveries are due."""

    organization: UUID
    due: int = 0
    failures: int = 0
    under_way: int = 0
    id: UUID = field(default_factory=uuid7)


class Deliverer:
    """`Quotas` beside a model of the database that keeps the rules of `queries.pacing`."""

    def __init__(self, threads: int = 128) -> None:
        self.now = 1000.0
        self.quotas = Quotas(threads, lambda: self.now)
        self.hooks: dict[UUID, Hook] = {}
        self.under_way: list[Attempt] = []
        self.requests: Counter[UUID] = Counter()

    def hook(self, due: int, organization: UUID | None = None, failures: int = 0) -> Hook:
        new_hook = Hook(organization or uuid7(), due, failures)
        self.hooks[new_hook.id] = new_hook
        return new_hook

    def find(self) -> None:
        """Look for what is due, as a message makes a deliverer do."""
        hooks = [hook for hook in self.hooks.values() if self._count_allowed_attempts(hook, 1)]
        self.quotas.add_due(
            [DueWebhook(hook.organization, hook.id, hook.failures, True, False) for hook in hooks]
        )

    def run(self) -> list[Attempt]:
        """Find, begin and send all that may be; return what is new under way."""
        started = self.send()
        returned = True
        while returned:
            self.find()
            while picked := self.quotas.pick(64):
                self.quotas.add_attempts(picked, self.begin_attempts(picked))
                started += self.send()
            returned = self.requeue_unsent() > 0
        return started

    def begin_attempts(self, picked: Iterable[PickedWebhook]) -> list[Attempt]:
        """Be the statement that begins attempts."""
        begun: list[Attempt] = []
        for limit, _, _ in picked:
            hook = self.hooks[limit.webhook_id]
            for _ in range(self._count_allowed_attempts(hook, limit.max_attempts)):
                hook.due -= 1
                hook.under_way += 1
                begun.append(_attempt(hook))
        return begun

    def _count_allowed_attempts(self, hook: Hook, room: int) -> int:
        if hook.failures >= DEACTIVATE_AT:
            return 0
        if hook.failures:
            room = 0 if hook.under_way else 1
        return min(room, hook.due)

    def send(self) -> list[Attempt]:
        """Start what may be sent."""
        started: list[Attempt] = []
        while (attempt := self.quotas.start_next()) is not None:
            started.append(attempt)
            self.requests[attempt.webhook_id] += 1
        self.under_way += started
        return started

    def end(self, attempt: Attempt, *, ok: bool = True, ms: int = QUICK_MS) -> AttemptResult:
        """An attempt ends; its result is not recorded yet."""
        self.under_way.remove(attempt)
        result = AttemptResult(attempt, ok=ok, duration_ms=ms)
        self.quotas.record_result(attempt, result)
        return result

    def write(self, result: AttemptResult) -> None:
        """Record a result. A delivery that failed is not due again."""
        hook = self.hooks[result.attempt.webhook_id]
        hook.under_way -= 1
        hook.failures = 0 if result.ok else hook.failures + 1
        self.quotas.mark_written([result])

    def finish(self, attempt: Attempt, *, ok: bool = True, ms: int = QUICK_MS) -> None:
        self.write(self.end(attempt, ok=ok, ms=ms))

    def requeue_unsent(self) -> int:
        """Be the statement that gives back what is not to be sent."""
        returned = len(self.quotas.attempts_to_requeue)
        for attempt in self.quotas.attempts_to_requeue:
            hook = self.hooks[attempt.webhook_id]
            hook.due += 1
            hook.under_way -= 1
        self.quotas.attempts_to_requeue.clear()
        return returned

    def sending(self, hook: Hook) -> int:
        return sum(attempt.webhook_id == hook.id for attempt in self.under_way)

    def by_organization(self) -> Counter[UUID]:
        return Counter(attempt.organization_id for attempt in self.under_way)


def _create_deliverer(due: int, *, failures: int = 0) -> tuple[Deliverer, Hook]:
    """Return a deliverer with one webhook, and the webhook."""
    deliverer = Deliverer()
    return deliverer, deliverer.hook(due, failures=failures)


def _attempt(hook: Hook, *, test: bool = False, replayed: bool = False) -> Attempt:
    return Attempt(
        organization_id=hook.organization,
        id=uuid7(),
        webhook_id=hook.id,
        lease_token=uuid7(),
        status="pending",
        failures=hook.failures,
        number=1,
        round=1,
        at=datetime.now(UTC),
        event="artifact.ingested",
        test=test,
        replayed=replayed,
        expired=False,
        body=b"{}",
        request_id=None,
        url="",
        secret="",
        previous_secret=None,
    )


def test_a_webhook_is_due_again_when_a_replay_is_recorded() -> None:
    """The statement begins few replays at once, even if many are due."""
    for replayed in (False, True):
        deliverer, hook = _create_deliverer(1)
        deliverer.find()
        picked = deliverer.quotas.pick(64)
        assert [webhook.limit.max_replays for webhook in picked] == [1]
        attempt = _attempt(hook, replayed=replayed)
        deliverer.quotas.add_attempts(picked, [attempt])
        assert deliverer.send() == [attempt]
        result = deliverer.end(attempt)
        assert deliverer.quotas.pick(64) == []
        deliverer.quotas.mark_written([result])
        picked = deliverer.quotas.pick(64)
        assert [webhook.limit.max_replays for webhook in picked] == ([4] if replayed else [])


def test_a_quick_webhook_gets_eight_at_a_time() -> None:
    deliverer, hook = _create_deliverer(100)
    first, second = deliverer.run()
    deliverer.finish(first)
    assert len(deliverer.run()) == MAX_CONCURRENT - 1 == 7
    deliverer.finish(second)
    assert len(deliverer.send()) == 1
    assert deliverer.sending(hook) == MAX_CONCURRENT


def test_with_the_first_failure_no_other_attempt_starts_and_all_goes_back() -> None:
    deliverer, hook = _create_deliverer(100)
    deliverer.finish(deliverer.run()[1])
    deliverer.run()
    assert deliverer.sending(hook) == MAX_CONCURRENT == 8
    failed = deliverer.end(deliverer.under_way[0], ok=False)
    assert deliverer.requeue_unsent() == MAX_PREFETCHED_ATTEMPTS == 8
    assert deliverer.run() == [], "the outcome is not written yet"
    deliverer.write(failed)
    for attempt in list(deliverer.under_way):
        deliverer.finish(attempt, ok=False)
    assert hook.due == 100 - 1 - 8
    assert hook.failures == 8
    assert len(deliverer.run()) == 1, "one at a time"


def test_one_success_among_failures_goes_on_at_full_speed() -> None:
    deliverer, hook = _create_deliverer(100)
    one, another = deliverer.run()
    results = [deliverer.end(one, ok=False), deliverer.end(another)]
    for result in results:
        deliverer.write(result)
    deliverer.run()
    assert deliverer.sending(hook) == MAX_CONCURRENT


def test_a_failing_one_is_tried_once_and_a_success_ends_that() -> None:
    deliverer, hook = _create_deliverer(50, failures=3)
    (probe,) = deliverer.run()
    assert deliverer.run() == [], "one at a time"
    deliverer.finish(probe)
    deliverer.run()
    assert deliverer.sending(hook) == MAX_CONCURRENT


def test_failures_that_another_deliverer_saw_count_here_too() -> None:
    deliverer, hook = _create_deliverer(50)
    deliverer.find()
    hook.failures = 4
    assert len(deliverer.run()) == 1
    assert deliverer.run() == []


def test_what_begun_without_knowledge_of_a_failure_goes_back() -> None:
    """The statement had not seen it, and the failure is written before it answers."""
    deliverer, hook = _create_deliverer(100)
    (one, _) = deliverer.run()
    deliverer.finish(one)
    deliverer.find()
    picked = deliverer.quotas.pick(64)
    begun = deliverer.begin_attempts(picked)
    deliverer.finish(deliverer.under_way[0], ok=False)
    deliverer.quotas.add_attempts(picked, begun)
    assert deliverer.send() == []
    assert deliverer.requeue_unsent() == len(begun) > 0
    assert hook.due == 98


def test_a_paused_one_is_asked_for_once() -> None:
    deliverer = Deliverer()
    deliverer.hook(50)
    deliverer.find()
    picked = deliverer.quotas.pick(64)
    deliverer.quotas.add_attempts(picked, [])
    assert deliverer.quotas.pick(64) == []
    assert deliverer.quotas.is_idle


def test_a_slow_one_gets_two() -> None:
    deliverer, hook = _create_deliverer(100)
    for attempt in deliverer.run():
        deliverer.finish(attempt, ms=SLOW_MS)
    deliverer.run()
    assert deliverer.sending(hook) == MAX_CONCURRENT_NOT_QUICK == 2


def test_one_that_becomes_slow_gives_back_what_was_prefetched() -> None:
    deliverer, hook = _create_deliverer(100)
    deliverer.finish(deliverer.run()[0])
    deliverer.run()
    for attempt in list(deliverer.under_way):
        deliverer.finish(attempt, ms=SLOW_MS)
        deliverer.send()
    assert deliverer.requeue_unsent() > 0
    assert deliverer.sending(hook) <= MAX_CONCURRENT_NOT_QUICK


def test_receivers_that_hang_leave_threads_for_others() -> None:
    """Of one organization and of several."""
    deliverer = Deliverer(64)
    hostile = uuid7()
    hanging = [deliverer.hook(50, hostile) for _ in range(12)]
    deliverer.run()
    assert len(deliverer.under_way) <= AttemptLimits.from_available(64).not_quick == 16
    assert all(deliverer.sending(hook) for hook in hanging), "none waits for the others"
    newcomer = deliverer.hook(1)
    assert [attempt.webhook_id for attempt in deliverer.run()] == [newcomer.id]


def test_an_organization_with_many_slow_webhooks_keeps_an_eighth() -> None:
    deliverer = Deliverer(256)
    organization = uuid7()
    for _ in range(64):
        deliverer.hook(1000, organization)
    deliverer.run()
    assert len(deliverer.under_way) == 64, "a quarter while it is not known"
    for _ in range(5):
        deliverer.now += SLOW_SECONDS + 0.1
        deliverer.run()
        assert len(deliverer.under_way) == 64, "what takes long frees no room"
    for _ in range(3):
        for attempt in list(deliverer.under_way):
            deliverer.finish(attempt, ms=9900)
        deliverer.run()
        deliverer.now += 9.9
    assert len(deliverer.under_way) <= 64
    for attempt in list(deliverer.under_way):
        deliverer.finish(attempt, ms=9900)
        deliverer.run()
    assert len(deliverer.under_way) == AttemptLimits.from_available(256).slow == 32


def test_a_quick_webhook_of_an_organization_with_slow_ones_is_served() -> None:
    deliverer = Deliverer(256)
    organization = uuid7()
    for _ in range(300):
        deliverer.hook(1000, organization)
    while len(deliverer.requests) < 300:
        for attempt in deliverer.run():
            deliverer.finish(attempt, ms=9900)
    deliverer.run()
    quick = deliverer.hook(50, organization)
    for _ in range(200):
        deliverer.run()
        for attempt in [one for one in deliverer.under_way if one.webhook_id == quick.id]:
            deliverer.finish(attempt)
        # The others stay as they are.
    assert quick.due == 0


def test_one_organization_alone_gets_half() -> None:
    deliverer = Deliverer(64)
    organization = uuid7()
    for _ in range(100):
        deliverer.hook(100, organization)
    for _ in range(300):
        deliverer.run()
        if deliverer.under_way:
            deliverer.finish(deliverer.under_way[0])
    deliverer.run()
    assert len(deliverer.under_way) == 32


def test_a_long_backlog_takes_turns_with_others() -> None:
    deliverer = Deliverer(16)
    busy, other = uuid7(), uuid7()
    for _ in range(20):
        deliverer.hook(10_000, busy)
    for _ in range(200):
        deliverer.run()
        deliverer.finish(deliverer.under_way[0])
    late = deliverer.hook(3, other)
    deliverer.run()
    assert deliverer.sending(late) == 1
    for _ in range(3):
        (attempt, *_) = [one for one in deliverer.under_way if one.webhook_id == late.id]
        deliverer.finish(attempt)
        deliverer.run()
    assert deliverer.requests[late.id] == 3


def test_webhooks_that_are_idle_are_forgotten_in_the_end() -> None:
    deliverer = Deliverer(8)
    for _ in range(states.MAX_KNOWN_WEBHOOKS // 10):
        hooks = [deliverer.hook(1) for _ in range(11)]
        while deliverer.run():
            for attempt in list(deliverer.under_way):
                deliverer.finish(attempt)
        for hook in hooks:
            del deliverer.hooks[hook.id]
    assert len(deliverer.quotas._states._webhooks) <= states.MAX_KNOWN_WEBHOOKS
    assert deliverer.quotas.is_idle


def test_an_attempt_that_was_given_up_is_returned() -> None:
    deliverer = Deliverer()
    deliverer.hook(1)
    (attempt,) = deliverer.run()
    deliverer.under_way.remove(attempt)
    deliverer.quotas.requeue_unsent(attempt)
    assert deliverer.quotas.attempts_to_requeue == [attempt]
    assert not deliverer.quotas.is_idle
    deliverer.requeue_unsent()
    assert deliverer.quotas.is_idle


def test_tests_are_sent_to_a_failing_webhook() -> None:
    deliverer, hook = _create_deliverer(1)
    deliverer.find()
    picked = deliverer.quotas.pick(64)
    test = _attempt(hook, test=True)
    deliverer.quotas.add_attempts(picked, [test])
    assert deliverer.send() == [test]


@examples(150)
@given(
    fails=st.lists(st.booleans(), min_size=60, max_size=60),
    order=st.lists(st.integers(0, 100), min_size=60, max_size=60),
    lag=st.integers(0, 12),
    threads=st.integers(1, 40),
)
def test_no_order_of_outcomes_sends_past_the_tenth_failure(
    fails: list[bool], order: list[int], lag: int, threads: int
) -> None:
    """A webhook gets nothing more once ten in a row have failed, whatever was under way; and what
    was given back and begins again is all sent, however late outcomes are written."""
    deliverer = Deliverer(threads)
    deliverer.hook(60)
    unwritten: list[AttemptResult] = []
    row = sent = 0
    deliverer.run()
    while deliverer.under_way or unwritten:
        if deliverer.under_way:
            attempt = deliverer.under_way[order[sent % len(order)] % len(deliverer.under_way)]
            failed = fails[sent % len(fails)]
            sent += 1
            row = row + 1 if failed else 0
            unwritten.append(deliverer.end(attempt, ok=not failed))
        if len(unwritten) > lag or (unwritten and not deliverer.under_way):
            deliverer.write(unwritten.pop(0))
        assert row <= DEACTIVATE_AT
        if row == DEACTIVATE_AT:
            assert not deliverer.under_way, "none is under way any more"
            assert deliverer.send() == []
            return
        deliverer.send()
        deliverer.run()
    assert sent == 60, "none was forgotten"
    assert deliverer.quotas.is_idle


_ORGANIZATIONS = st.lists(
    st.tuples(st.integers(1, 70), st.sampled_from([QUICK_MS, 1900, 2100, 9900])),
    min_size=1,
    max_size=6,
)


@examples(60)
@given(
    organizations=_ORGANIZATIONS,
    threads=st.integers(16, 256),
    seed=st.randoms(use_true_random=False),
)
def test_whatever_others_do_a_newcomer_is_sent_at_once(
    organizations: list[tuple[int, int]], threads: int, seed: random.Random
) -> None:
    """Organizations with many webhooks and backlogs, quick and slow: none has more than its share
    when it starts an attempt, and a thread is left for the next one that comes."""
    deliverer = Deliverer(threads)
    pace: dict[UUID, int] = {}
    for hooks, milliseconds in organizations:
        organization = uuid7()
        for _ in range(hooks):
            pace[deliverer.hook(200, organization).id] = milliseconds
    for _ in range(12):
        deliverer.run()
        _check_shares(deliverer)
        deliverer.now += seed.choice([0.1, 1.0, 3.0])
        for attempt in seed.sample(deliverer.under_way, len(deliverer.under_way) // 3):
            deliverer.finish(attempt, ms=pace[attempt.webhook_id])
    if threads >= 64:
        newcomer = deliverer.hook(1)
        deliverer.run()
        assert deliverer.sending(newcomer) == 1


def _check_shares(deliverer: Deliverer) -> None:
    """No organization has more than the half of what the others leave, and one thread."""
    counts = deliverer.by_organization()
    total = sum(counts.values())
    assert total <= deliverer.quotas.threads.count
    for organization, count in counts.items():
        # Others may have come after it started its last one: then they have less than it had left.
        assert count <= max(1, deliverer.quotas.threads.count // 2), organization


@examples(40)
@given(
    backlog=st.lists(st.integers(1, 60), min_size=1, max_size=8),
    threads=st.integers(1, 64),
    fails=st.floats(0, 0.5),
    seed=st.randoms(use_true_random=False),
)
def test_everything_due_is_sent_in_the_end(
    backlog: list[int], threads: int, fails: float, seed: random.Random
) -> None:
    deliverer = Deliverer(threads)
    hooks = [deliverer.hook(count) for count in backlog]
    for _ in range(5_000):
        deliverer.run()
        if not deliverer.under_way:
            break
        attempt = seed.choice(deliverer.under_way)
        deliverer.finish(attempt, ok=seed.random() >= fails, ms=seed.choice([5, 2500]))
    alive = [hook for hook in hooks if hook.failures < DEACTIVATE_AT]
    assert [hook.due for hook in alive] == [0] * len(alive)
    assert not any(hook.under_way for hook in hooks)


def test_no_more_than_a_statement_takes_is_picked_of_each() -> None:
    deliverer = Deliverer(256)
    for _ in range(5):
        organization = uuid7()
        for _ in range(300):
            deliverer.hook(10, organization)
    deliverer.find()
    picked = deliverer.quotas.pick(64)
    numbers: defaultdict[UUID, int] = defaultdict(int)
    for limit, _, _ in picked:
        numbers[limit.organization_id] += limit.max_attempts
    assert len(numbers) == 5, "every organization has its turn in one statement"
    assert sum(numbers.values()) <= 64
    assert max(numbers.values()) <= 64 // 5
    assert MAX_FAILING <= MAX_CONCURRENT
