"""A person's own profile."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.identity.users import queries
from app.kit import db
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import get_data

KINDS = {
    *("assignment", "mention", "review_rejected", "export_ready", "export_failed"),
    *("connector_alert", "drift_detected", "webhook_deactivated", "invitation", "plan_limit"),
    "api_key_creator_left",
}


def test_the_profile_has_what_a_client_needs(org: Org) -> None:
    answer = org.api("viewer").get("/users/me")
    me = answer.json["data"]
    assert me["id"] == str(org.users["viewer"])
    assert me["email"] == org.email("viewer")
    assert (me["name"], me["locale"], me["time_zone"]) == ("Viewer", "en", "UTC")
    assert me["email_verified"] is True
    assert set(me["notification_preferences"]) == KINDS
    assert all(
        set(channels) == {"in_app", "email"} for channels in me["notification_preferences"].values()
    )
    assert answer.headers["ETag"] == f'"{me["revision"]}"'


def test_no_organization_is_needed(org: Org) -> None:
    api = org.api("viewer")
    api.slug = None
    assert api.get("/users/me").status_code == 200


def test_name_locale_and_time_zone_change(org: Org) -> None:
    changes = {"name": " Zoë Weiß ", "locale": "de-AT", "time_zone": "Europe/Vienna"}
    data = get_data(org.api("viewer").patch("/users/me", changes))
    me = org.api("viewer").get("/users/me").json["data"]
    assert (me["name"], me["locale"], me["time_zone"]) == ("Zoë Weiß", "de-AT", "Europe/Vienna")
    assert me == data
    assert me["revision"] == 2
    assert org.api("viewer").get("/auth/session").json["data"]["user"]["name"] == "Zoë Weiß"


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"time_zone": "Mars/Olympus"}, 400, "time_zone"),
        ({"time_zone": "../../etc/passwd"}, 400, "time_zone"),
        ({"locale": "xx-nowhere"}, 400, "locale"),
        ({"name": "Zoë\r\nBcc: everybody@test.example"}, 422, "name"),
        ({"name": "Z\x00"}, 422, "name"),
        ({"name": ""}, 422, "name"),
        ({"name": None}, 422, "name"),
        ({"email": "other@test.example"}, 422, "email"),
        ({"email_verified": True}, 422, "email_verified"),
        ({"token_version": 1}, 422, "token_version"),
        ({"password_hash": "x"}, 422, "password_hash"),
        ({"notification_preferences": {}}, 422, "notification_preferences"),
    ],
)
def test_what_may_not_be(org: Org, changes: dict[str, Any], status: int, field: str) -> None:
    api = org.api("viewer")
    before = api.get("/users/me").json
    answer = api.patch("/users/me", changes)
    assert answer.status_code == status
    assert answer.json["error"]["field"] == field
    assert api.get("/users/me").json == before


def test_an_old_revision_is_stale_in_body_and_header(org: Org) -> None:
    api = org.api("viewer")
    assert api.patch("/users/me", {"name": "One", "revision": 1}).status_code == 200
    for kwargs in (
        {"json": {"name": "Two", "revision": 1}},
        {"json": {"name": "Two"}, "headers": {"If-Match": '"1"'}},
    ):
        answer = api.patch("/users/me", **kwargs)
        check_error(answer, 409, "stale_precondition", details={"current_revision": 2})
    assert api.get("/users/me").json["data"]["name"] == "One"


def test_of_two_writers_at_once_one_wins(org: Org) -> None:
    def write(name: str) -> int:
        body = {"name": name, "revision": 1}
        return int(org.api("viewer").patch("/users/me", body).status_code)

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(write, ["One", "Two"])) == [200, 409]


def test_who_is_locked_is_seen_as_they_are_by_then(org: Org) -> None:
    """Not as they were read: their name has nothing to do with what waited for the lock."""
    user_id = org.users["viewer"]
    with org.app.app_context():
        seen = queries.get(user_id)
        assert seen is not None
        with ThreadPoolExecutor(1) as elsewhere:  # here it would share the session
            rename = elsewhere.submit(org.api("viewer").patch, "/users/me", json={"name": "Vera"})
            assert rename.result().status_code == 200
        locked = queries.lock(user_id)
        assert locked is not None
        assert (locked.name, locked.revision) == ("Vera", 2)
        db.session().rollback()
