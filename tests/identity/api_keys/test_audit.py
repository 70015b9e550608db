"""What the audit log tells of keys, and of what is done with them."""

from typing import Any

from tests.factories import Org
from tests.factories.orgs import Api, get_data


def _list_entries(org: Org, action: str) -> list[Any]:
    path = f"/organizations/{org.slug}/audit-log"
    return list(get_data(org.api("owner").get(path, query_string={"action": action})))


def test_a_key_is_told_of_without_its_secret_and_its_use_is_no_change(org: Org) -> None:
    path = f"/organizations/{org.slug}/api-keys"
    made = org.api("admin").post(path, {"name": "Importer", "role": "viewer"}).json["data"]
    key = made["key"]
    Api(org.app.test_client(), None, None, key).get("/artifacts")
    (created,) = _list_entries(org, "api_keys.create")
    assert created["target"] == {"type": "api_keys", "id": made["id"], "label": "Importer"}
    assert created["actor"]["id"] == str(org.users["admin"])
    assert created["changes"]["prefix"] == [None, key[:15]]
    assert key[15:] not in str(created)
    assert _list_entries(org, "api_keys.update") == []
    assert org.api("owner").delete(f"{path}/{made['id']}").status_code == 204
    (revoked,) = _list_entries(org, "api_keys.revoke")
    assert revoked["target"] == created["target"]
    assert revoked["actor"]["id"] == str(org.users["owner"])


def test_what_a_key_does_names_the_key_and_its_maker(org: Org) -> None:
    api = org.key("admin")
    body = {"url": "http://127.0.0.2:9/hook", "events": ["export.completed"]}
    assert api.post("/webhooks", body).status_code == 201
    (entry,) = _list_entries(org, "webhooks.create")
    assert entry["actor"]["kind"] == "api_key"
    assert entry["actor"]["label"] == f"A admin key ({org.email('owner')})"
    assert entry["actor"]["id"] == api.get("/auth/session").json["data"]["api_key"]["id"]
