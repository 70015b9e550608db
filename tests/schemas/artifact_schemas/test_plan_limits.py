"""Schemas are activated up to the number that the plan allows."""

from typing import Any

from tests.factories import Org
from tests.factories.usage import find_usage_differences, set_plan


def _publish(org: Org, name: str) -> str:
    api = org.api("admin")
    fields = [{"key": "total", "type": "money"}]
    body = {"name": name, "document_type": "invoice", "fields": fields}
    schema = api.post("/schemas", json=body).json["data"]
    answer = api.post(f"/schemas/{schema['id']}/publish", json={"revision": schema["revision"]})
    assert answer.status_code in (200, 201), answer.json
    return str(schema["id"])


def _post_action(org: Org, schema_id: str, action: str) -> Any:
    return org.api("admin").post(f"/schemas/{schema_id}/{action}", json={})


def test_activating(org: Org) -> None:
    first, second = _publish(org, "First"), _publish(org, "Second")
    set_plan(org, "free", {"active_schemas": 1})
    assert _post_action(org, first, "activate").status_code == 200
    # It is active already, which needs no room.
    assert _post_action(org, first, "activate").status_code == 200
    answer = _post_action(org, second, "activate")
    assert (answer.status_code, answer.json["error"]["code"]) == (402, "plan_limit_reached")
    details = {"meter": "active_schemas", "limit": 1, "used": 1, "plan": "free"}
    assert answer.json["error"]["details"] == details
    assert org.api("viewer").get(f"/schemas/{second}").json["data"]["status"] == "draft"
    assert _post_action(org, first, "deactivate").status_code == 200
    assert _post_action(org, second, "activate").status_code == 200
    assert _post_action(org, first, "activate").status_code == 402
    assert org.api("admin").delete(f"/schemas/{second}").status_code == 204
    assert _post_action(org, first, "activate").status_code == 200
    assert find_usage_differences(org) == []
