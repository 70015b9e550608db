"""Leases: who may change a row, how long a lease is valid, and when it is renewed."""

import threading
from collections.abc import Sequence
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.kit import db, leases
from app.kit.ids import uuid7
from app.kit.leases import Lease, LeasedTable, LeaseKeeper
from tests.factories import Org
from tests.factories.orgs import transaction_across_organizations
from tests.factories.waiting import wait_until
from tests.kit.jobs.workshop import enqueue, rows, sql

JOBS = LeasedTable("jobs", lease_seconds=30, renew_seconds=10)
SKIPPING_JOBS = LeasedTable("jobs", lease_seconds=30, renew_seconds=10, skip_locked=True)
TABLES = pytest.mark.parametrize("table", [JOBS, SKIPPING_JOBS], ids=["waiting", "skipping"])
_TAKE = "UPDATE jobs SET {} WHERE organization_id = :org AND {} RETURNING id, lease_token"


def _take(org: Org, number: int, token: str = leases.SHARED_TOKEN) -> dict[UUID, UUID]:
    """Enqueue jobs, lease all free jobs, and return the token of each."""
    for n in range(number):
        enqueue(org, "test.leased", {"n": n}, queue="default")
    statement = _TAKE.format(leases.build_lease_assignments(token), leases.IS_FREE)
    return {row.id: row.lease_token for row in sql(org, statement, lease_seconds=30)}


def _take_lease(org: Org, number: int = 2) -> Lease:
    taken = _take(org, number)
    (token,) = set(taken.values())
    return Lease(token, tuple(taken))


def _steal(org: Org, job_id: UUID) -> None:
    sql(org, "UPDATE jobs SET lease_token = gen_random_uuid() WHERE id = :id", id=job_id)


def test_rows_of_a_claim_share_a_token_or_have_their_own(org: Org) -> None:
    assert len(set(_take(org, 3).values())) == 1
    assert _take(org, 0) == {}, "all are leased"
    sql(org, "UPDATE jobs SET leased_until = now() WHERE organization_id = :org")
    assert len(set(_take(org, 0, "gen_random_uuid()").values())) == 3


def test_only_rows_that_meet_the_condition_are_leased(org: Org) -> None:
    _take(org, 2)
    take = leases.build_lease_assignments(condition="args ->> 'n' = '1'")
    sql(org, _TAKE.format(take, "true"), lease_seconds=30)
    leased, released = sorted(rows(org), key=lambda row: row.leased_until is None)
    assert leased.args == {"n": 1}
    assert (released.lease_token, released.leased_until) == (None, None)


@TABLES
def test_only_the_holder_changes_a_row(app: Flask, org: Org, table: LeasedTable) -> None:
    lease = _take_lease(org)
    update = table.build_update(f"error = :error, {leases.RELEASE_ASSIGNMENTS}")
    _steal(org, lease.ids[0])
    with transaction_across_organizations(app):
        assert not table.lock(lease)
        assert table.lock(Lease(lease.token, lease.ids[1:]))
        assert table.execute(update, [lease], error="reason") == 1
        assert table.execute(update, [lease], error="again") == 0
    assert {row.id: row.error for row in rows(org)} == dict(
        zip(lease.ids, (None, "reason"), strict=True)
    )


@TABLES
def test_a_lease_is_renewed_until_another_has_it(app: Flask, org: Org, table: LeasedTable) -> None:
    lease, other = _take_lease(org), _take_lease(org, 1)
    sql(org, "UPDATE jobs SET leased_until = now() WHERE organization_id = :org")
    with transaction_across_organizations(app):
        assert table.renew([lease, other]) == {lease.token, other.token}
    left = "SELECT leased_until - now() > interval '25 seconds' AS ok FROM jobs"
    assert all(row.ok for row in sql(org, f"{left} WHERE organization_id = :org"))
    _steal(org, lease.ids[1])
    with transaction_across_organizations(app):
        assert table.renew([lease, other]) == {other.token}, "one of two rows is lost"


def test_locked_rows_are_skipped(app: Flask, org: Org) -> None:
    lease = _take_lease(org)
    one, two = (Lease(lease.token, (job_id,)) for job_id in lease.ids)
    renewed: list[set[UUID]] = []

    def renew() -> None:
        with transaction_across_organizations(app):
            renewed.extend([SKIPPING_JOBS.renew([one]), SKIPPING_JOBS.renew([two])])

    with transaction_across_organizations(app):
        assert JOBS.lock(one)
        thread = threading.Thread(target=renew)
        thread.start()
        thread.join(30)
        assert renewed == [set(), {lease.token}]
    with transaction_across_organizations(app):
        assert SKIPPING_JOBS.lock(lease), "it is skipped, not lost"


