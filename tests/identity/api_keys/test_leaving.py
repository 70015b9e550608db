"""Keys belong to their organization: they go on, with their role, when their creator does not."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from app.identity.control_plane import accounts
from app.identity.control_plane import service as control_plane
from app.identity.erasing import queries as erasing
from app.identity.organizations import service as organizations
from app.kit import db, tenancy
from app.kit.permissions import Role
from app.kit.principal import Caller, Organization
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.emails import list_emails_to
from tests.factories.orgs import Api, get_data
from tests.factories.queueing import hold_lock
from tests.factories.workspace import Workspace, tag

Work = Callable[[], None]
End = Callable[[Org], None]


def _path(org: Org) -> str:
    return f"/organizations/{org.slug}/api-keys"


def _build_member_path(org: Org, name: str = "admin") -> str:
    return f"/organizations/{org.slug}/members/{org.users[name]}"


def _remove(org: Org) -> None:
    assert org.api("owner").delete(_build_member_path(org)).status_code == 204


def _leave(org: Org) -> None:
    assert org.api("admin").delete(_build_member_path(org)).status_code == 204


def _disable(org: Org) -> None:
    with org.app.app_context(), db.transaction():
        assert accounts.disable_user(org.email("admin"))["api_keys"] == 1


def _demote(org: Org) -> None:
    get_data(org.api("owner").patch(_build_member_path(org), json={"role": "viewer"}))


def _list_notifications(org: Org) -> list[Any]:
    return run_sql(
        org, "SELECT user_id, title, body FROM notifications WHERE kind = 'api_key_creator_left'"
    )


ENDS = (_remove, _leave, _disable, _demote)


@pytest.mark.parametrize("end", ENDS, ids=lambda e: e.__name__)
def test_a_key_goes_on_with_its_role(org: Org, end: End, work: Work) -> None:
    key = org.key("admin", maker="admin")
    end(org)
    work()
    assert key.get("/auth/session").json["data"]["organizations"][0]["role"] == "admin"
    hook = {"url": "http://127.0.0.2:9/hook", "events": ["export.completed"]}
    assert key.post("/webhooks", hook).status_code == 201
    made = key.post("/artifacts", {"name": "a.txt", "text": f"written by {org.slug}"})
    assert made.status_code == 201, made.json
    work()
    assert key.get(f"/artifacts/{made.json['data']['id']}").json["data"]["status"] == "ready"
    listed = key.get("/organizations").json["data"]
    assert [(organization["slug"], organization["role"]) for organization in listed] == [
        (org.slug, "admin")
    ]
    refused = key.post(f"/organizations/{org.slug}/close", {"slug": org.slug})
    assert refused.json["error"]["code"] == "insufficient_role"


@pytest.mark.parametrize("end", ENDS, ids=lambda e: e.__name__)
def test_every_owner_is_notified_and_nobody_else(org: Org, end: End, work: Work) -> None:
    second = org.add_user("second", "owner")
    key = org.key("labeler", maker="admin", name="Importer")
    assert key.key is not None
    work()
    end(org)
    work()
    notifications = _list_notifications(org)
    assert {row.user_id for row in notifications} == {org.users["owner"], second}
    assert {row.title for row in notifications} <= {
        "An API key created by Admin is still active",
        "An API key now has a higher role than Admin",
    }
    assert f"Importer ({key.key[:15]}…, labeler)" in notifications[0].body
    mail = list_emails_to(org.email("owner"))[-1]
    assert "Importer" in mail.text
    assert key.key[15:] not in mail.text


def test_nobody_is_notified_without_a_key_that_works(org: Org, work: Work) -> None:
    org.key("viewer", maker="admin")
    made = org.api("admin").get(_path(org)).json["data"][0]["id"]
    assert org.api("owner").delete(f"{_path(org)}/{made}").status_code == 204
    org.key("viewer", maker="admin", expires_at="2999-01-01T00:00:00Z")
    run_sql(org, "UPDATE api_keys SET expires_at = now()")
    _remove(org)
    work()
    assert _list_notifications(org) == []


def test_a_demotion_to_what_the_key_may_do_is_no_news(org: Org, work: Work) -> None:
    org.key("viewer", maker="admin")
    _demote(org)
    work()
    assert _list_notifications(org) == []


def test_the_list_and_the_log_go_on_naming_who_left(org: Org) -> None:
    key = org.key("admin", maker="admin")
    email = org.email("admin")
    _remove(org)
    (listed,) = org.api("owner").get(_path(org)).json["data"]
    maker = {"id": str(org.users["admin"]), "email": email, "name": "Admin", "is_member": False}
    assert listed["created_by"] == maker
    hook = {"url": "http://127.0.0.2:9/hook", "events": ["export.completed"]}
    assert key.post("/webhooks", hook).status_code == 201
    log = f"/organizations/{org.slug}/audit-log"
    (entry,) = org.api("owner").get(f"{log}?action=webhooks.create").json["data"]
    assert entry["actor"]["label"] == f"A admin key ({email})"
    (made,) = org.api("owner").get(f"{log}?action=api_keys.create").json["data"]
    assert made["actor"]["label"] == email
    assert org.api("owner").delete(f"{_path(org)}/{listed['id']}").status_code == 204
    assert key.get("/auth/session").json["error"]["code"] == "invalid_api_key"


def test_a_key_that_died_with_its_maker_stays_dead(org: Org) -> None:
    """The release before deleted the row: nothing brings it back, a new membership neither."""
    key = org.key("viewer", maker="admin")
    run_sql(org, "DELETE FROM api_keys")
    assert key.get("/auth/session").json["error"]["code"] == "invalid_api_key"


def test_a_key_of_another_organization_goes_on_when_its_maker_leaves_one(
    org: Org, other_org: Org, work: Work
) -> None:
    run_sql(
        other_org,
        "INSERT INTO memberships (organization_id, user_id, role, created_at)"
        " VALUES (:org, :user, 'admin', now())",
        user=org.users["admin"],
    )
    other_org.tokens["guest"] = org.tokens["admin"]
    key = other_org.key("viewer", maker="guest")
    _remove(org)
    work()
    assert _list_notifications(org) == []
    assert _list_notifications(other_org) == []
    assert key.get("/artifacts").status_code == 200


def test_the_account_of_a_maker_stays_as_long_as_the_key(org: Org, other_org: Org) -> None:
    """Erasing another organization does not take an account that a key names."""
    key = org.key("viewer", maker="admin")
    user_id = org.users["admin"]
    _remove(org)

    def erase() -> int:
        with org.app.app_context(), db.transaction() as session:
            session.execute(text("DELETE FROM sessions WHERE user_id = :u"), {"u": user_id})
            with tenancy.across_organizations(reason="as erasing an organization does"):
                return erasing.erase_users([user_id], closed_at=db.utc_now())

    assert erase() == 0
    assert key.get("/artifacts").status_code == 200
    made = org.api("owner").get(_path(org)).json["data"][0]["id"]
    assert org.api("owner").delete(f"{_path(org)}/{made}").status_code == 204
    assert erase() == 1


def test_the_operator_can_revoke_the_keys_of_an_account(org: Org, work: Work) -> None:
    key, other = org.key("viewer", maker="admin"), org.key("viewer", maker="owner")
    with org.app.app_context(), db.transaction():
        shown = accounts.disable_user(org.email("admin"), revoke_keys=True)
    assert shown["api_keys"] == 0
    assert key.get("/auth/session").json["error"]["code"] == "invalid_api_key"
    assert other.get("/artifacts").status_code == 200
    work()
    assert _list_notifications(org) == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("api-keys", {"name": "Late", "role": "viewer"}),
        ("invitations", {"email": "late@test.example", "role": "viewer"}),
    ],
    ids=["key", "invitation"],
)
def test_nothing_is_left_by_who_was_disabled_meanwhile(
    org: Org, path: str, body: dict[str, str]
) -> None:
    email, url = org.email("admin"), f"/organizations/{org.slug}/{path}"
    disable = partial(accounts.disable_user, email, revoke_keys=True)
    with hold_lock(org.app, disable) as start:
        refused = start(lambda: org.api("admin").post(url, body)).result
    assert (refused().status_code, refused().json["error"]["code"]) == (403, "permission_denied")
    assert org.api("owner").get(url).json["data"] == []


@pytest.mark.parametrize("maker", ["admin", "owner"])
def test_a_key_is_made_with_the_role_that_its_maker_has_by_then(org: Org, maker: str) -> None:
    """Between the proof of the caller and the key they were demoted."""
    with org.transaction() as session:
        session.execute(
            text("UPDATE memberships SET role = 'viewer' WHERE user_id = :u"),
            {"u": org.users[maker]},
        )
        caller = Caller(
            user_id=org.users[maker],
            email="x@test.example",
            name="X",
            session_id=UUID(int=1),
            token_id="t",
            expires_at=None,
            organization=Organization(org.id, org.slug, "active"),
            role=Role[maker],
        )
        assert organizations.lock_role(caller) is Role.viewer
    made = org.api(maker).post(_path(org), {"name": "High", "role": "admin"})
    assert made.status_code == 403


def test_keys_of_a_reopened_organization_work_again(org: Org) -> None:
    key: Api = org.key("viewer", maker="admin")
    _remove(org)
    get_data(org.api("owner").post(f"/organizations/{org.slug}/close", {"slug": org.slug}), 202)
    assert key.get("/artifacts").json["error"]["code"] == "invalid_api_key"
    with org.app.app_context(), db.transaction():
        control_plane.reopen(org.slug)
    assert key.get("/artifacts").status_code == 200


def test_a_key_labels_in_the_name_of_who_left(org: Org, work: Work) -> None:
    workspace = Workspace(org)
    key = org.key("labeler", maker="admin")
    _remove(org)
    work()
    document = workspace.artifact()
    assert key.post(f"/artifacts/{document}/claim").status_code == 200
    tag_set = get_data(key.post(f"/artifacts/{document}/tag-sets", {"from": "empty"}), 201)
    assert tag_set["labeler"]["id"] == str(org.users["admin"])
    body = {"tags": [tag("number", "1")], "revision": tag_set["revision"]}
    get_data(key.put(f"/tag-sets/{tag_set['id']}/tags", body))
    assert key.post(f"/tag-sets/{tag_set['id']}/submit").status_code == 200
    work()
    shown = org.api("owner").get(f"/tag-sets/{tag_set['id']}").json["data"]
    assert shown["status"] == "submitted"
    get_data(org.api("reviewer").post(f"/tag-sets/{tag_set['id']}/accept", {}))
