"""Duplicates, and AI assistance turned on and off."""

from typing import Any

import pytest

from app.schemas.artifact_schemas.service.drafts import MAX_NAME_LENGTH, build_copy_name
from tests.factories import Org
from tests.factories.orgs import get_data

FIELDS: list[dict[str, Any]] = [
    {"key": "number", "type": "text", "required": True, "ai_assist": False},
    {"key": "items", "type": "table", "columns": [{"key": "price", "type": "money"}]},
]
COPIED = (
    "document_type",
    "description",
    "guidelines",
    "review_policy",
    "required_skills",
    "fields",
)


def _create(org: Org, **members: Any) -> dict[str, Any]:
    body = {
        "name": "Invoices",
        "document_type": "invoice",
        "description": "What we pay",
        "guidelines": "# Totals",
        "review_policy": {"labels_per_artifact": 2, "sample_rate": 0.5},
        "required_skills": ["Tax"],
        "fields": FIELDS,
        **members,
    }
    return dict(get_data(org.api("admin").post("/schemas", body), 201))


def test_a_copy_is_a_draft_of_its_own(org: Org) -> None:
    original = _create(org)
    path, owner = f"/schemas/{original['id']}", org.api("owner")
    assert owner.post(f"{path}/publish", {}).status_code == 201
    assert owner.post(f"{path}/activate").status_code == 200
    assert owner.post(f"{path}/ai-assist/enable").status_code == 200
    copy = get_data(owner.post(f"{path}/duplicate", {}), 201)
    assert copy["id"] != original["id"]
    assert {name: copy[name] for name in COPIED} == {name: original[name] for name in COPIED}
    assert (copy["name"], copy["status"], copy["revision"]) == ("Invoices (copy)", "draft", 1)
    assert (copy["current_version"], copy["ai_assist_enabled"]) == (None, False)
    assert copy["created_by"] == str(org.users["owner"])
    changed = {"name": "Other", "fields": [], "required_skills": [], "revision": 1}
    assert owner.patch(f"/schemas/{copy['id']}", changed).status_code == 200
    kept = owner.get(path).json["data"]
    assert (kept["name"], kept["fields"]) == ("Invoices", original["fields"])


def test_a_copy_takes_the_draft_and_not_the_version(org: Org) -> None:
    original = _create(org)
    api, path = org.api("admin"), f"/schemas/{original['id']}"
    api.post(f"{path}/publish", {})
    revision = api.get(path).json["data"]["revision"]
    api.patch(path, {"fields": FIELDS[:1], "revision": revision})
    copy = api.post(f"{path}/duplicate", {"name": "Receipts"}).json["data"]
    assert (copy["name"], [field["key"] for field in copy["fields"]]) == ("Receipts", ["number"])


@pytest.mark.parametrize(
    ("name", "copy"),
    [
        ("Invoices", "Invoices (copy)"),
        ("x" * 200, "x" * 193 + " (copy)"),
        ("x" * 192 + " long", "x" * 192 + " (copy)"),
        ("票" * 200, "票" * 193 + " (copy)"),
    ],
)
def test_a_name_has_room_for_its_mark(name: str, copy: str) -> None:
    assert build_copy_name(name) == copy
    assert len(copy) <= MAX_NAME_LENGTH


@pytest.mark.parametrize("body", [{"name": ""}, {"name": "x" * 201}, {"name": None}, {"x": 1}])
def test_a_name_that_is_none_is_refused(org: Org, body: dict[str, Any]) -> None:
    path = f"/schemas/{_create(org)['id']}/duplicate"
    assert org.api("admin").post(path, body).status_code == 422


def test_assistance_is_switched_and_switching_again_changes_nothing(org: Org) -> None:
    api, path = org.api("admin"), f"/schemas/{_create(org)['id']}"
    seen = []
    for act in ("disable", "enable", "enable", "disable"):
        answer = api.post(f"{path}/ai-assist/{act}")
        assert answer.status_code == 200
        schema = answer.json["data"]
        assert answer.headers["ETag"] == f'"{schema["revision"]}"'
        seen.append((schema["ai_assist_enabled"], schema["revision"]))
    assert seen == [(False, 1), (True, 2), (True, 2), (False, 3)]


def test_assistance_needs_no_field_that_takes_it(org: Org) -> None:
    path = f"/schemas/{_create(org, fields=FIELDS[:1])['id']}"
    answer = org.api("admin").post(f"{path}/ai-assist/enable")
    assert answer.json["data"]["ai_assist_enabled"] is True
