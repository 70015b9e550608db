"""Changes of the plan: now, at the end of the month, and by the operator; all are recorded."""

from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import text

from app.billing.plan_changes import queries, service
from app.identity.organizations.models import Organization
from app.kit import db, tenancy
from app.kit.days import get_month_bounds
from tests.billing.conftest import Customer
from tests.factories import Org, make_due
from tests.factories.counts import run_sql
from tests.factories.errors import check_error
from tests.factories.invoices import PROFILE
from tests.factories.queueing import run_concurrently
from tests.factories.usage import insert_change
from tests.factories.waiting import wait_until

PATH = "/billing/plan/change"


@pytest.fixture
def free_customer(org: Org) -> Customer:
    """An organization with the plan free and a billing profile."""
    customer = Customer(org)
    customer.start_with_plan("free")
    customer.set_profile()
    return customer


def change_plan(customer: Customer, **body: Any) -> Any:
    return customer.org.api("owner").post(PATH, body)


def list_history(org: Org) -> list[tuple[str, str]]:
    rows = run_sql(org, "SELECT * FROM plan_changes ORDER BY id")
    times = [row.changed_at for row in rows]
    assert times == sorted(times)
    return [(row.plan_before, row.plan) for row in rows]


def list_segments(org: Org, start: datetime, end: datetime) -> list[tuple[str, datetime, datetime]]:
    with org.app.app_context(), tenancy.organization(org.id):
        organization = db.session().get_one(Organization, org.id)
        changes = service.get_changes([org.id], start)[org.id]
        segments = service.list_segments(organization, changes, start, end)
        return [(segment.plan, segment.start, segment.end) for segment in segments]


def get_plan(org: Org) -> str:
    plan: str = org.api("owner").get(f"/organizations/{org.slug}").json["data"]["plan"]
    return plan