def test_the_lock_waits_for_the_one_who_takes_the_lease(app: Flask, org: Org) -> None:
    lease = _take_lease(org, 1)
    results: list[bool] = []

    def lock() -> None:
        with transaction_across_organizations(app):
            results.append(JOBS.lock(lease))

    with transaction_across_organizations(app):
        statement = "UPDATE jobs SET lease_token = gen_random_uuid() WHERE id = :id"
        db.session().execute(text(statement), {"id": lease.ids[0]})
        thread = threading.Thread(target=lock)
        thread.start()
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND transactionid IS NOT NULL"
        wait_until(lambda: sql(org, waiting)[0][0] > 0, "the other to wait")
    thread.join(30)
    assert results == [False]


class _Table(LeasedTable):
    """A table without a database. Leases in `lost` cannot be renewed."""

    def __init__(self) -> None:
        super().__init__("jobs", lease_seconds=30, renew_seconds=10)
        self.lost: set[Lease] = set()
        self.errors: list[Exception] = []
        self.renewed: list[list[Lease]] = []

    def renew(self, leases: Sequence[Lease]) -> set[UUID]:
        if self.errors:
            raise self.errors.pop()
        self.renewed.append(list(leases))
        return {lease.token for lease in leases if lease not in self.lost}


class _Clock:
    """A clock that a test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    clock = _Clock()
    monkeypatch.setattr(leases, "monotonic", clock)
    return clock


def _make_lease() -> Lease:
    return Lease(uuid7(), (uuid7(),))


def test_all_leases_are_renewed_when_the_oldest_is_due(app: Flask, clock: _Clock) -> None:
    table = _Table()
    keeper = LeaseKeeper(app, table)
    oldest, newer, ended = (_make_lease() for _ in range(3))
    assert not keeper
    assert keeper.compute_seconds_until_due() == table.renew_seconds
    keeper.add([oldest, ended], clock.now)
    clock.now += 9
    keeper.add([newer], clock.now)
    keeper.remove([ended, ended])
    keeper.renew_due()
    assert (table.renewed, keeper.compute_seconds_until_due()) == ([], 1)
    clock.now += 1
    keeper.renew_due()
    assert table.renewed == [[oldest, newer]]
    assert keeper.compute_seconds_until_due() == 10
    keeper.remove([oldest, newer])
    clock.now += 60
    keeper.renew_due()
    assert len(table.renewed) == 1
    assert not keeper


def test_a_lease_is_valid_until_it_was_not_renewed_in_time(app: Flask, clock: _Clock) -> None:
    table = _Table()
    keeper = LeaseKeeper(app, table)
    kept, lost = _make_lease(), _make_lease()
    keeper.add([kept, lost], clock.now - 1)
    assert keeper.is_valid_for(kept, 29)
    assert not keeper.is_valid_for(kept, 29.5), "it began before the statement"
    assert not keeper.is_valid_for(_make_lease(), 0), "it is unknown"
    table.lost.add(lost)
    clock.now += 20
    keeper.renew_due()
    assert (keeper.is_valid_for(kept, 30), keeper.is_valid_for(lost, 9)) == (True, True)
    assert not keeper.is_valid_for(lost, 10)
    keeper.remove([kept])
    assert not keeper.is_valid_for(kept, 0)


def test_a_failed_renewal_is_repeated_and_extends_nothing(app: Flask, clock: _Clock) -> None:
    table = _Table()
    table.errors.append(OperationalError("renew", {}, Exception("the server is away")))
    keeper = LeaseKeeper(app, table)
    lease = _make_lease()
    keeper.add([lease], clock.now)
    clock.now += 12
    with pytest.raises(OperationalError):
        keeper.renew_due()
    assert not keeper.is_valid_for(lease, 20)
    assert keeper.compute_seconds_until_due() < 0
    keeper.renew_due()
    assert keeper.is_valid_for(lease, 30)


def test_what_ends_during_a_renewal_stays_ended(app: Flask, clock: _Clock) -> None:
    table = _Table()
    keeper = LeaseKeeper(app, table)
    lease = _make_lease()
    keeper.add([lease], clock.now)
    clock.now += 10
    table.lost = _Ending(keeper, lease)  # type: ignore[assignment]
    keeper.renew_due()
    assert not keeper


class _Ending:
    """Ends a lease while it is renewed."""

    def __init__(self, keeper: LeaseKeeper, lease: Lease) -> None:
        self._keeper, self._lease = keeper, lease

    def __contains__(self, lease: Lease) -> bool:
        self._keeper.remove([self._lease])
        return False


def test_a_new_lease_wakes_the_one_who_waits(app: Flask) -> None:
    keeper = LeaseKeeper(app, LeasedTable("jobs", lease_seconds=1, renew_seconds=600))
    thread = threading.Thread(target=keeper.wait_until_due, daemon=True)
    thread.start()
    keeper.add([_make_lease()], leases.monotonic() - 600)
    thread.join(30)
    assert not thread.is_alive()
