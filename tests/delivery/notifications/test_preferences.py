"""How often a person gets emails, and their quiet hours."""

from typing import Any

import pytest

from tests.factories import Org

PATH = "/notifications/delivery-preferences"
NIGHT = {"from": "22:00", "to": "07:30"}
DAILY = {"email_frequency": "daily"}


def test_emails_are_immediate_until_something_else_is_chosen(org: Org) -> None:
    answer = org.api("viewer").get(PATH)
    assert answer.status_code == 200
    assert answer.json["data"] == {
        "email_frequency": "immediate",
        "quiet_hours": None,
        "time_zone": "UTC",
        "revision": 0,
    }


def test_what_is_set_replaces_everything(org: Org) -> None:
    api = org.api("viewer")
    assert api.patch("/users/me", {"time_zone": "Europe/Vienna"}).status_code == 200
    answer = api.put(PATH, {**DAILY, "quiet_hours": NIGHT})
    assert answer.status_code == 200, answer.json
    expected = {
        "email_frequency": "daily",
        "quiet_hours": NIGHT,
        "time_zone": "Europe/Vienna",
        "revision": 1,
    }
    assert answer.json["data"] == api.get(PATH).json["data"] == expected
    assert answer.headers["ETag"] == '"1"'
    assert api.put(PATH, {"email_frequency": "hourly"}).status_code == 200
    again = api.get(PATH).json["data"]
    assert (again["email_frequency"], again["quiet_hours"]) == ("hourly", None)
    assert org.api("labeler").get(PATH).json["data"]["email_frequency"] == "immediate"


def test_no_organization_is_needed(org: Org) -> None:
    api = org.api("viewer")
    api.slug = None
    assert api.put(PATH, DAILY).status_code == 200
    assert api.get(PATH).json["data"]["email_frequency"] == "daily"


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 422, "email_frequency"),
        ({"email_frequency": "weekly"}, 422, "email_frequency"),
        ({"email_frequency": None}, 422, "email_frequency"),
        ({**DAILY, "quiet_hours": {"from": "22:00"}}, 422, "quiet_hours.to"),
        ({**DAILY, "quiet_hours": {**NIGHT, "to": "24:00"}}, 422, "quiet_hours.to"),
        ({**DAILY, "quiet_hours": {**NIGHT, "from": "7:30"}}, 422, "quiet_hours.from"),
        ({**DAILY, "quiet_hours": {**NIGHT, "from": "07:30\n"}}, 422, "quiet_hours.from"),
        ({**DAILY, "quiet_hours": {"from": "07:30", "to": "07:30"}}, 400, "quiet_hours.to"),
        ({**DAILY, "time_zone": "UTC"}, 422, "time_zone"),
    ],
)
def test_what_may_not_be(org: Org, body: dict[str, Any], status: int, field: str) -> None:
    api = org.api("viewer")
    before = api.get(PATH).json
    answer = api.put(PATH, body)
    assert (answer.status_code, answer.json["error"]["field"]) == (status, field)
    assert api.get(PATH).json == before


def test_an_old_revision_is_stale(org: Org) -> None:
    api = org.api("viewer")
    stale = api.put(PATH, {**DAILY, "revision": 1})
    assert (stale.status_code, stale.json["error"]["code"]) == (409, "stale_precondition")
    assert stale.json["error"]["details"]["current_revision"] == 0
    assert api.put(PATH, {**DAILY, "revision": 0}).status_code == 200
    for options in ({"json": {**DAILY, "revision": 0}}, {"headers": {"If-Match": '"7"'}}):
        answer = api.put(PATH, **{"json": DAILY, **options})
        assert answer.status_code == 409
        assert answer.json["error"]["details"]["current_revision"] == 1
    assert api.put(PATH, DAILY, headers={"If-Match": '"1"'}).json["data"]["revision"] == 2


def test_an_api_key_has_no_preferences(org: Org) -> None:
    key = org.key("admin")
    assert key.get(PATH).status_code == 403
    assert key.put(PATH, DAILY).status_code == 403
