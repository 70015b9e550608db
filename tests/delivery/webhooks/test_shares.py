"""Whose turn it is, without threads, requests or a database."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from app.delivery.webhooks import shares as rules
from app.delivery.webhooks.queries.leases import PAUSED, Lease, Taken
from app.delivery.webhooks.queries.outcomes import Result
from app.delivery.webhooks.sending import _result
from app.delivery.webhooks.shares import Shares
from app.kit.ids import uuid7

ORGANIZATION = uuid7()


def _claims(webhook: str, count: int, failures: int = 0) -> list[list[Any]]:
    return [
        [str(ORGANIZATION), webhook, failures, str(uuid7()), str(uuid7())] for _ in range(count)
    ]


def _taken(webhook: str, delivery: str, failures: int = 0) -> Taken:
    return Taken(
        organization_id=ORGANIZATION,
        id=UUID(delivery),
        webhook_id=UUID(webhook),
        lease_token=uuid7(),
        verdict="pending",
        failures=failures,
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


def _end(shares: Shares, attempt: Taken, *, ok: bool) -> None:
    """An attempt ends, and its outcome is written."""
    shares.sent(str(attempt.webhook_id), _ended(attempt, ok=ok))
    shares.written(str(attempt.webhook_id))


def test_a_quick_webhook_gets_eight_at_a_time() -> None:
    shares, webhook = Shares(128), str(uuid7())
    shares.add(_claims(webhook, 100))
    first, second = _begin(shares)
    shares.sent(webhook, _ended(first[1], ok=True))
    assert len(_begin(shares)) == rules.AT_ONCE - 1 == 7
    shares.sent(webhook, _ended(second[1], ok=True))
    assert len(list(_send(shares, webhook))) == 1


def test_with_the_first_failure_no_other_attempt_starts_and_all_goes_back() -> None:
    shares, webhook = Shares(128), str(uuid7())
    shares.add(_claims(webhook, 100))
    first, second = _begin(shares)
    _end(shares, second[1], ok=True)
    sending = [first, *_begin(shares)]
    assert len(sending) == rules.AT_ONCE == 8
    shares.sent(webhook, _ended(sending.pop()[1], ok=False))
    assert len(shares.untake) == rules.AHEAD == 8
    assert (_begin(shares), shares.release) == ([], []), "the outcome is not written yet"
    shares.written(webhook)
    assert len(shares.release) == 100 - 1 - 8 - 8
    for _, attempt in sending:
        _end(shares, attempt, ok=False)
    assert _begin(shares) == []
    assert shares.giving_back


def test_one_success_among_failures_goes_on_at_full_speed() -> None:
    shares, webhook = Shares(128), str(uuid7())
    shares.add(_claims(webhook, 100))
    one, another = _begin(shares)
    shares.sent(webhook, _ended(one[1], ok=False))
    shares.sent(webhook, _ended(another[1], ok=True))
    assert shares.release == [], "the failure had not been written when the success came"
    assert len(_begin(shares)) == rules.AT_ONCE


def test_a_failing_one_is_tried_once_and_a_success_ends_that() -> None:
    shares, webhook = Shares(128), str(uuid7())
    shares.add(_claims(webhook, 1, failures=3))
    ((_, probe),) = _begin(shares)
    shares.add(_claims(webhook, 50))
    assert _begin(shares) == [], "one at a time"
    _end(shares, probe, ok=True)
    assert shares.release == []
    assert len(_begin(shares)) == rules.AT_ONCE


def test_failures_that_another_deliverer_saw_count_here_too() -> None:
    shares, webhook = Shares(128), str(uuid7())
    shares.add(_claims(webhook, 50))
    picked = shares.pick(64)
    assert len(picked) == rules.AT_ONCE_AT_FIRST == 2
    for _, lease in picked:
        shares.took(webhook, _taken(webhook, lease.id, failures=4))
    assert len(list(_send(shares, webhook))) == 1
    assert [str(attempt.id) for attempt in shares.untake] == [picked[1][1].id]
    assert shares.pick(64) == []


def test_a_paused_one_gives_back_all_it_has() -> None:
    shares, webhook = Shares(128), str(uuid7())
    shares.add(_claims(webhook, 50))
    for _, lease in shares.pick(64):
        paused = replace(_taken(webhook, lease.id), lease_token=None, verdict=PAUSED)
        shares.took(webhook, paused)
    assert len(shares.release) == 48, "the two were given back in the statement that said so"
    assert shares.pick(64) == []
    shares.release.clear()
    assert shares.idle


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
            _end(shares, attempt, ok=True)
    assert len(shares._hooks) <= rules.KNOWN_WEBHOOKS
    assert shares.idle


def test_nothing_is_picked_of_a_webhook_that_was_forgotten() -> None:
    shares, webhooks = Shares(2), [str(uuid7()) for _ in range(rules.KNOWN_WEBHOOKS)]
    for webhook in webhooks:
        shares.add(_claims(webhook, 1))
        assert len(shares.pick(1)) == 1
        # The lease was lost: it is idle, and was stirred since the last pick.
        shares.took(webhook, None)
    later = str(uuid7())
    shares.add(_claims(later, 1))
    assert [webhook for webhook, _ in shares.pick(64)] == [later]


@settings(max_examples=100, deadline=None)
@given(
    fails=st.lists(st.booleans(), min_size=60, max_size=60),
    order=st.lists(st.integers(0, 100), min_size=60, max_size=60),
    lag=st.integers(0, 12),
    threads=st.integers(1, 40),
)
def test_no_order_of_outcomes_sends_past_the_tenth_failure(
    fails: list[bool], order: list[int], lag: int, threads: int
) -> None:
    """A webhook is told nothing more once ten in a row have failed, whatever was under way; and
    what was given back and is claimed again is all sent, however late outcomes are written."""
    shares, webhook = Shares(threads), str(uuid7())
    shares.add(_claims(webhook, 60))
    sending, unwritten = _begin(shares), 0
    row = sent = 0
    while sending or unwritten or shares.giving_back:
        if sending:
            _, attempt = sending.pop(order[sent % len(order)] % len(sending))
            failed = fails[sent % len(fails)]
            sent += 1
            row = row + 1 if failed else 0
            shares.sent(webhook, _ended(attempt, ok=not failed))
            unwritten += 1
        if unwritten > lag or (unwritten and not sending):
            shares.written(webhook)
            unwritten -= 1
        assert row <= rules.DEACTIVATE_AT
        if row == rules.DEACTIVATE_AT:
            assert not sending, "none is under way any more"
            assert _begin(shares) == []
            return
        if not sending and not unwritten:
            shares.add(_claimed_again(shares, webhook, row))
        sending += list(_send(shares, webhook)) + _begin(shares)
    assert sent == 60, "none was forgotten"
    assert shares.idle


def _claimed_again(shares: Shares, webhook: str, failures: int) -> list[list[Any]]:
    """What the database hands out of what was given back: of a failing webhook, one."""
    given = [str(attempt.id) for attempt in shares.untake] + [lease.id for lease in shares.release]
    again = given[:1] if failures else given
    shares.untake.clear()
    shares.release[:] = [Lease(str(ORGANIZATION), name, "") for name in given[len(again) :]]
    return [[str(ORGANIZATION), webhook, failures, name, str(uuid7())] for name in again]


def test_what_is_claimed_of_a_deactivated_webhook_is_begun_one_at_a_time() -> None:
    shares, webhook = Shares(128), str(uuid7())
    shares.add(_claims(webhook, 3, failures=rules.DEACTIVATE_AT))
    (only,) = _begin(shares)
    _end(shares, only[1], ok=True)
    assert len(_begin(shares)) > 0