def test_nothing_is_added_beside_a_smaller_plan(
    free_customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An addition and the check of the usage for a downgrade wait for each other."""
    free_customer.set_plan("business")
    body = {"url": "http://127.0.0.2:9/x", "events": ["tag_set.accepted"]}
    admin = free_customer.org.api("admin")
    for _ in range(5):
        assert admin.post("/webhooks", json=body).status_code == 201
    pool, additions = ThreadPoolExecutor(1), list[Future[Any]]()
    read_month = service.read_month

    def is_waiting() -> bool:
        query = text("SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory'")
        with free_customer.org.app.app_context(), db.engine().connect() as connection:
            return connection.execute(query).first() is not None

    def read_beside_addition(meters: Any) -> Any:
        month = read_month(meters)
        additions.append(pool.submit(admin.post, "/webhooks", json=body))
        wait_until(lambda: additions[0].done() or is_waiting(), "the addition")
        return month

    monkeypatch.setattr(service, "read_month", read_beside_addition)
    assert change_plan(free_customer, plan="team").status_code == 200
    refused = additions[0].result(60)
    assert refused.status_code == 402, refused.json
    details = {"meter": "webhooks", "limit": 5, "used": 5, "plan": "team"}
    assert refused.json["error"]["details"] == details
    pool.shutdown()


def test_changing_the_plan_now(free_customer: Customer) -> None:
    answer = change_plan(free_customer, plan="team")
    assert answer.status_code == 200, answer.json
    assert answer.json["data"] == {"plan": "team", "scheduled_change": None}
    assert get_plan(free_customer.org) == "team"
    assert list_history(free_customer.org) == [("free", "team")]
    (event,) = run_sql(
        free_customer.org,
        "SELECT data FROM outbox_events WHERE name = 'organization.plan_changed'"
        " AND data ->> 'plan' = 'team'",
    )
    assert event.data == {"plan": "team", "limits": {}, "plan_before": "free"}


def test_changing_the_plan_at_the_end_of_the_month(free_customer: Customer) -> None:
    answer = change_plan(free_customer, plan="business", when="period_end")
    scheduled = answer.json["data"]["scheduled_change"]
    assert (answer.json["data"]["plan"], scheduled["plan"]) == ("free", "business")
    assert scheduled["effective_at"].endswith("-01T00:00:00Z")
    assert datetime.fromisoformat(scheduled["effective_at"]) > db.utc_now()
    assert (get_plan(free_customer.org), list_history(free_customer.org)) == ("free", [])
    plan = free_customer.org.api("viewer").get("/billing/plan").json["data"]
    assert (plan["name"], plan["scheduled_change"]) == ("free", scheduled)


def make_scheduled_due(customer: Customer, at: datetime) -> None:
    customer.sql("UPDATE scheduled_plan_changes SET effective_at = :at", at=at)
    make_due(customer.org.app, "plan_changes.apply_due")
    with customer.org.app.app_context():
        due = service.list_due_organization_ids()
        assert customer.org.id in due
        service.apply_due_change(customer.org.id)
        db.session().commit()


def test_a_scheduled_change_counts_from_when_it_was_due(free_customer: Customer) -> None:
    now = db.utc_now()
    created = now - timedelta(days=3)
    free_customer.set_created_at(created.isoformat())
    change_plan(free_customer, plan="business", when="period_end")
    due = now - timedelta(days=2)
    make_scheduled_due(free_customer, due)
    assert get_plan(free_customer.org) == "business"
    assert list_segments(free_customer.org, created, now) == [
        ("free", created, due),
        ("business", due, now),
    ]
    with free_customer.org.app.app_context():
        assert free_customer.org.id not in service.list_due_organization_ids()


def test_a_change_that_is_due_while_an_organization_is_closed_waits(
    free_customer: Customer,
) -> None:
    org, now = free_customer.org, db.utc_now()
    created, closed_at = now - timedelta(days=4), now - timedelta(days=3)
    free_customer.set_created_at(created.isoformat())
    change_plan(free_customer, plan="business", when="period_end")
    free_customer.run_command("org", "close", org.slug, "--yes")
    free_customer.sql("UPDATE organizations SET closed_at = :at WHERE id = :org", at=closed_at)
    make_scheduled_due(free_customer, now - timedelta(days=1))
    assert list_history(org) == []
    free_customer.run_command("org", "reopen", org.slug)
    with org.app.app_context():
        service.apply_due_change(org.id)
        db.session().commit()
    assert list_history(org) == [("free", ""), ("", "free"), ("free", "business")]
    segments = list_segments(org, created, db.utc_now())
    assert segments[0] == ("free", created, closed_at)
    assert [(plan, start > now) for plan, start, _ in segments[1:]] == [("business", True)]


def test_a_change_that_is_due_comes_before_the_next_one(free_customer: Customer) -> None:
    now = db.utc_now()
    free_customer.set_created_at((now - timedelta(days=3)).isoformat())
    change_plan(free_customer, plan="business", when="period_end")
    free_customer.sql(
        "UPDATE scheduled_plan_changes SET effective_at = :at", at=now - timedelta(days=2)
    )
    assert change_plan(free_customer, plan="team").status_code == 200
    assert list_history(free_customer.org) == [("free", "business"), ("business", "team")]


def test_a_scheduled_change_does_not_replace_agreed_limits(free_customer: Customer) -> None:
    change_plan(free_customer, plan="business", when="period_end")
    # As the previous release did: the limits change, and the scheduled change remains.
    free_customer.sql(
        """UPDATE organizations SET plan_limits = '{"members": 10}' WHERE id = :org"""
    )
    make_scheduled_due(free_customer, db.utc_now() - timedelta(minutes=1))
    (row,) = run_sql(
        free_customer.org, "SELECT plan, plan_limits FROM organizations WHERE id = :org"
    )
    assert (row.plan, row.plan_limits) == ("free", {"members": 10})
    assert run_sql(free_customer.org, "SELECT * FROM scheduled_plan_changes") == []
    assert list_history(free_customer.org) == []


@pytest.mark.parametrize("by", ["present plan", "change now", "operator", "limits of the operator"])
def test_a_scheduled_change_is_cancelled(free_customer: Customer, by: str) -> None:
    change_plan(free_customer, plan="business", when="period_end")
    if by == "present plan":
        answer = change_plan(free_customer, plan="free")
        assert answer.json["data"] == {"plan": "free", "scheduled_change": None}
    elif by == "change now":
        change_plan(free_customer, plan="team")
    elif by == "limits of the operator":
        free_customer.set_plan("free", members=10)
        assert (
            free_customer.org.api("viewer").get("/billing/plan").json["data"]["scheduled_change"]
            is None
        )
    else:
        free_customer.set_plan("enterprise")
    assert run_sql(free_customer.org, "SELECT * FROM scheduled_plan_changes") == []


def test_a_scheduled_change_is_replaced(free_customer: Customer) -> None:
    change_plan(free_customer, plan="business", when="period_end")
    answer = change_plan(free_customer, plan="team", when="period_end")
    assert answer.json["data"]["scheduled_change"]["plan"] == "team"
    (row,) = run_sql(free_customer.org, "SELECT plan FROM scheduled_plan_changes")
    assert row.plan == "team"


def test_a_plan_below_the_present_use_is_refused(free_customer: Customer) -> None:
    change_plan(free_customer, plan="team")
    today = db.utc_now().date().isoformat()
    insert_change(free_customer.org, "documents_per_month", today, added=101)
    answer = change_plan(free_customer, plan="free")
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "conflict")
    assert answer.json["error"]["details"] == {
        "plan": "free",
        "over": [
            {"meter": "members", "used": 5, "limit": 3},
            {"meter": "documents_per_month", "used": 101, "limit": 100},
        ],
    }
    assert get_plan(free_customer.org) == "team"
    assert change_plan(free_customer, plan="free", when="period_end").status_code == 200


def test_a_plan_with_a_price_needs_a_profile(org: Org) -> None:
    answer = org.api("owner").post(PATH, {"plan": "team"})
    check_error(answer, 409, "conflict", details={"missing": "billing_profile"})
    org.api("owner").put("/billing/profile", json={**PROFILE, "currency": "USD"})
    answer = org.api("owner").post(PATH, {"plan": "team"})
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "plan")
    assert answer.json["error"]["details"] == {"currency": "EUR"}


def test_plans_of_the_operator(free_customer: Customer) -> None:
    answer = change_plan(free_customer, plan="unlimited")
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "plan")
    assert change_plan(free_customer, plan="gold").status_code == 422
    assert change_plan(free_customer, plan="team", when="later").status_code == 422
    free_customer.set_plan("team", members=10)
    answer = change_plan(free_customer, plan="business")
    assert (answer.status_code, answer.json["error"]["details"]) == (
        *(409,),
        {"limits": {"members": 10}},
    )


def test_the_plan_changes_immediately_only_so_often_in_a_month(free_customer: Customer) -> None:
    month_start, _ = get_month_bounds(db.utc_now())
    for seconds in (-2, -1, *([0] * (service.MAX_MONTHLY_CHANGES - 1))):
        at = month_start + timedelta(seconds=seconds)
        free_customer.add_plan_change("team", at.isoformat(), "free")
    free_customer.add_plan_change(
        "free", month_start.isoformat(), ""
    )  # The time for which it was closed.
    free_customer.add_plan_change("", month_start.isoformat(), "free")
    assert change_plan(free_customer, plan="team").status_code == 200
    answer = change_plan(free_customer, plan="business")
    check_error(answer, 409, "conflict", details={"max_monthly_changes": 20})
    assert get_plan(free_customer.org) == "team"
    answer = change_plan(free_customer, plan="business", when="period_end")
    assert (answer.status_code, answer.json["data"]["plan"]) == (200, "team")
    assert change_plan(free_customer, plan="team").json["data"]["scheduled_change"] is None
    free_customer.set_plan("enterprise")
    assert get_plan(free_customer.org) == "enterprise"


def test_only_the_changes_from_the_period_on_are_read(free_customer: Customer) -> None:
    org, now = free_customer.org, db.utc_now()
    free_customer.set_created_at((now - timedelta(days=9)).isoformat())
    times = [now - timedelta(days=days) for days in (8, 7, 5, 3, 1)]
    plans = ("free", "team", "business", "", "team", "free")
    for (before, after), at in zip(pairwise(plans), times, strict=True):
        free_customer.add_plan_change(before, at.isoformat(), after)
    with org.app.app_context(), tenancy.organization(org.id):
        organization = db.session().get_one(Organization, org.id)
        every_change = service.get_changes([org.id], organization.created_at)[org.id]
        assert len(every_change) == len(times)
        starts = [*times, *(at + timedelta(hours=1) for at in times), organization.created_at]
        for start in starts:
            changes = service.get_changes([org.id], start)[org.id]
            assert [row.changed_at for row in changes] == [at for at in times if at >= start]
            for end in (start + timedelta(hours=1), start + timedelta(days=3), now):
                segments = service.list_segments(organization, changes, start, end)
                expected = service.list_segments(organization, every_change, start, end)
                assert segments == expected


def test_roles_that_cannot_change_the_plan(free_customer: Customer) -> None:
    answer = free_customer.org.api("admin").post(PATH, {"plan": "team"})
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "insufficient_role")


def test_changes_of_the_operator_are_recorded(free_customer: Customer) -> None:
    for plan in ("team", "business", "business", "team"):
        free_customer.set_plan(plan)
    assert list_history(free_customer.org) == [
        ("free", "team"),
        ("team", "business"),
        ("business", "team"),
    ]


def test_changes_at_the_same_time_are_recorded_in_order(free_customer: Customer) -> None:
    def set_plan_repeatedly(plan: str) -> None:
        for _ in range(3):
            free_customer.set_plan(plan)

    names = ("team", "business", "enterprise", "free")
    run_concurrently(*(partial(set_plan_repeatedly, plan) for plan in names))
    history = list_history(free_customer.org)
    assert history[0][0] == "free"
    assert history[-1][1] == get_plan(free_customer.org)
    assert all(change[1] == following[0] for change, following in pairwise(history))


def test_two_changes_in_one_transaction(free_customer: Customer) -> None:
    org = free_customer.org
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        organization = session.get_one(Organization, org.id)
        for plan in ("team", "business"):
            organization.plan = plan
            session.flush()
        assert queries.find_scheduled_change() is None
    assert list_history(org) == [("free", "team"), ("team", "business")]
    now = db.utc_now()
    start = now - timedelta(days=1)
    segments = list_segments(org, start, now + timedelta(days=1))
    assert [plan for plan, _, _ in segments][-1] == "business"
