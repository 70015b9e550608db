"""A person chooses, for each kind of notification, where to get it."""

from typing import Any

import pytest

from tests.factories import Org
from tests.factories.counts import run_sql

PATH = "/users/me/notification-preferences"


def test_only_what_is_sent_changes(org: Org) -> None:
    api = org.api("viewer")
    before = api.get("/users/me").json["data"]["notification_preferences"]
    body = {"mention": {"email": False}, "assignment": {"in_app": False, "email": True}}
    answer = api.patch(PATH, body)
    assert answer.status_code == 200, answer.json
    expected = {
        **before,
        "mention": {"in_app": True, "email": False},
        "assignment": {"in_app": False, "email": True},
    }
    assert answer.json["data"] == expected
    me = api.get("/users/me").json["data"]
    assert me["notification_preferences"] == expected
    assert me["revision"] == 2
    assert api.patch(PATH, {"mention": {"in_app": False}}).json["data"]["mention"] == {
        "in_app": False,
        "email": False,
    }
    owner_profile = org.api("owner").get("/users/me").json["data"]
    assert owner_profile["notification_preferences"] == before


def test_defaults_are_not_stored(org: Org) -> None:
    api = org.api("viewer")
    assert api.patch(PATH, {"mention": {"email": False}}).status_code == 200
    assert api.patch(PATH, {"mention": {"email": True}, "plan_limit": {}}).status_code == 200
    sql = "SELECT notification_preferences AS chosen FROM users WHERE id = :id"
    assert [row.chosen for row in run_sql(org, sql, id=org.users["viewer"])] == [{}]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"gossip": {"email": True}}, "gossip"),
        ({"mention": {"sms": True}}, "mention.sms"),
        ({"mention": {"email": "yes"}}, "mention.email"),
        ({"mention": {"email": None}}, "mention.email"),
        ({"mention": None}, "mention"),
        ({"mention": True}, "mention"),
    ],
)
def test_what_may_not_be(org: Org, body: dict[str, Any], field: str) -> None:
    api = org.api("viewer")
    before = api.get("/users/me").json
    answer = api.patch(PATH, body)
    assert answer.status_code == 422
    assert answer.json["error"]["field"].startswith(field)
    assert api.get("/users/me").json == before


def test_an_old_revision_is_stale(org: Org) -> None:
    api = org.api("viewer")
    off = {"mention": {"email": False}}
    assert api.patch(PATH, {**off, "revision": 1}).status_code == 200
    for options in ({"json": {**off, "revision": 1}}, {"headers": {"If-Match": '"1"'}}):
        answer = api.patch(PATH, **{"json": off, **options})
        assert (answer.status_code, answer.json["error"]["code"]) == (409, "stale_precondition")


def test_an_api_key_has_no_preferences(org: Org) -> None:
    assert org.key("admin").patch(PATH, {"mention": {"email": False}}).status_code == 403
