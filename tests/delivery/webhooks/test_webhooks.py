"""Registering and managing endpoints."""

from functools import partial
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from app.delivery.webhooks.catalog import CATALOG, SUBSCRIBABLE
from app.kit.ids import uuid7
from tests.delivery.webhooks.conftest import get_error
from tests.factories import Org
from tests.factories.pages import read_pages
from tests.factories.queueing import run_concurrently


def test_lists_are_filtered_and_paged(hooks: Any) -> None:
    api = hooks.org.api("admin")
    webhooks = [hooks.create(f"/{n}", events=[SUBSCRIBABLE[n % 2]]) for n in range(5)]
    hooks.act(webhooks[0], "deactivate")
    ids = [webhook["id"] for webhook in webhooks]

    def list_ids(**query: str) -> list[str]:
        return [w["id"] for w in api.get("/webhooks", query_string=query).json["data"]]

    assert list_ids() == ids[::-1]
    assert list_ids(active="false") == [ids[0]]
    assert list_ids(event=SUBSCRIBABLE[1]) == [ids[3], ids[1]]
    assert list_ids(created_after=webhooks[3]["created_at"]) == [ids[4], ids[3]]
    assert list_ids(created_before=webhooks[1]["created_at"]) == [ids[0]]
    first, second = read_pages(api, "/webhooks?page_size=3&sort=created_at")
    assert [w["id"] for w in first["data"] + second["data"]] == ids
    assert first["meta"]["total"] == second["meta"]["total"] == 5
    assert get_error(api.get("/webhooks", query_string={"event": "test"}))[0] == 422


def test_update_changes_what_is_sent_and_keeps_the_secret(hooks: Any) -> None:
    created = hooks.create()
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}"
    secret = hooks.sql("SELECT secret FROM webhooks WHERE organization_id = :org")
    change = {"url": hooks.receiver.url("/new"), "events": ["tag_set.accepted"], "description": "d"}
    answer = api.patch(path, json={**change, "revision": 1})
    assert answer.status_code == 200
    assert answer.headers["ETag"] == '"2"'
    assert {name: answer.json["data"][name] for name in change} == change
    assert hooks.sql("SELECT secret FROM webhooks WHERE organization_id = :org") == secret
    hooks.emit(name="artifact.ingested")
    hooks.deliver_events(name="tag_set.accepted")
    assert [r.path for r in hooks.receiver.received] == ["/new"]
    assert api.patch(path, json={}).json["data"]["url"] == change["url"]


@pytest.mark.parametrize(
    ("method", "action"),
    [
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/activate"),
        ("POST", "/deactivate"),
        ("POST", "/rotate-secret"),
    ],
)
def test_a_stale_revision_changes_nothing(hooks: Any, method: str, action: str) -> None:
    created = hooks.create()
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}"
    assert api.patch(path, json={"description": "newer"}).status_code == 200
    before = hooks.get(created)
    body = {"json": {"description": "older"}} if method == "PATCH" else {}
    answer = api.request(method, path + action, headers={"If-Match": '"1"'}, **body)
    assert get_error(answer)[:2] == (409, "stale_precondition")
    assert answer.json["error"]["details"] == {"current_revision": 2}
    assert hooks.get(created) == before


def test_of_two_writers_one_wins(hooks: Any) -> None:
    created = hooks.create()
    apis = [hooks.org.api("admin") for _ in range(6)]

    def write(number: int) -> int:
        body = {"description": f"by {number}", "revision": 1}
        return int(apis[number].patch(f"/webhooks/{created['id']}", json=body).status_code)

    statuses = run_concurrently(*(partial(write, number) for number in range(len(apis))))
    assert sorted(statuses) == [200, 409, 409, 409, 409, 409]
    assert hooks.get(created)["revision"] == 2


def test_deliveries_do_not_make_a_revision_stale(hooks: Any) -> None:
    created = hooks.create()
    hooks.deliver_events()
    assert hooks.get(created)["revision"] == created["revision"]
    assert hooks.get(created)["updated_at"] == created["updated_at"]


