"""What a period measured, for invoices: from the meters, each change in one period."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from app.billing.usage.service import measuring
from app.kit import db, tenancy
from app.kit.plan_limits import Meter
from tests.factories import Org, make_org
from tests.factories.counts import run_sql
from tests.factories.properties import examples
from tests.factories.usage import fold_usage, insert_change, measure

MAY, JUNE, JULY = (datetime(2024, month, 1, tzinfo=UTC) for month in (5, 6, 7))
MEMBERS, DOCUMENTS = str(Meter.MEMBERS), str(Meter.DOCUMENTS)
CHANGE = st.tuples(
    st.sampled_from([MEMBERS, DOCUMENTS]),
    st.integers(0, 60),
    st.integers(0, 9),
    st.integers(0, 9),
    st.booleans(),
)


@pytest.fixture(scope="module")
def bare_org(app: Flask) -> Org:
    """An organization without changes of its own."""
    org = make_org(app)
    run_sql(org, "DELETE FROM usage_changes WHERE organization_id = :org")
    run_sql(org, "DELETE FROM usage_days WHERE organization_id = :org")
    return org


def compute_expected_usage(changes: list[Any], meter: str) -> dict[datetime, int]:
    """Compute what May and June used, day by day."""
    net: dict[date, int] = {}
    for name, day, added, removed, _ in changes:
        if name == meter:
            at = date(2024, 5, 1) + timedelta(days=day)
            net[at] = net.get(at, 0) + added - removed
    used = {}
    for start, end in ((MAY, JUNE), (JUNE, JULY)):
        days = [start.date() + timedelta(days=n) for n in range((end - start).days)]
        if meter == DOCUMENTS:
            months = [c for c in changes if c[0] == meter]
            used[start] = sum(
                added
                for _, day, added, _, _ in months
                if date(2024, 5, 1) + timedelta(days=day) in days
            )
        else:
            levels = [sum(n for at, n in net.items() if at <= day) for day in days]
            used[start] = max(0, *levels)
    return used


@examples(40)
@given(st.lists(CHANGE, max_size=12))
def test_sums_and_highest_daily_levels(bare_org: Org, changes: list[Any]) -> None:
    run_sql(bare_org, "DELETE FROM usage_changes WHERE organization_id = :org")
    run_sql(bare_org, "DELETE FROM usage_days WHERE organization_id = :org")
    for meter, day, added, removed, folded in changes:
        at = date(2024, 5, 1) + timedelta(days=day)
        insert_change(bare_org, meter, at.isoformat(), added, removed)
        if folded:
            fold_usage(bare_org.app)
    for start, end in ((MAY, JUNE), (JUNE, JULY)):
        used = measure(bare_org, start, end)
        assert set(used) == set(Meter)
        for meter in (MEMBERS, DOCUMENTS):
            assert used[meter] == compute_expected_usage(changes, meter)[start], meter


def test_a_new_organization_has_one_member(org: Org) -> None:
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    used = measure(org, today, today + timedelta(days=1))
    assert used == {**dict.fromkeys(map(str, Meter), 0), MEMBERS: len(org.users)}


@pytest.mark.parametrize("folded", [True, False])
def test_what_commits_after_the_settlement_counts_in_the_next_period(
    org: Org, folded: bool
) -> None:
    insert_change(org, DOCUMENTS, "2024-05-31", 2)
    with org.app.app_context():
        # Another connection has written before the settlement and commits after it.
        late = db.engine().connect()
        with tenancy.organization(org.id):
            late.execute(
                text(
                    "INSERT INTO usage_changes (organization_id, meter, day, added)"
                    " VALUES (:org, :meter, '2024-05-31', 5)"
                ),
                {"org": org.id, "meter": DOCUMENTS},
            )
        assert measure(org, MAY, JUNE, settle=True)[DOCUMENTS] == 2
        late.commit()
        late.close()
    if folded:
        fold_usage(org.app)
    assert measure(org, MAY, JUNE)[DOCUMENTS] == 2
    assert measure(org, JUNE, JULY)[DOCUMENTS] == 5
    # Settling once more, or an earlier period, changes nothing; the next period takes it along.
    assert measure(org, MAY, JUNE, settle=True)[DOCUMENTS] == 2
    assert measure(org, JUNE, JULY, settle=True)[DOCUMENTS] == 5
    fold_usage(org.app)
    assert measure(org, MAY, JUNE, settle=True)[DOCUMENTS] == 2
    assert measure(org, JUNE, JULY)[DOCUMENTS] == 5


def test_only_whole_days(org: Org) -> None:
    with org.app.app_context(), tenancy.organization(org.id):
        for start, end in ((MAY + timedelta(seconds=1), JUNE), (MAY, JUNE + timedelta(hours=2))):
            with pytest.raises(ValueError, match="is not midnight in UTC"):
                measuring.measure_period(start, end)
