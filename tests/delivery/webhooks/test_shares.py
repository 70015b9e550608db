"""Whose turn it is, without threads, requests or a database."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from app.delivery.webhooks import shares as rules
from app.delivery.webhooks.queries.leases import Taken
from app.delivery.webhooks.queries.outcomes import Result
from app.delivery.webhooks.sending import _result
from app.delivery.webhooks.shares import Shares
from app.kit.ids import uuid7

ORGANIZATION = uuid7()


def _claims(webhook: str, count: int, failures: int = 0) -> list[list[Any]]:
    return [
        [str(ORGANIZATION), webhook, failures, str(uuid7()), str(uuid7())] for _ in range(count)
    ]


def _taken(webhook: str, delivery: str) -> Taken:
    return Taken(
        organization_id=ORGANIZATION,
        id=UUID(delivery),
        webhook_id=UUID(webhook),
        lease_token=uuid7(),
        verdict="pending",
        number=1,
        round=1,
        at=datetime.now(UTC),
        event="artifact.ingested",
        test=False,
        body=b"{}",
        request_id=None,
        url="",
        secret="",
        previous_secret=None,
    )


def _begin(shares: Shares) -> list[tuple[str, Taken]]:
    """Take and send all that may be; what is being sent now."""
    sending: list[tuple[str, Taken]] = []
    while picked := shares.pick(64):
        for webhook, lease in picked:
            shares.took(webhook, _taken(webhook, lease.id))
        for webhook in {webhook for webhook, _ in picked}:
            sending += _send(shares, webhook)
    return sending


def _send(shares: Shares, webhook: str) -> Iterable[tuple[str, Taken]]:
    while (attempt := shares.next_of(webhook)) is not None:
        yield webhook, attempt


def _ended(attempt: Taken, *, ok: bool, duration_ms: int = 5) -> Result:
    return _result(attempt, ok=ok, duration_ms=duration_ms)


def test_a_quick_webhook_gets_eight_at_a_time() -> None:
    shares, webhook = Shares(128), str(uuid7())
    shares.add(_claims(webhook, 100))
    first, second = _begin(shares)
    shares.sent(webhook, _ended(first[1], ok=True))
    assert len(_begin(shares)) == rules.AT_ONCE - 1 == 7
    shares.sent(webhook, _ended(second[1], ok=True))
    assert len(list(_send(shares, webhook))) == 1


def test_a_failing_one_gets_two_and_gives_back_what_was_taken_ahead() -> None:
    shares, webhook = Shares(128), str(uuid7())
    shares.add(_claims(webhook, 100))
    _, (_, second) = _begin(shares)
    shares.sent(webhook, _ended(second, ok=True))
    (_, attempt), *_ = _begin(shares)
    surplus = shares.sent(webhook, _ended(attempt, ok=False))
    assert len(surplus) == rules.AHEAD == 8
    assert _begin(shares) == []


def test_a_slow_one_gets_two() -> None:
    shares, webhook = Shares(128), str(uuid7())
    shares.add(_claims(webhook, 100))
    for _, attempt in _begin(shares):
        shares.sent(webhook, _ended(attempt, ok=True, duration_ms=rules.SLOW_MS))
    assert len(_begin(shares)) == rules.AT_ONCE_AT_FIRST == 2


def test_receivers_that_hang_leave_threads_for_others() -> None:
    shares = Shares(32)
    hanging = [str(uuid7()) for _ in range(12)]
    for webhook in hanging:
        shares.add(_claims(webhook, 50))
    sending = _begin(shares)
    assert len(sending) == 24
    newcomer = str(uuid7())
    shares.add(_claims(newcomer, 1))
    assert [webhook for webhook, _ in _begin(shares)] == [newcomer]


def test_when_threads_run_short_a_webhook_gets_one() -> None:
    shares = Shares(6)
    webhooks = [str(uuid7()) for _ in range(5)]
    for webhook in webhooks:
        shares.add(_claims(webhook, 50))
    assert {webhook for webhook, _ in _begin(shares)} == set(webhooks)


def test_a_newer_token_replaces_the_older() -> None:
    shares, webhook = Shares(1), str(uuid7())
    (old,) = _claims(webhook, 1)
    shares.add([old])
    shares.add([[*old[:4], "newer"]])
    assert [lease.token for _, lease in shares.pick(64)] == ["newer"]


def test_webhooks_that_are_idle_are_forgotten_in_the_end() -> None:
    shares = Shares(8)
    for _ in range(rules.KNOWN_WEBHOOKS + 100):
        webhook = str(uuid7())
        shares.add(_claims(webhook, 1))
        for _, lease in shares.pick(64):
            shares.took(webhook, _taken(webhook, lease.id))
        for _, attempt in list(_send(shares, webhook)):
            shares.sent(webhook, _ended(attempt, ok=True))
    assert len(shares._hooks) <= rules.KNOWN_WEBHOOKS
    assert shares.idle


@settings(max_examples=60, deadline=None)
@given(
    fails=st.lists(st.booleans(), min_size=60, max_size=60),
    order=st.lists(st.integers(0, 100), min_size=60, max_size=60),
    threads=st.integers(1, 40),
)
def test_no_order_of_outcomes_sends_past_the_tenth_failure(
    fails: list[bool], order: list[int], threads: int
) -> None:
    """A webhook is told nothing more once ten in a row have failed, whatever was under way."""
    shares, webhook = Shares(threads), str(uuid7())
    waiting = _claims(webhook, 60)
    shares.add(waiting)
    sending = _begin(shares)
    row = sent = 0
    while sending:
        _, attempt = sending.pop(order[sent % len(order)] % len(sending))
        failed = fails[sent % len(fails)]
        sent += 1
        row = row + 1 if failed else 0
        returned = shares.sent(webhook, _ended(attempt, ok=not failed))
        shares.add([[*row_[:4], str(uuid7())] for row_ in waiting if _of(row_, returned)])
        assert row <= rules.DEACTIVATE_AT
        if row == rules.DEACTIVATE_AT:
            assert not sending, "none is under way any more"
            assert _begin(shares) == []
            return
        sending += list(_send(shares, webhook)) + _begin(shares)
    assert sent == 60, "none was forgotten"
    assert shares.idle


def _of(row: list[Any], returned: list[Taken]) -> bool:
    return any(row[3] == str(attempt.id) for attempt in returned)


def test_what_is_claimed_of_a_deactivated_webhook_is_begun_one_at_a_time() -> None:
    shares, webhook = Shares(128), str(uuid7())
    shares.add(_claims(webhook, 3, failures=rules.DEACTIVATE_AT))
    (only,) = _begin(shares)
    shares.sent(webhook, _ended(only[1], ok=True))
    assert len(_begin(shares)) > 0
