"""The API operation that lists entries."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from app.identity.audit.following import AuditFollower
from app.kit import db
from tests.factories import Api, Org
from tests.factories.labels import make_labeled
from tests.factories.statements import record_statements
from tests.identity.audit.conftest import HOOK, Owner


def _get_log(org: Org, role: str = "admin", **query: Any) -> Any:
    answer = org.api(role).get(f"/organizations/{org.slug}/audit-log", query_string=query)
    assert answer.status_code == 200, answer.json
    return answer.json


def test_an_entry_has_actor_target_time_and_origin(org: Org) -> None:
    headers = {"X-Request-ID": "r-1"}
    made = org.api("owner").post("/webhooks", json=HOOK, headers=headers).json["data"]
    body = _get_log(org, action="webhooks.create")
    (entry,) = body["data"]
    assert body["meta"] == {"total": 1, "next_cursor": None, "prev_cursor": None, "page_size": 100}
    assert entry["actor"] == {
        "kind": "user",
        "id": str(org.users["owner"]),
        "label": org.email("owner"),
    }
    assert entry["target"] == {"type": "webhooks", "id": made["id"], "label": HOOK["url"]}
    assert entry["changes"]["secret"] == [None, {"secret": True}]
    assert entry["changes"]["url"] == [None, HOOK["url"]]
    assert (entry["operation"], entry["request_id"]) == ("create_webhook", "r-1")
    assert entry["ip_address"] == "127.0.0.1"
    assert datetime.fromisoformat(entry["at"]) <= db.utc_now()
    assert entry["created_at"] == entry["updated_at"] == entry["at"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"actor_kind": "user"}, 3),
        ({"actor_kind": "control_plane"}, 0),
        ({"target_type": "webhooks"}, 3),
        ({"target_type": "members"}, 5),
        ({"action": "webhooks.update"}, 1),
        ({"action": "webhooks.update", "target_type": "schemas"}, 0),
        ({"actor_id": str(uuid4())}, 0),
        ({"target_id": str(uuid4())}, 0),
    ],
)
def test_filters_can_be_combined(org: Org, query: dict[str, Any], expected: int) -> None:
    api = org.api("owner")
    made = api.post("/webhooks", json=HOOK).json["data"]
    api.patch(f"/webhooks/{made['id']}", json={"description": "x"})
    api.delete(f"/webhooks/{made['id']}")
    assert _get_log(org, **query)["meta"]["total"] == expected
    assert len(_get_log(org, **query)["data"]) == expected


def test_filters_by_actor_target_and_time(org: Org) -> None:
    made = org.api("admin").post("/webhooks", json=HOOK).json["data"]
    org.api("owner").post("/webhooks", json=HOOK)
    mine = _get_log(org, actor_id=str(org.users["admin"]))["data"]
    assert [entry["target"]["id"] for entry in mine] == [made["id"]]
    assert _get_log(org, target_id=made["id"])["meta"]["total"] == 1
    total = _get_log(org)["meta"]["total"]
    at = mine[0]["at"]
    later = _get_log(org, created_after=at)["meta"]["total"]
    earlier = _get_log(org, created_before=at)["meta"]["total"]
    assert (later, earlier) == (2, total - 2)
    tomorrow = (db.utc_now() + timedelta(days=1)).isoformat()
    assert _get_log(org, created_after=tomorrow)["data"] == []


@pytest.mark.parametrize(
    "query",
    [{"actor_id": "x"}, {"actor_kind": "root"}, {"created_after": "x"}, {"sort": "action"}],
)
def test_an_invalid_filter_is_refused(org: Org, query: dict[str, str]) -> None:
    answer = org.api("admin").get(f"/organizations/{org.slug}/audit-log", query_string=query)
    assert answer.status_code == 422
    assert answer.json["error"]["field"] == next(iter(query))


@pytest.mark.parametrize("sort", ["-at", "at"])
def test_pages_have_every_entry_once_with_equal_times(org: Org, sort: str) -> None:
    make_labeled(org, 250, texts=False)
    total = _get_log(org)["meta"]["total"]
    listed_entries, cursor = [], None
    while True:
        query = {"page_size": 100, "sort": sort, **({"cursor": cursor} if cursor else {})}
        body = _get_log(org, **query)
        assert body["meta"]["total"] == total
        listed_entries += body["data"]
        cursor = body["meta"]["next_cursor"]
        if cursor is None:
            break
    assert len({entry["id"] for entry in listed_entries}) == len(listed_entries) == total
    keys = [(entry["at"], entry["id"]) for entry in listed_entries]
    assert keys == sorted(keys, reverse=sort == "-at")


def test_a_page_takes_one_statement(org: Org) -> None:
    make_labeled(org, 200, texts=False)
    _get_log(org, actor_kind="user")
    with record_statements(org.app) as statements:
        _get_log(org, actor_kind="user")
    assert len([sql for sql in statements if "audit_entries" in sql]) == 1


def test_entries_of_another_organization_are_not_listed(org: Org, other_org: Org) -> None:
    other_org.api("owner").post("/webhooks", json=HOOK)
    assert _get_log(org, action="webhooks.create")["data"] == []
    path = f"/organizations/{other_org.slug}/audit-log"
    answer = Api(org.app.test_client(), org.tokens["owner"], None).get(path)
    assert answer.status_code == 403


def test_reading_is_not_audited(org: Org, work: Callable[[], None]) -> None:
    before = _get_log(org)["meta"]["total"]
    org.api("viewer").get("/schemas")
    org.api("viewer").get("/auth/session")
    assert _get_log(org)["meta"]["total"] == before


def test_a_followed_log_shows_entries_that_are_committed_late_once(
    org: Org, owner_sql: Owner
) -> None:
    """An entry that was written before the shown ones, and more entries than one read returns."""

    def write(count: int, age: str) -> None:
        owner_sql(
            "INSERT INTO audit_entries (id, organization_id, at, actor_kind, actor_label, action,"
            " target_type, changes) SELECT gen_random_uuid(), %s, now() - %s::interval, 'user',"
            " 'a@b.example', 'followed', 'test', '{}' FROM generate_series(1, %s)",
            org.id, age, count,
        )  # fmt: skip

    follower = AuditFollower(org.slug)
    with org.app.app_context():
        write(1, "0 seconds")
        assert [entry.action for entry in follower.start(1)] == ["followed"]
        for count, age in ((1, "2 minutes"), (600, "0 seconds"), (0, "0 seconds")):
            write(count, age)
            assert len(follower.read_new()) == count
