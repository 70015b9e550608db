"""Roles, removals and ownership: who may what to whom, and that an owner is always left."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from app.identity.control_plane import accounts
from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.queueing import hold_lock
from tests.factories.teams import add_members, make_team
from tests.factories.workspace import Workspace


def _path(org: Org, name: str) -> str:
    return f"/organizations/{org.slug}/members/{org.users[name]}"


def _role(org: Org, by: str, name: str, role: str, **body: Any) -> Any:
    return org.api(by).patch(_path(org, name), json={"role": role, **body})


def _remove(org: Org, by: str, name: str) -> Any:
    return org.api(by).delete(_path(org, name))


def _roles(org: Org, by: str = "viewer") -> dict[str, str]:
    answer = org.api(by).get(f"/organizations/{org.slug}/members")
    return {m["user"]["name"]: m["role"] for m in answer.json["data"]}


def _transfer(org: Org, by: str, user_id: UUID) -> Any:
    path = f"/organizations/{org.slug}/transfer-ownership"
    return org.api(by).post(path, json={"user_id": str(user_id)})


def test_a_changed_role_holds_from_the_next_request(org: Org) -> None:
    data = get_data(_role(org, "admin", "viewer", "reviewer", revision=1))
    assert (data["role"], data["revision"]) == ("reviewer", 2)
    assert org.api("viewer").get("/review-queue").status_code == 200
    assert _role(org, "admin", "viewer", "viewer").status_code == 200
    assert org.api("viewer").get("/review-queue").status_code == 403


def test_the_same_role_again_changes_nothing(org: Org) -> None:
    answer = _role(org, "admin", "viewer", "viewer")
    assert answer.json["data"]["revision"] == 1


@pytest.mark.parametrize(
    ("by", "name", "role", "code"),
    [
        ("admin", "viewer", "owner", "insufficient_role"),
        ("admin", "owner", "admin", "insufficient_role"),
        ("admin", "owner", "viewer", "insufficient_role"),
        ("admin", "admin", "owner", "permission_denied"),
        ("reviewer", "reviewer", "admin", "insufficient_role"),
        ("labeler", "viewer", "labeler", "insufficient_role"),
    ],
)
def test_nobody_reaches_above_themselves(
    org: Org, by: str, name: str, role: str, code: str
) -> None:
    before = _roles(org)
    check_error(_role(org, by, name, role), 403, code)
    assert _roles(org) == before


def test_an_admin_may_step_down_and_an_owner_make_another(org: Org) -> None:
    assert _role(org, "owner", "admin", "owner").status_code == 200
    assert _role(org, "owner", "owner", "viewer").status_code == 200
    assert _role(org, "owner", "owner", "owner").status_code == 403
    assert _role(org, "admin", "admin", "labeler").json["error"]["code"] == "conflict"


def test_the_last_owner_stays_one(org: Org) -> None:
    assert _role(org, "owner", "owner", "admin").json["error"]["code"] == "conflict"
    assert _remove(org, "owner", "owner").status_code == 409
    assert _remove(org, "admin", "owner").status_code == 403
    assert _roles(org)["Owner"] == "owner"


def test_an_owner_who_cannot_sign_in_is_none_to_rely_on(org: Org) -> None:
    second = org.add_user("second", "owner")
    Workspace(org).sql("UPDATE users SET disabled_at = now() WHERE id = :id", id=second)
    assert _remove(org, "owner", "owner").status_code == 409


def test_nothing_is_handed_to_who_cannot_sign_in(org: Org) -> None:
    admin = org.users["admin"]
    Workspace(org).sql("UPDATE users SET disabled_at = now() WHERE id = :id", id=admin)
    check_error(_transfer(org, "owner", admin), 400, "validation_error", field="user_id")
    assert _roles(org)["Owner"] == "owner"


def test_stale_changes_are_refused(org: Org) -> None:
    assert _role(org, "admin", "viewer", "labeler", revision=1).status_code == 200
    answer = _role(org, "admin", "viewer", "reviewer", revision=1)
    assert answer.json["error"]["details"] == {"current_revision": 2}


def test_who_is_no_member_is_not_found(org: Org, other_org: Org) -> None:
    for user_id in (uuid7(), other_org.users["viewer"]):
        path = f"/organizations/{org.slug}/members/{user_id}"
        assert org.api("viewer").delete(path).status_code == 404
        assert org.api("admin").patch(path, json={"role": "viewer"}).status_code == 404


def test_anybody_may_leave_and_only_admins_remove(org: Org) -> None:
    answer = _remove(org, "reviewer", "viewer")
    assert answer.json["error"]["code"] == "insufficient_role"
    assert _remove(org, "viewer", "viewer").status_code == 204
    assert org.api("viewer").get("/artifacts").status_code == 403
    assert _remove(org, "admin", "reviewer").status_code == 204
    assert org.api("reviewer").get("/artifacts").status_code == 403
    assert set(_roles(org, "labeler")) == {"Admin", "Labeler", "Owner"}


def test_a_key_removes_members_after_its_maker_left(org: Org) -> None:
    key = org.key("admin", maker="admin")
    assert _remove(org, "owner", "admin").status_code == 204
    path = f"/organizations/{org.slug}/members"
    assert key.delete(f"{path}/{org.users['viewer']}").status_code == 204
    refused = key.delete(f"{path}/{org.users['owner']}")
    assert refused.json["error"]["code"] == "insufficient_role"
    assert set(_roles(org, "labeler")) == {"Labeler", "Owner", "Reviewer"}


def test_what_a_member_held_goes_back(org: Org, work: Callable[[], None]) -> None:
    workspace = Workspace(org)
    team = add_members(org, make_team(org), "labeler")
    claimed, drafted = workspace.artifact(), workspace.artifact()
    assert org.api("labeler").post(f"/artifacts/{claimed}/claim").status_code == 200
    workspace.draft(drafted)
    names = ("labeler", "admin")
    assigned = [{"user_id": str(org.users[name]), "team_id": None} for name in names]
    workspace.sql(
        "UPDATE artifacts SET assignees = CAST(:a AS jsonb) WHERE id = :id",
        a=json.dumps(assigned),
        id=claimed,
    )
    assert _remove(org, "admin", "labeler").status_code == 204
    work()
    shown = org.api().get(f"/artifacts/{claimed}").json["data"]
    assert (shown["claim"], shown["status"]) == (None, "ready")
    assert [a["user_id"] for a in shown["assignees"]] == [str(org.users["admin"])]
    assert org.api("reviewer").post(f"/artifacts/{drafted}/claim").status_code == 200
    assert org.api().get(f"/teams/{team['id']}").json["data"]["members"] == []


def test_reviews_that_were_claimed_go_back(org: Org, work: Callable[[], None]) -> None:
    workspace = Workspace(org)
    waiting = workspace.submitted()
    workspace.sql(
        "UPDATE tag_sets SET claim_user_id = :u, claim_expires_at = now() + interval '1 hour',"
        " assignee_id = :u WHERE id = :id",
        u=org.users["reviewer"],
        id=waiting["id"],
    )
    assert _remove(org, "admin", "reviewer").status_code == 204
    work()
    claims = workspace.sql(
        "SELECT claim_user_id, assignee_id FROM tag_sets WHERE id = :id", **waiting
    )
    assert tuple(claims[0]) == (None, None)


def test_ownership_is_handed_over(org: Org) -> None:
    data = get_data(_transfer(org, "owner", org.users["viewer"]))
    assert data["user"]["id"] == str(org.users["viewer"])
    assert data["role"] == "owner"
    assert _roles(org)["Owner"] == "admin"
    assert _transfer(org, "owner", org.users["labeler"]).status_code == 403


def test_ownership_goes_to_another_member_only(org: Org, other_org: Org) -> None:
    for user_id in (uuid7(), other_org.users["viewer"], org.users["owner"]):
        check_error(_transfer(org, "owner", user_id), 400, "validation_error", field="user_id")


@pytest.mark.parametrize("_again", range(5))
def test_two_owners_who_remove_each_other_leave_one(org: Org, _again: int) -> None:
    org.add_user("second", "owner")
    pairs = [("owner", "second"), ("second", "owner")]
    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(lambda pair: _remove(org, *pair).status_code, pairs))
    assert statuses in ([204, 409], [204, 403])
    owners = [role for role in _roles(org).values() if role == "owner"]
    assert owners == ["owner"]


@pytest.mark.parametrize("_again", range(5))
def test_two_owners_who_leave_at_once_leave_one(org: Org, _again: int) -> None:
    org.add_user("second", "owner")
    acts: list[Callable[[], Any]] = [
        lambda: _remove(org, "owner", "owner"),
        lambda: _role(org, "second", "second", "viewer"),
    ]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda act: act(), acts))
    codes = [answer.status_code for answer in answers]
    assert codes.count(409) == 1
    assert set(codes) <= {200, 204, 409}
    assert list(_roles(org).values()).count("owner") == 1


@pytest.mark.parametrize("as_header", [True, False])
def test_removals_and_transfers_may_name_the_revision(org: Org, as_header: bool) -> None:
    assert _role(org, "admin", "labeler", "reviewer").json["data"]["revision"] == 2
    transfer = f"/organizations/{org.slug}/transfer-ownership"
    user = {"user_id": str(org.users["labeler"])}

    def send(method: str, path: str, revision: int, body: dict[str, str]) -> Any:
        if as_header:
            headers = {"If-Match": f'"{revision}"'}
            return org.api().request(method, path, json=body, headers=headers)
        return org.api().request(method, path, json={**body, "revision": revision})

    for method, path, body in (
        ("DELETE", _path(org, "labeler"), {}),
        ("POST", transfer, user),
    ):
        stale = send(method, path, 1, body)
        check_error(stale, 409, "stale_precondition", details={"current_revision": 2})
    assert _roles(org)["Labeler"] == "reviewer"
    assert _roles(org)["Owner"] == "owner"
    assert send("POST", transfer, 2, user).json["data"]["revision"] == 3
    new_owner = org.api("labeler")
    removal = new_owner.delete(_path(org, "owner"), headers={"If-Match": '"1"'})
    assert removal.json["error"]["code"] == "stale_precondition"
    assert new_owner.delete(_path(org, "owner"), headers={"If-Match": '"2"'}).status_code == 204


@pytest.mark.parametrize("name", ["leaving", "demotion"])
def test_an_owner_whose_account_is_being_disabled_does_not_count(org: Org, name: str) -> None:
    org.add_user("second", "owner")
    email = org.email("second")
    acts: dict[str, Callable[[], Any]] = {
        "leaving": lambda: _remove(org, "owner", "owner"),
        "demotion": lambda: _role(org, "owner", "owner", "admin"),
    }
    with hold_lock(org.app, lambda: accounts.disable_user(email)) as start:
        answer = start(acts[name])
    assert answer.result().json["error"]["details"] == {"owners": 1}
    assert _roles(org)["Owner"] == "owner"
