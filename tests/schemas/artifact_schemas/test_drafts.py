"""Creating, reading, listing and editing drafts."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

from app.kit import db, tenancy
from app.kit.ids import uuid7
from app.schemas.artifact_schemas.models import ArtifactSchema
from tests.factories import Org
from tests.factories.errors import check_error, check_stale

FIELDS: list[dict[str, Any]] = [
    {"key": "number", "type": "text", "required": True},
    {"key": "kind", "type": "choice", "options": [{"value": "a"}, {"value": "b", "label": "B"}]},
    {
        "key": "items",
        "type": "table",
        "columns": [{"key": "price", "type": "money", "constraints": {"currencies": ["EUR"]}}],
    },
]


def _create(org: Org, **members: Any) -> dict[str, Any]:
    answer = org.api("admin").post("/schemas", {"name": "Invoices", "fields": FIELDS, **members})
    assert answer.status_code == 201, answer.json
    data: dict[str, Any] = answer.json["data"]
    return data


def test_a_draft_is_created_with_every_default_filled_in(org: Org) -> None:
    schema = _create(org, document_type="invoice", review_policy={"sample_rate": 0.5})
    assert schema["status"] == "draft"
    assert schema["current_version"] is None
    assert schema["ai_assist_enabled"] is False
    assert schema["created_by"] == str(org.users["admin"])
    assert schema["revision"] == 1
    assert schema["review_policy"] == {
        "labels_per_artifact": 1,
        "sample_rate": 0.5,
        "auto_accept_agreement": None,
        "auto_accept_confidence": None,
        "max_rejections": 3,
    }
    number, kind, items = schema["fields"]
    assert number == {
        "key": "number",
        "label": "Number",
        "type": "text",
        "required": True,
        "multiple": False,
        "description": "",
        "options": [],
        "columns": [],
        "constraints": {},
        "ai_assist": True,
    }
    assert kind["options"] == [{"value": "a", "label": "a"}, {"value": "b", "label": "B"}]
    assert items["columns"][0]["constraints"] == {"currencies": ["EUR"]}


def test_a_schema_is_read_back_with_its_entity_tag(org: Org) -> None:
    schema = _create(org)
    answer = org.api("viewer").get(f"/schemas/{schema['id']}")
    assert answer.status_code == 200
    assert answer.json["data"] == schema
    assert answer.headers["ETag"] == '"1"'


def test_what_was_read_can_be_sent_back(org: Org) -> None:
    schema = _create(org)
    body = {"fields": schema["fields"], "review_policy": schema["review_policy"], "revision": 1}
    answer = org.api("admin").patch(f"/schemas/{schema['id']}", body)
    assert answer.status_code == 200
    assert answer.json["data"]["fields"] == schema["fields"]


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ([{"key": "a", "type": "text"}] * 2, "duplicate_field_name", "fields.1.key"),
        ([{"key": "a", "type": "colour"}], "invalid_field_type", "fields.0.type"),
        ([{"key": "Not Snake", "type": "text"}], "validation_error", "fields.0.key"),
        ([{"key": "a", "type": "choice"}], "validation_error", "fields.0.options"),
        (
            [{"key": "a", "type": "table", "columns": [{"key": "b", "type": "table"}]}],
            "invalid_field_type",
            "fields.0.columns.0.type",
        ),
    ],
)
def test_fields_against_a_rule_are_400_with_their_code(
    org: Org, fields: list[Any], code: str, field: str
) -> None:
    answer = org.api("admin").post("/schemas", {"name": "X", "fields": fields})
    check_error(answer, 400, code, field=field)
    assert org.api("admin").get("/schemas").json["meta"]["total"] == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"fields": [{"key": "a"}]}, "fields.0.type"),
        ({"fields": [{"key": "a", "type": "text", "colour": 1}]}, "fields.0.colour"),
        ({"fields": [{"key": "a", "type": "text", "required": "yes"}]}, "fields.0.required"),
        ({"fields": [{}] * 501}, "fields"),
        ({"fields": "all"}, "fields"),
        ({"review_policy": {"labels_per_artifact": 0}}, "review_policy.labels_per_artifact"),
        ({"review_policy": {"sample_rate": 1.5}}, "review_policy.sample_rate"),
        ({"name": "\x00"}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"description": "\ud800"}, "description"),
    ],
)
def test_a_body_that_does_not_fit_is_422_at_its_path(
    org: Org, body: dict[str, Any], field: str
) -> None:
    raw = b'{"name": "X", "description": "\\ud800"}' if field == "description" else None
    api = org.api("admin")
    if raw is not None:
        headers = {"Content-Type": "application/json"}
        answer = api.request("POST", "/schemas", data=raw, headers=headers)
        assert answer.json["error"]["field"] == "body"
    else:
        answer = api.post("/schemas", {"name": "X", **body})
        assert answer.json["error"]["field"] == field
    assert answer.status_code == 422
    assert answer.json["error"]["code"] == "unprocessable"


def test_the_list_is_filtered_and_sorted(org: Org, other_org: Org) -> None:
    _create(other_org)
    first = _create(org, name="Beta", document_type="invoice")
    second = _create(org, name="Alpha", document_type="contract")
    api = org.api("viewer")

    def ids(query: str) -> list[str]:
        answer = api.get(f"/schemas?{query}")
        assert answer.status_code == 200, answer.json
        assert answer.json["meta"]["total"] == len(answer.json["data"])
        return [schema["id"] for schema in answer.json["data"]]

    assert ids("") == [second["id"], first["id"]]
    assert ids("sort=name") == [second["id"], first["id"]]
    assert ids("sort=-name") == [first["id"], second["id"]]
    assert ids("document_type=invoice") == [first["id"]]
    assert ids("status=active") == []
    assert ids("status=draft&created_after=2000-01-01T00:00:00Z") == [second["id"], first["id"]]
    assert ids("created_before=2000-01-01T00:00:00Z") == []
    assert api.get("/schemas?status=gone").status_code == 422


def test_editing_changes_what_is_named_and_nothing_else(org: Org) -> None:
    schema = _create(org, description="before")
    changes = {"name": "Bills", "review_policy": {"max_rejections": None}, "revision": 1}
    answer = org.api("admin").patch(f"/schemas/{schema['id']}", changes)
    assert answer.status_code == 200
    assert answer.headers["ETag"] == '"2"'
    edited = answer.json["data"]
    assert edited["name"] == "Bills"
    assert edited["description"] == "before"
    assert edited["fields"] == schema["fields"]
    assert edited["review_policy"] == {**schema["review_policy"], "max_rejections": None}
    assert edited["updated_at"] > schema["updated_at"]


def test_editing_needs_the_revision_that_was_read(org: Org) -> None:
    api, path = org.api("admin"), f"/schemas/{_create(org)['id']}"
    assert api.patch(path, {"name": "B"}).json["error"]["field"] == "revision"
    assert api.patch(path, {"name": "B"}, headers={"If-Match": '"1"'}).status_code == 200
    check_stale(api.patch(path, {"name": "C", "revision": 1}), 2)
    assert api.get(path).json["data"]["name"] == "B"


def test_of_two_writers_at_once_exactly_one_wins(org: Org) -> None:
    path = f"/schemas/{_create(org)['id']}"
    apis = [org.api("admin") for _ in range(4)]

    def write(number: int) -> int:
        return apis[number].patch(path, {"name": f"N{number}", "revision": 1}).status_code

    with ThreadPoolExecutor(4) as threads:
        statuses = sorted(threads.map(write, range(4)))
    assert statuses == [200, 409, 409, 409]
    assert org.api("admin").get(path).json["data"]["revision"] == 2


def test_bad_fields_in_an_edit_change_nothing(org: Org) -> None:
    api, schema = org.api("admin"), _create(org)
    body = {"name": "B", "fields": [{"key": "a", "type": "colour"}], "revision": 1}
    answer = api.patch(f"/schemas/{schema['id']}", body)
    assert answer.json["error"]["code"] == "invalid_field_type"
    assert api.get(f"/schemas/{schema['id']}").json["data"] == schema


def test_another_organizations_schema_is_not_there(org: Org, other_org: Org) -> None:
    path = f"/schemas/{_create(other_org)['id']}"
    api = org.api("admin")
    absent = api.get(f"/schemas/{uuid7()}")
    assert absent.status_code == 404
    assert api.get(path).data == absent.data
    assert api.patch(path, {"name": "B", "revision": 1}).status_code == 404
    for action in ("publish", "activate", "deactivate"):
        body: dict[str, Any] | None = {} if action == "publish" else None
        assert api.post(f"{path}/{action}", body).status_code == 404


def test_required_skills_stand_once_however_they_are_spelled(org: Org) -> None:
    schema = _create(org, required_skills=["Medical  German", "medical german", "Tax", "\uff34AX"])
    assert schema["required_skills"] == ["Medical German", "Tax"]
    path = f"/schemas/{schema['id']}"
    changed = org.api("admin").patch(path, {"required_skills": ["Law"], "revision": 1})
    assert changed.json["data"]["required_skills"] == ["Law"]
    kept = org.api("admin").patch(path, {"name": "Renamed", "revision": 2}).json["data"]
    assert kept["required_skills"] == ["Law"]
    with org.app.app_context(), tenancy.organization(org.id):
        statement = select(ArtifactSchema.required_skill_keys)
        assert db.session().execute(statement).scalar_one() == ["law"]


@pytest.mark.parametrize("skills", [["x"] * 51, ["x" * 65], [" "], [7], "tax", None])
def test_required_skills_that_are_none_are_refused(org: Org, skills: Any) -> None:
    body = {"name": "x", "required_skills": skills}
    answer = org.api("admin").post("/schemas", body)
    assert answer.status_code == 422
    assert answer.json["error"]["field"].startswith("required_skills")
