"""Closing an organization: access ends at once, for everybody."""

from datetime import datetime, timedelta

import pytest

from tests.factories import Org


def _close(org: Org, slug: str | None = None) -> int:
    body = {"slug": slug or org.slug}
    return org.api("owner").post(f"/organizations/{org.slug}/close", json=body).status_code


def test_closing_says_when_it_is_erased(org: Org) -> None:
    path = f"/organizations/{org.slug}/close"
    answer = org.api("owner").post(path, json={"slug": org.slug})
    assert answer.status_code == 202
    data = answer.json["data"]
    assert data["status"] == "closed"
    closed, erased = (datetime.fromisoformat(data[n]) for n in ("closed_at", "erase_after"))
    assert erased - closed == timedelta(days=30)


@pytest.mark.parametrize("role", ["owner", "admin", "viewer"])
def test_nobody_has_access_any_more(org: Org, role: str) -> None:
    assert _close(org) == 202
    for method, path in (
        ("GET", f"/organizations/{org.slug}"),
        ("PATCH", f"/organizations/{org.slug}"),
        ("GET", "/artifacts"),
        ("POST", "/artifacts"),
    ):
        answer = org.api(role).request(method, path, **({"json": {}} if method != "GET" else {}))
        assert answer.status_code == 403
        assert answer.json["error"]["code"] == "permission_denied"
    assert org.api(role).get("/organizations").json["data"] == []
    assert org.api(role).get("/auth/session").json["data"]["organizations"] == []


def test_a_closed_one_answers_as_one_that_never_was(org: Org, other_org: Org) -> None:
    assert _close(org) == 202
    ours = org.api("owner").get(f"/organizations/{org.slug}")
    never = other_org.api("owner", slug="never-was").get("/organizations/never-was")
    assert ours.data == never.data


def test_another_slug_closes_nothing(org: Org, other_org: Org) -> None:
    assert _close(org, other_org.slug) == 400
    assert _close(org, "x") == 400
    assert org.api("owner").get(f"/organizations/{org.slug}").json["data"]["status"] == "active"


def test_its_slug_is_not_given_again(org: Org, other_org: Org) -> None:
    assert _close(org) == 202
    answer = other_org.api().post("/organizations", json={"name": "x", "slug": org.slug})
    assert answer.status_code == 409
