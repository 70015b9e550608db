"""What a request with a key may, and what is told to one whose key is none."""

import time
from typing import Any

import pytest
from sqlalchemy import text

from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.errors import check_error
from tests.factories.orgs import Api
from tests.factories.statements import Call, record_prepared, record_statements


def test_a_key_needs_no_slug_and_none_but_its_own(org: Org, other_org: Org) -> None:
    api = org.key("viewer")
    assert api.get("/artifacts").status_code == 200
    answers = []
    for slug in (other_org.slug, "no-such-organization", "", org.slug.upper()):
        answer = api.get("/artifacts", headers={"X-Org-Slug": slug})
        check_error(answer, 403, "permission_denied")
        answers.append(answer.data)
    assert len(set(answers)) == 1
    assert api.get("/artifacts", headers={"X-Org-Slug": org.slug}).status_code == 200


def test_the_path_and_the_header_must_both_be_its_own(org: Org, other_org: Org) -> None:
    api = org.key("admin")
    own = f"/organizations/{org.slug}/api-keys"
    assert api.get(own).status_code == 200
    assert api.get(own, headers={"X-Org-Slug": other_org.slug}).status_code == 403
    foreign = f"/organizations/{other_org.slug}/api-keys"
    assert api.get(foreign).status_code == 403
    assert api.get(foreign, headers={"X-Org-Slug": org.slug}).status_code == 403
    assert api.get("/organizations", headers={"X-Org-Slug": other_org.slug}).status_code == 403


def test_authorization_wins(org: Org) -> None:
    both = org.key("viewer")
    both.token = org.tokens["labeler"]
    data = both.get("/auth/session").json["data"]
    assert data["user"]["id"] == str(org.users["labeler"])
    assert data["api_key"] is None
    both.token = "garbled"
    assert both.get("/auth/session").json["error"]["code"] == "invalid_credentials"
    bad = Api(org.app.test_client(), org.tokens["labeler"], None, "dl_nope")
    assert bad.get("/auth/session").status_code == 200


def test_the_session_of_a_key(org: Org) -> None:
    api = org.key("labeler", read_only=True, expires_at="2999-01-31T00:00:00Z")
    data = api.get("/auth/session").json["data"]
    assert data["user"]["id"] == str(org.users["owner"])
    assert data["user"]["name"] == "Owner"
    assert data["organizations"] == [{"slug": org.slug, "name": "Test", "role": "labeler"}]
    assert data["session_id"] is None
    assert data["expires_at"] == "2999-01-31T00:00:00Z"
    assert data["api_key"]["name"] == "A labeler key"
    assert data["api_key"]["read_only"] is True
    assert org.key("viewer").get("/auth/session").json["data"]["expires_at"] is None


def test_a_key_sees_its_own_organization_only(org: Org, other_org: Org) -> None:
    run_sql(
        other_org,
        "INSERT INTO memberships (organization_id, user_id, role, created_at)"
        " VALUES (:org, :user, 'owner', now())",
        user=org.users["owner"],
    )
    person = org.api("owner").get("/organizations").json
    assert {organization["slug"] for organization in person["data"]} == {org.slug, other_org.slug}
    seen = org.key("labeler").get("/organizations").json
    assert [(organization["slug"], organization["role"]) for organization in seen["data"]] == [
        (org.slug, "labeler")
    ]
    assert seen["meta"]["total"] == 1
    assert len(org.key("labeler").get("/auth/session").json["data"]["organizations"]) == 1


def test_a_key_makes_no_key(org: Org) -> None:
    path = f"/organizations/{org.slug}/api-keys"
    answer = org.key("admin").post(path, {"name": "Another", "role": "viewer"})
    check_error(answer, 403, "permission_denied")


def test_idempotency_keys_of_two_keys_and_their_maker_do_not_meet(org: Org) -> None:
    headers = {"Idempotency-Key": "same"}
    body = {"url": "http://127.0.0.2:9/hook", "events": ["export.completed"]}
    callers = [org.key("admin"), org.key("admin"), org.api("owner")]
    made = [api.post("/webhooks", body, headers=headers).json["data"]["id"] for api in callers]
    assert len(set(made)) == 3
    again = callers[0].post("/webhooks", body, headers=headers)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json["data"]["id"] == made[0]


@pytest.mark.parametrize(
    "key",
    [
        "dl_",
        "x",
        "dl_nope",
        "dl_" + "a" * 55,
        "dl_" + "a" * 54 + "é",
        "dl_" + "a" * 7000,
        "%00",
    ],
)
def test_what_is_no_key_is_refused_alike(org: Org, key: str) -> None:
    api = Api(org.app.test_client(), None, org.slug, key)
    answers = {api.get(path).data for path in ("/auth/session", "/artifacts", "/webhooks")}
    assert len(answers) == 1
    check_error(api.get("/artifacts"), 401, "invalid_api_key")


def test_an_empty_key_is_no_key(org: Org) -> None:
    answer = org.anonymous().get("/artifacts", headers={"X-API-Key": ""})
    assert answer.json["error"]["code"] == "invalid_api_key"


def _create_wrong_keys(org: Org) -> dict[str, str]:
    """A key of each kind that is refused."""
    expired, revoked, known = (org.key("viewer").key or "" for _ in range(3))
    run_sql(org, "UPDATE api_keys SET expires_at = now() WHERE prefix = :p", p=expired[:15])
    run_sql(org, "DELETE FROM api_keys WHERE prefix = :p", p=revoked[:15])
    return {
        "unknown": "dl_" + "z" * 55,
        "garbled": "nope",
        "expired": expired,
        "revoked": revoked,
        "wrong secret": known[:15] + "a" * 43,
    }


def test_every_wrong_key_gets_the_same_response_after_the_same_work(org: Org) -> None:
    keys = _create_wrong_keys(org)
    work: dict[str, list[str]] = {}
    bodies = set()
    for kind, key in keys.items():
        with record_statements(org.app) as statements, record_prepared() as calls:
            bodies.add(Api(org.app.test_client(), None, None, key).get("/artifacts").data)
        work[kind] = [*_list_names(calls), *statements]
    assert len(bodies) == 1
    assert work["unknown"] == ["authenticate_key"]
    assert all(done == work["unknown"] for done in work.values()), work


def _list_names(calls: list[Call]) -> list[str]:
    return [prepared.name for prepared, _ in calls]


def test_the_last_use_is_written_at_most_once_a_minute(org: Org) -> None:
    api = org.key("viewer")

    def get_last_use() -> Any:
        listed = org.api("admin").get(f"/organizations/{org.slug}/api-keys")
        return listed.json["data"][0]["last_used_at"]

    assert get_last_use() is None
    with record_prepared() as first_calls:
        api.get("/auth/session")
    assert "touch_key" in _list_names(first_calls)
    last_use = get_last_use()
    assert last_use is not None
    with record_statements(org.app) as statements, record_prepared() as second_calls:
        api.get("/auth/session")
    assert "touch_key" not in _list_names(second_calls)
    assert not [sql for sql in statements if "UPDATE" in sql]
    assert get_last_use() == last_use
    run_sql(org, "UPDATE api_keys SET last_used_at = now() - interval '61 seconds'")
    api.get("/auth/session")
    assert get_last_use() > last_use


def test_the_last_use_waits_for_nobody(org: Org) -> None:
    api = org.key("viewer")
    with org.transaction() as session:
        session.execute(text("SELECT 1 FROM api_keys FOR UPDATE"))
        began = time.monotonic()
        assert api.get("/auth/session").status_code == 200
        # The lock is held for as long as the block: who waited for it would time out instead.
        assert time.monotonic() - began < 5
