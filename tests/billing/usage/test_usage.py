"""GET /billing/usage and its history: exact, from the meters alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.kit.plan_limits import Meter
from tests.factories import Org
from tests.factories.counts import insert_artifacts, run_sql
from tests.factories.orgs import get_data
from tests.factories.statements import record_prepared, record_statements
from tests.factories.usage import fold_usage, insert_change, set_plan


def get_usage(org: Org, role: str = "viewer") -> dict[str, Any]:
    return dict(get_data(org.api(role).get("/billing/usage")))


def get_meter(org: Org, meter: str) -> dict[str, Any]:
    return next(usage for usage in get_usage(org)["meters"] if usage["meter"] == meter)


def get_history(org: Org, query: str) -> dict[str, Any]:
    return dict(get_data(org.api("viewer").get(f"/billing/usage/history?{query}")))


def test_everything_is_shown_with_the_running_month(org: Org) -> None:
    data = get_usage(org)
    first = datetime.now(UTC).date().replace(day=1)
    following = (first + timedelta(days=31)).replace(day=1)
    assert data["plan"] == "unlimited"
    assert data["period"] == {"from": first.isoformat(), "to": following.isoformat()}
    assert [meter["meter"] for meter in data["meters"]] == list(Meter)
    assert {meter["limit"] for meter in data["meters"]} == {None}
    assert {meter["warning"] for meter in data["meters"]} == {None}
    used = {meter["meter"]: meter["used"] for meter in data["meters"]}
    assert used == {**dict.fromkeys(Meter, 0), Meter.MEMBERS: len(org.users)}


def test_deleted_documents_count_in_their_month_and_free_their_bytes(org: Org) -> None:
    api = org.api("admin")
    ids = [
        api.post("/artifacts", json={"name": f"n{n}", "text": text}).json["data"]["id"]
        for n, text in enumerate(("first text", "ä second text"))
    ]
    assert get_meter(org, Meter.DOCUMENTS)["used"] == 2
    assert get_meter(org, Meter.STORED_BYTES)["used"] == 10 + 14
    assert api.delete(f"/artifacts/{ids[0]}").status_code == 204
    for _ in range(2):
        assert get_meter(org, Meter.DOCUMENTS)["used"] == 2
        assert get_meter(org, Meter.STORED_BYTES)["used"] == 14
        fold_usage(org.app)
    # Created once more, it counts once more; what exists already does not count.
    assert api.post("/artifacts", json={"name": "x", "text": "first text"}).status_code == 201
    assert api.post("/artifacts", json={"name": "x", "text": "first text"}).status_code == 409
    assert get_meter(org, Meter.DOCUMENTS)["used"] == 3
    assert get_meter(org, Meter.STORED_BYTES)["used"] == 24


@pytest.mark.parametrize(
    ("limit", "warning"), [(6, "near_limit"), (5, "limit_reached"), (4, "limit_reached"), (7, None)]
)
def test_warnings_show_what_is_left(org: Org, limit: int, warning: str | None) -> None:
    set_plan(org, "unlimited", {"members": limit})
    assert len(org.users) == 5
    expected = {"meter": "members", "used": 5, "limit": limit, "warning": warning}
    assert get_meter(org, Meter.MEMBERS) == expected


def test_three_statements_however_many_documents(app: Flask, org: Org) -> None:
    set_plan(org, "team")
    for number in (3, 300):
        insert_artifacts(org, number)
        with record_statements(app) as statements, record_prepared() as calls:
            get_usage(org)
        assert len(calls) + len(statements) <= 3, (calls, statements)
        # Documents are not read to count them.
        assert not any("artifacts" in statement for statement in statements)


def test_history_by_day(org: Org) -> None:
    today = datetime.now(UTC).date()
    insert_change(org, Meter.CONNECTORS, "2025-01-30", 4)
    insert_change(org, Meter.DOCUMENTS, "2025-01-31", 3)
    insert_change(org, Meter.DOCUMENTS, "2025-02-01", 2, 1)
    fold_usage(org.app)
    insert_change(org, Meter.CONNECTORS, "2025-02-02", 1, 3)
    insert_change(org, Meter.DOCUMENTS, "2025-02-02", 5)

    data = get_history(org, "from=2025-01-31&to=2025-02-04")
    assert (data["from"], data["to"]) == ("2025-01-31", "2025-02-04")
    assert [meter["meter"] for meter in data["meters"]] == list(Meter)
    days = {meter["meter"]: meter["days"] for meter in data["meters"]}
    assert days[Meter.DOCUMENTS] == [
        {"day": "2025-01-31", "used": 3, "added": 3, "removed": 0},
        {"day": "2025-02-01", "used": 2, "added": 2, "removed": 1},
        {"day": "2025-02-02", "used": 7, "added": 5, "removed": 0},
        {"day": "2025-02-03", "used": 7, "added": 0, "removed": 0},
    ]
    assert [(day["used"], day["added"], day["removed"]) for day in days[Meter.CONNECTORS]] == [
        *((4, 0, 0), (4, 0, 0), (2, 1, 3), (2, 0, 0))
    ]
    # In the middle of a month, what came before counts.
    [documents] = get_history(org, "from=2025-02-02&to=2025-02-03&meter=documents_per_month")[
        "meters"
    ]
    assert documents["days"] == [{"day": "2025-02-02", "used": 7, "added": 5, "removed": 0}]
    # Days in the future are left out.
    [members] = get_history(org, f"to={today + timedelta(days=5)}&meter=members")["meters"]
    assert members["days"][-1] == {"day": str(today), "used": 5, "added": 5, "removed": 0}
    assert members["days"][0]["used"] == 0


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("from=2025-02-01&to=2025-01-01", 400, "from"),
        ("from=2023-01-01&to=2025-01-01", 400, "from"),
        ("from=0001-01-01&to=0001-01-02", 400, "from"),
        ("to=9999-12-31", 400, "to"),
        ("meter=seats", 422, "meter"),
        ("from=today", 422, "from"),
        ("cursor=x", 422, "cursor"),
    ],
)
def test_bad_periods(org: Org, query: str, status: int, field: str) -> None:
    answer = org.api("viewer").get(f"/billing/usage/history?{query}")
    assert (answer.status_code, answer.json["error"]["field"]) == (status, field)


def test_another_organization_has_its_own_meters(org: Org, other_org: Org) -> None:
    insert_artifacts(other_org, 7)
    assert get_meter(org, Meter.DOCUMENTS)["used"] == 0
    assert get_meter(other_org, Meter.DOCUMENTS)["used"] == 7
    headers = {"X-Org-Slug": other_org.slug}
    for path in ("/billing/usage", "/billing/usage/history", "/billing/plan"):
        answer = org.api("owner").get(path, headers=headers)
        assert (answer.status_code, answer.json["error"]["code"]) == (403, "permission_denied")
    rows = run_sql(org, "SELECT count(*) AS n FROM usage_changes WHERE organization_id <> :org")
    assert rows[0].n == 0


def test_first_days_of_a_month_do_not_see_the_last(org: Org) -> None:
    last = datetime.now(UTC).date().replace(day=1) - timedelta(days=1)
    insert_change(org, Meter.AI_PAGES, last.isoformat(), 70)
    insert_change(org, Meter.AI_PAGES, datetime.now(UTC).date().isoformat(), 3)
    assert get_meter(org, Meter.AI_PAGES)["used"] == 3
    fold_usage(org.app)
    assert get_meter(org, Meter.AI_PAGES)["used"] == 3


def test_large_numbers_are_exact(org: Org) -> None:
    size = 2**53 - 1
    insert_change(org, Meter.STORED_BYTES, datetime.now(UTC).date().isoformat(), size)
    set_plan(org, "unlimited", {"stored_bytes": size})
    for _ in range(2):
        expected = {"meter": "stored_bytes", "used": size, "limit": size}
        assert get_meter(org, Meter.STORED_BYTES) == {**expected, "warning": "limit_reached"}
        [history] = get_history(org, "meter=stored_bytes")["meters"]
        assert history["days"][-1]["used"] == size
        fold_usage(org.app)
