"""Closing an organization: access ends at once, for everybody."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from io import BytesIO
from threading import Thread
from typing import Any

import pytest

from app.kit import container
from app.kit.api import operation, requests, uploads
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import get_data


def _close(org: Org, slug: str | None = None) -> int:
    body = {"slug": slug or org.slug}
    return org.api("owner").post(f"/organizations/{org.slug}/close", json=body).status_code


def test_closing_says_when_it_is_erased(org: Org) -> None:
    path = f"/organizations/{org.slug}/close"
    data = get_data(org.api("owner").post(path, json={"slug": org.slug}), 202)
    assert data["status"] == "closed"
    closed, erased = (datetime.fromisoformat(data[n]) for n in ("closed_at", "erase_after"))
    assert erased - closed == timedelta(days=30)


def test_without_grace_what_is_under_way_still_ends(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = replace(container.settings(), erase_after_days=0)
    monkeypatch.setattr(container, "settings", lambda: at_once)
    path = f"/organizations/{org.slug}/close"
    data = org.api("owner").post(path, json={"slug": org.slug}).json["data"]
    closed, erased = (datetime.fromisoformat(data[n]) for n in ("closed_at", "erase_after"))
    assert erased - closed == timedelta(hours=1)


FORM = {"file": (BytesIO(b"Some words"), "a.txt", "text/plain")}


@pytest.mark.parametrize(
    ("module", "reader", "path", "body"),
    [
        (uploads, "read", "/artifacts", {"data": FORM}),
        (requests, "read_json_body", "/teams", {"json": {"name": "Late"}}),
    ],
)
def test_a_body_that_takes_long_does_not_slip_in(
    org: Org,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    reader: str,
    path: str,
    body: dict[str, Any],
) -> None:
    read: Callable[..., Any] = getattr(module, reader)
    closed: list[int] = []

    def read_while_closing(*arguments: Any, **options: Any) -> Any:
        result = read(*arguments, **options)
        if not closed:
            closed.append(0)
            closing = Thread(target=lambda: closed.append(_close(org)))
            closing.start()
            closing.join()
        return result

    monkeypatch.setattr(operation, "_REAUTHENTICATE_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(module, reader, read_while_closing)
    answer = org.api("admin").post(path, **body)
    assert closed == [0, 202]
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "permission_denied")


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
        check_error(answer, 403, "permission_denied")
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


def test_closing_may_name_the_revision(org: Org) -> None:
    api, path = org.api("owner"), f"/organizations/{org.slug}"
    assert api.patch(path, json={"name": "Renamed"}).json["data"]["revision"] == 2
    body = {"slug": org.slug}
    answers = [
        api.post(f"{path}/close", json={**body, "revision": 1}),
        api.post(f"{path}/close", json=body, headers={"If-Match": '"1"'}),
    ]
    for answer in answers:
        check_error(answer, 409, "stale_precondition", details={"current_revision": 2})
    assert api.get(path).json["data"]["status"] == "active"
    closed = api.post(f"{path}/close", json=body, headers={"If-Match": '"2"'})
    assert closed.status_code == 202
