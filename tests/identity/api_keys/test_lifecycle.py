"""Keys are made by people, shown once, listed without the key, and end when they are revoked."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.errors import check_error
from tests.factories.orgs import Api, get_data


def _path(org: Org) -> str:
    return f"/organizations/{org.slug}/api-keys"


def _create_key(org: Org, maker: str = "admin", **members: Any) -> Any:
    return org.api(maker).post(_path(org), {"name": "Importer", "role": "labeler", **members})


def _get_api_with_key(org: Org, key: str) -> Api:
    return Api(org.app.test_client(), None, None, key)


def _is_refused(api: Api) -> bool:
    answer = api.get("/auth/session")
    return answer.status_code == 401 and answer.json["error"]["code"] == "invalid_api_key"


def test_a_key_is_shown_once(org: Org) -> None:
    data = get_data(_create_key(org, read_only=True, expires_at="2999-01-31T00:00:00Z"), 201)
    key = data.pop("key")
    assert key.startswith("dl_")
    assert data["prefix"] == key[: len(data["prefix"])]
    assert len(key) - len(data["prefix"]) >= 43
    assert {"name": "Importer", "role": "labeler", "read_only": True}.items() <= data.items()
    assert data["expires_at"] == "2999-01-31T00:00:00Z"
    assert data["last_used_at"] is None
    assert data["created_by"]["id"] == str(org.users["admin"])
    listed = org.api("admin").get(_path(org))
    assert listed.json["data"] == [data]
    assert key not in listed.text


def test_only_a_keyed_hash_is_stored(org: Org) -> None:
    key = _create_key(org).json["data"]["key"]
    (row,) = run_sql(org, "SELECT CAST(k AS text) AS content FROM api_keys k")
    assert key[:15] in row.content
    assert key[15:] not in row.content


def test_the_same_idempotency_key_makes_one(org: Org) -> None:
    headers = {"Idempotency-Key": "once"}
    body = {"name": "Importer", "role": "viewer"}
    first, second = (org.api("admin").post(_path(org), body, headers=headers) for _ in range(2))
    assert second.json["data"] == first.json["data"] | {"key": None}
    assert org.api("admin").get(_path(org)).json["meta"]["total"] == 1


@pytest.mark.parametrize("maker", ["owner", "admin"])
def test_no_key_is_an_owner(org: Org, maker: str) -> None:
    check_error(_create_key(org, maker, role="owner"), 400, "validation_error", field="role")


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"role": "boss"}, "role"),
        ({"role": None}, "role"),
        ({"name": "a\r\nX-Evil: 1"}, "name"),
        ({"name": " "}, "name"),
        ({"read_only": "yes"}, "read_only"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"expires_at": "2030-01-01T00:00:00"}, "expires_at"),
        ({"key": "dl_mine"}, "key"),
    ],
)
def test_what_does_not_fit_is_named(org: Org, members: dict[str, Any], field: str) -> None:
    check_error(_create_key(org, **members), 422, "unprocessable", field=field)
    assert org.api("admin").get(_path(org)).json["data"] == []


def test_an_end_in_the_past_is_refused(org: Org) -> None:
    past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    check_error(_create_key(org, expires_at=past), 400, "validation_error", field="expires_at")


def test_keys_are_listed_by_page_and_name(org: Org) -> None:
    for name in ("b", "c", "a"):
        assert _create_key(org, name=name).status_code == 201
    page = org.api("admin").get(f"{_path(org)}?sort=name&page_size=2").json
    rest = org.api("admin").get(
        f"{_path(org)}?sort=name&page_size=2&cursor={page['meta']['next_cursor']}"
    )
    names = [key["name"] for key in page["data"] + rest.json["data"]]
    assert names == ["a", "b", "c"]
    newest = org.api("admin").get(_path(org)).json["data"]
    assert [key["name"] for key in newest] == ["a", "c", "b"]
    start = newest[1]["created_at"]
    newer_keys = (
        org.api("admin").get(_path(org), query_string={"created_after": start}).json["data"]
    )
    assert [key["name"] for key in newer_keys] == ["a", "c"]


def test_a_revoked_key_is_refused_at_the_next_request(org: Org) -> None:
    data = _create_key(org).json["data"]
    api = _get_api_with_key(org, data["key"])
    assert api.get("/artifacts").status_code == 200
    path = f"{_path(org)}/{data['id']}"
    assert org.api("admin").delete(path).status_code == 204
    assert _is_refused(api)
    assert org.api("admin").delete(path).status_code == 404
    assert org.api("admin").get(_path(org)).json["data"] == []


def test_an_expired_key_is_refused_and_still_listed(org: Org) -> None:
    data = _create_key(org, expires_at="2999-01-31T00:00:00Z").json["data"]
    assert not _is_refused(_get_api_with_key(org, data["key"]))
    run_sql(org, "UPDATE api_keys SET expires_at = now() - interval '1 second'")
    assert _is_refused(_get_api_with_key(org, data["key"]))
    assert len(org.api("admin").get(_path(org)).json["data"]) == 1


def test_a_key_never_has_more_than_its_own_role(org: Org) -> None:
    answer = org.key("labeler", maker="owner").get("/review-queue")
    assert answer.json["error"]["details"] == {"required": "reviewer", "actual": "labeler"}


def test_raising_the_token_version_leaves_keys_alone(org: Org) -> None:
    api = _get_api_with_key(org, _create_key(org).json["data"]["key"])
    run_sql(org, "UPDATE users SET token_version = 2 WHERE id = :id", id=org.users["admin"])
    assert not _is_refused(api)


@pytest.mark.parametrize("status", ["closed", "erased"])
def test_keys_of_a_closed_organization_are_refused(org: Org, status: str) -> None:
    api = org.key("admin")
    run_sql(org, "UPDATE organizations SET status = :status WHERE id = :org", status=status)
    assert _is_refused(api)


def test_keys_of_a_suspended_organization_read(org: Org) -> None:
    api = org.key("admin")
    run_sql(org, "UPDATE organizations SET status = 'suspended' WHERE id = :org")
    assert api.get("/artifacts").status_code == 200
    answer = api.post("/webhooks", {"url": "https://example.com", "events": ["export.completed"]})
    check_error(answer, 403, "permission_denied")