def test_delete_takes_the_deliveries_along(hooks: Any) -> None:
    created = hooks.create()
    hooks.deliver_events(2)
    api, path = hooks.org.api("admin"), f"/webhooks/{created['id']}"
    answer = api.delete(path)
    assert (answer.status_code, answer.data) == (204, b"")
    assert api.get(path).status_code == 404
    assert api.get(path + "/deliveries").status_code == 404
    for table in ("webhooks", "webhook_deliveries", "webhook_attempts"):
        sql = f"SELECT count(*) AS n FROM {table} WHERE organization_id = :org"
        assert hooks.sql(sql)[0].n == 0
    hooks.deliver_events()
    assert len(hooks.receiver.received) == 2


def test_deactivating_and_activating(hooks: Any) -> None:
    created = hooks.create()
    off = hooks.act(created, "deactivate")
    assert (off["active"], off["disabled_reason"]) == (False, "Deactivated by a user.")
    assert hooks.act(created, "deactivate") == off
    hooks.deliver_events()
    (missed,) = hooks.list_deliveries(created)
    assert (missed["status"], missed["attempts"]) == ("abandoned", [])
    on = hooks.act(created, "activate")
    assert (on["active"], on["disabled_reason"], on["consecutive_failures"]) == (True, None, 0)
    hooks.deliver_events()
    (request,) = hooks.receiver.received
    assert request.headers["X-Service-Delivery"] != missed["id"]


@pytest.mark.parametrize(
    ("method", "action"),
    [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/test"),
        ("POST", "/activate"),
        ("POST", "/deactivate"),
        ("POST", "/rotate-secret"),
        ("GET", "/deliveries"),
        ("GET", "/deliveries/{delivery}"),
        ("POST", "/deliveries/{delivery}/redeliver"),
    ],
)
def test_another_organizations_webhook_is_an_absent_one(
    hooks: Any, other_org: Org, method: str, action: str
) -> None:
    created = hooks.create()
    hooks.deliver_events()
    delivery = hooks.list_deliveries(created)[0]["id"]
    body = {"json": {"description": "mine"}} if method == "PATCH" else {}

    def ask(webhook: str, delivery: str) -> tuple[int, bytes]:
        path = f"/webhooks/{webhook}" + action.format(delivery=delivery)
        answer = other_org.api("owner").request(method, path, **body)
        return answer.status_code, answer.data

    before = hooks.get(created)
    assert ask(created["id"], delivery) == ask(str(uuid7()), str(uuid7()))
    assert ask(created["id"], delivery)[0] == 404
    assert hooks.get(created) == before


def test_a_delivery_is_found_under_its_own_webhook_only(hooks: Any) -> None:
    one, two = hooks.create("/one"), hooks.create("/two", events=["drift.detected"])
    hooks.deliver_events()
    delivery = hooks.list_deliveries(one)[0]["id"]
    api = hooks.org.api("admin")
    assert api.get(f"/webhooks/{two['id']}/deliveries/{delivery}").status_code == 404
    path = f"/webhooks/{two['id']}/deliveries/{delivery}/redeliver"
    assert api.post(path).status_code == 404


def test_the_catalog(org: Org) -> None:
    api = org.api("viewer", slug=None)
    api.slug = None
    answer = api.get("/webhooks/events").json
    assert {kind["event"] for kind in answer["data"]} == {*SUBSCRIBABLE, "test"}
    assert answer["meta"]["total"] == 6
    for kind in answer["data"]:
        Draft202012Validator.check_schema(kind["schema"])
        validator = Draft202012Validator(kind["schema"])
        assert validator.is_valid(kind["sample"])
        assert not validator.is_valid({**kind["sample"], "event": "other"})
        assert not validator.is_valid({**kind["sample"], "data": {}})
        assert kind["description"] == CATALOG[kind["event"]].description
    first, second = read_pages(api, "/webhooks/events?page_size=4")
    assert first["data"] + second["data"] == answer["data"]
    assert org.key("viewer").get("/webhooks/events").json == answer
    assert org.anonymous().get("/webhooks/events").status_code == 401
