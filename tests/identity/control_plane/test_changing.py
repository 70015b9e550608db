"""Plans and suspensions, by the operator's token."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select

from app.kit import container, db, tenancy
from app.kit.events import OutboxEvent
from tests.factories import Org, operator
from tests.factories.counts import run_sql
from tests.factories.emails import list_messages_to
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.queueing import run_concurrently


def events(org: Org, name: str) -> list[dict[str, Any]]:
    with org.app.app_context(), tenancy.organization(org.id):
        statement = select(OutboxEvent.data).filter_by(organization_id=org.id, name=name)
        return list(db.session().scalars(statement.order_by(OutboxEvent.id)))


def set_status(org: Org, status: str) -> None:
    run_sql(org, "UPDATE organizations SET status = :status WHERE id = :org", status=status)


def test_set_plan(org: Org) -> None:
    body = {"plan": "team", "limits": {"members": 20, "stored_bytes": 2**40, "webhooks": None}}
    answer = operator(org.app).put(f"/internal/organizations/{org.slug}/plan", json=body)
    assert answer.status_code == 200
    data = answer.json["data"]
    assert (data["plan"], data["limits"]) == (body["plan"], body["limits"])
    assert answer.headers["ETag"] == f'"{data["revision"]}"'
    assert events(org, "organization.plan_changed") == [{**body, "plan_before": "unlimited"}]
    (mine,) = org.api("viewer").get("/organizations").json["data"]
    assert mine["plan"] == "team"


def test_setting_a_plan_replaces_and_the_same_again_is_nothing(org: Org) -> None:
    api, path = operator(org.app), f"/internal/organizations/{org.slug}/plan"
    api.put(path, json={"plan": "team", "limits": {"members": 5}})
    first = api.put(path, json={"plan": "team"})
    again = api.put(path, json={"plan": "team"})
    assert first.json["data"]["limits"] == {}
    assert first.json == again.json
    assert len(events(org, "organization.plan_changed")) == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"plan": "gold"}, "plan"),
        ({}, "plan"),
        ({"plan": "team", "limits": {"members": -1}}, "limits.members"),
        ({"plan": "team", "limits": {"members": 1.5}}, "limits.members"),
        ({"plan": "team", "limits": {"members": 2**53}}, "limits.members"),
        ({"plan": "team", "limits": {"pages": 1}}, "limits.pages"),
        ({"plan": "team", "limits": None}, "limits"),
    ],
)
def test_plans_that_are_none(org: Org, body: dict[str, Any], field: str) -> None:
    answer = operator(org.app).put(f"/internal/organizations/{org.slug}/plan", json=body)
    check_error(answer, 422, "unprocessable", field=field)


def test_of_two_operators_with_one_revision_one_wins(org: Org) -> None:
    path = f"/internal/organizations/{org.slug}/plan"

    def write(plan: str) -> int:
        body = {"plan": plan, "revision": 1}
        return operator(org.app).put(path, json=body).status_code

    statuses = run_concurrently(partial(write, "team"), partial(write, "free"))
    assert sorted(statuses) == [200, 409]


def test_suspended_and_reinstated(org: Org, work: Callable[[], None]) -> None:
    api, base = operator(org.app), f"/internal/organizations/{org.slug}"
    data = get_data(api.post(f"{base}/suspend", json={"reason": "Not paid"}))
    assert (data["status"], data["suspension_reason"]) == ("suspended", "Not paid")
    assert data["suspended_at"] is not None
    owner = org.api("owner")
    assert owner.get("/artifacts").status_code == 200
    refused = owner.post("/artifacts", json={"name": "a.txt", "text": "x"})
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "permission_denied")

    answer = api.post(f"{base}/reinstate")
    assert answer.status_code == 200
    assert answer.json["data"]["status"] == "active"
    assert answer.json["data"]["suspended_at"] is answer.json["data"]["suspension_reason"] is None
    assert owner.post("/artifacts", json={"name": "a.txt", "text": "x"}).status_code == 201

    work()
    suspended, reinstated = list_messages_to(org.email("owner"))
    assert suspended["Subject"] == "Test was suspended"
    assert "Not paid" in suspended.get_body(("plain",)).get_content()
    assert reinstated["Subject"] == "Test is no longer suspended"
    assert list_messages_to(org.email("admin")) == []


def test_the_same_twice_happens_once(org: Org) -> None:
    api, base = operator(org.app), f"/internal/organizations/{org.slug}"
    first = api.post(f"{base}/suspend", json={"reason": "Not paid"}).json["data"]
    assert api.post(f"{base}/suspend", json={"reason": "Not paid"}).json["data"] == first
    other = api.post(f"{base}/suspend", json={"reason": "Abuse"}).json["data"]
    assert other["suspended_at"] == first["suspended_at"]
    assert [e["reason"] for e in events(org, "organization.suspended")] == ["Not paid", "Abuse"]
    for _ in range(2):
        assert api.post(f"{base}/reinstate").json["data"]["status"] == "active"
    assert len(events(org, "organization.reinstated")) == 1


@pytest.mark.parametrize("reason", ["", "  ", "a\r\nBcc: x", "x" * 501, 7, None])
def test_reasons_that_are_none(org: Org, reason: Any) -> None:
    path = f"/internal/organizations/{org.slug}/suspend"
    answer = operator(org.app).post(path, json={"reason": reason})
    assert (answer.status_code, answer.json["error"]["field"]) == (422, "reason")


OPERATIONS = [
    ("PUT", "plan", {"plan": "team"}),
    ("POST", "suspend", {"reason": "x"}),
    ("POST", "reinstate", None),
]


@pytest.mark.parametrize(("method", "name", "body"), OPERATIONS)
@pytest.mark.parametrize("slug", ["no-such-organization", "%00", "..", "é", "x" * 300])
def test_unknown_organizations(
    org: Org, method: str, name: str, body: dict[str, str] | None, slug: str
) -> None:
    path = f"/internal/organizations/{slug}/{name}"
    check_error(operator(org.app).request(method, path, json=body), 404, "not_found")


@pytest.mark.parametrize(("method", "name", "body"), OPERATIONS)
@pytest.mark.parametrize("status", ["closed", "erased"])
def test_closed_organizations(
    org: Org, method: str, name: str, body: dict[str, str] | None, status: str
) -> None:
    set_status(org, status)
    path = f"/internal/organizations/{org.slug}/{name}"
    answer = operator(org.app).request(method, path, json=body)
    check_error(answer, 409, "conflict", details={"state": status})


@pytest.mark.parametrize("credentials", ["Bearer wrong", "Bearer é", "Bearer \x80", "Bearer x y"])
def test_another_token_is_refused(org: Org, credentials: str) -> None:
    api = operator(org.app)
    api.token = None
    answer = api.post(
        f"/internal/organizations/{org.slug}/reinstate", headers={"Authorization": credentials}
    )
    assert (answer.status_code, answer.json["error"]["code"]) == (401, "invalid_credentials")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_user_is_refused_and_another_scheme_is_no_token(org: Org) -> None:
    path = f"/internal/organizations/{org.slug}/reinstate"
    check_error(org.api("owner").post(path), 401, "invalid_credentials")
    token = container.settings().control_plane_token
    basic = org.anonymous().post(path, headers={"Authorization": f"Basic {token}"})
    assert (basic.status_code, basic.json["error"]["code"]) == (401, "invalid_credentials")


def test_without_a_token_of_the_operators_nobody_is_let_in(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = operator(org.app)
    closed = replace(container.settings(), control_plane_token="")
    monkeypatch.setattr(container.current(), "settings", closed)
    path = f"/internal/organizations/{org.slug}/reinstate"
    for caller in (api, org.anonymous(), org.api("owner")):
        check_error(caller.post(path), 403, "permission_denied")
    empty = org.anonymous().post(path, headers={"Authorization": "Bearer "})
    assert empty.status_code == 403


@pytest.mark.parametrize(("name", "body"), [("suspend", {"reason": "x"}), ("reinstate", {})])
def test_a_suspension_may_name_the_revision(org: Org, name: str, body: dict[str, str]) -> None:
    api, base = operator(org.app), f"/internal/organizations/{org.slug}"
    plan = {"plan": "team"}
    assert api.put(f"{base}/plan", json=plan).json["data"]["revision"] == 2
    for answer in (
        api.post(f"{base}/{name}", json={**body, "revision": 1}),
        api.post(f"{base}/{name}", json=body, headers={"If-Match": '"1"'}),
    ):
        check_error(answer, 409, "stale_precondition", details={"current_revision": 2})
    assert events(org, "organization.suspended") == []
    assert api.post(f"{base}/{name}", json=body, headers={"If-Match": '"2"'}).status_code == 200
