"""Importing over HTTP: a draft out of a file, and what it could not hold."""

import json
from typing import Any

import pytest

from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace

ORDER = {
    "title": "Order",
    "description": "What was ordered.",
    "type": "object",
    "required": ["number", "lines"],
    "properties": {
        "number": {"type": "string", "maxLength": 20},
        "day": {"type": "string", "format": "date"},
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"price": {"type": "number"}}},
        },
        "color": {"type": "string", "default": "red"},
    },
}
CONFIG = """
<View>
  <Text name="text" value="$text"/>
  <Labels name="who" toName="text"><Label value="Person"/><Label value="Größe"/></Labels>
</View>
"""


def _import(org: Org, role: str = "admin", **body: Any) -> Any:
    return org.api(role).post("/schemas/import", body)


def _imported(org: Org, **body: Any) -> dict[str, Any]:
    data: dict[str, Any] = get_data(_import(org, **body), 201)
    return data


@pytest.mark.parametrize("as_text", [False, True])
def test_a_json_schema_becomes_a_draft(org: Org, as_text: bool) -> None:
    content = json.dumps(ORDER) if as_text else ORDER
    schema = _imported(org, format="json_schema", content=content)
    assert (schema["name"], schema["document_type"]) == ("Order", "order")
    assert (schema["description"], schema["status"]) == ("What was ordered.", "draft")
    assert [(f["key"], f["type"], f["required"]) for f in schema["fields"]] == [
        ("number", "text", True),
        ("day", "date", False),
        ("lines", "table", True),
        ("color", "text", False),
    ]
    assert schema["warnings"] == [{"path": "properties.color", "message": "Not imported: default."}]
    assert schema["dry_run"] is False
    read = org.api("viewer").get(f"/schemas/{schema['id']}").json["data"]
    assert {**read, "warnings": schema["warnings"], "dry_run": False} == schema


def test_a_labeling_configuration_becomes_a_draft(org: Org) -> None:
    schema = _imported(org, format="label_studio", content=CONFIG)
    assert (schema["name"], schema["document_type"]) == ("Imported schema", "document")
    assert [(f["key"], f["label"], f["type"]) for f in schema["fields"]] == [
        ("person", "Person", "span"),
        ("grosse", "Größe", "span"),
    ]
    assert schema["warnings"] == []


def test_the_callers_name_goes_before_the_files(org: Org) -> None:
    names = {"name": "Mine", "document_type": "my_order"}
    schema = _imported(org, format="json_schema", content=ORDER, **names)
    assert (schema["name"], schema["document_type"]) == ("Mine", "my_order")


def test_what_the_api_answered_is_a_portable_file(org: Org, other_org: Org) -> None:
    api = org.api("admin")
    made = api.post("/schema-templates/invoice/instantiate", {}).json["data"]
    settings = {
        "review_policy": {"labels_per_artifact": 3, "auto_accept_agreement": 0.9},
        "required_skills": ["Dutch", "VAT"],
        "revision": made["revision"],
    }
    assert api.patch(f"/schemas/{made['id']}", settings).status_code == 200
    answered = api.get(f"/schemas/{made['id']}")
    carried = ("name", "document_type", "description", "guidelines", "review_policy", "fields")
    source = {name: answered.json["data"][name] for name in (*carried, "required_skills")}
    for content in (answered.json, answered.get_data(as_text=True), answered.json["data"]):
        schema = _imported(other_org, format="portable", content=content)
        assert {name: schema[name] for name in source} == source
        assert schema["id"] != made["id"]
        assert schema["warnings"] == []


def test_a_dry_run_writes_nothing(org: Org) -> None:
    body = {"format": "json_schema", "content": ORDER}
    answer = _import(org, **body, dry_run=True)
    assert answer.status_code == 201
    assert "ETag" not in answer.headers
    tried = answer.json["data"]
    assert tried["dry_run"] is True
    assert org.api("viewer").get("/schemas").json["meta"]["total"] == 0
    for name in ("id", "created_at", "updated_at", "revision"):
        assert tried.pop(name) is None
    made = _imported(org, **body)
    assert {**tried, "dry_run": False} == {name: made[name] for name in tried}


def test_an_import_can_be_published_and_labeled(org: Org) -> None:
    api = org.api("admin")
    schema = _imported(org, format="label_studio", content=CONFIG)
    assert api.post(f"/schemas/{schema['id']}/publish", {}).status_code == 201
    assert api.post(f"/schemas/{schema['id']}/activate").status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"format": "yaml", "content": {}}, 422, "format"),
        ({"format": "portable"}, 422, "content"),
        ({"format": "portable", "content": [1]}, 422, "content"),
        ({"format": "portable", "content": None}, 422, "content"),
        ({"format": "portable", "content": "\x00"}, 422, "content"),
        ({"format": "portable", "content": {"fields": []}, "name": ""}, 422, "name"),
        ({"format": "portable", "content": {}, "colour": 1}, 422, "colour"),
        ({"format": "portable", "content": {}}, 400, "content.fields"),
        ({"format": "portable", "content": {"fields": []}}, 400, "content"),
        ({"format": "portable", "content": "[]"}, 400, "content"),
        ({"format": "portable", "content": "{"}, 400, "content"),
        ({"format": "portable", "content": "[" * 100_000}, 400, "content"),
        ({"format": "portable", "content": '"\\u0000"'}, 400, "content"),
        ({"format": "json_schema", "content": "true"}, 400, "content"),
        ({"format": "json_schema", "content": {"$ref": "http://x.example/"}}, 400, "content.$ref"),
        ({"format": "label_studio", "content": {}}, 400, "content"),
        ({"format": "label_studio", "content": "<View/>"}, 400, "content"),
        ({"format": "label_studio", "content": "<html/>"}, 400, "content"),
        ({"format": "label_studio", "content": "no XML"}, 400, "content"),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_place(
    org: Org, body: dict[str, Any], status: int, field: str
) -> None:
    answer = _import(org, **body)
    assert answer.status_code == status, answer.json
    assert answer.json["error"]["field"] == field
    assert org.api("viewer").get("/schemas").json["meta"]["total"] == 0


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ([{"key": "a", "type": "text"}] * 2, "duplicate_field_name", "content.fields.1.key"),
        ([{"key": "a", "type": "colour"}], "invalid_field_type", "content.fields.0.type"),
        ([{"key": "a"}], "validation_error", "content.fields.0.type"),
    ],
)
def test_fields_against_a_rule_have_the_codes_of_creating(
    org: Org, fields: list[Any], code: str, field: str
) -> None:
    check_error(_import(org, format="portable", content={"fields": fields}), 400, code, field=field)


def test_a_file_of_which_nothing_is_left_says_why(org: Org) -> None:
    config = '<View><Video name="v" value="$v"/><Pairwise name="p" toName="a,b"/></View>'
    answer = _import(org, format="label_studio", content=config)
    assert answer.status_code == 400
    paths = [warning["path"] for warning in answer.json["error"]["details"]["warnings"]]
    assert paths == ["Video[v]", "Pairwise[p]"]


def test_a_file_of_five_megabytes_is_too_large(org: Org) -> None:
    answer = _import(org, format="label_studio", content="<View>" + " " * 5_000_000 + "</View>")
    check_error(answer, 413, "payload_too_large")


def test_a_deeply_nested_object_is_refused(org: Org) -> None:
    raw = '{"format": "json_schema", "content": ' + '{"a":' * 2000 + "1" + "}" * 2001
    headers = {"Content-Type": "application/json"}
    answer = org.api("admin").request("POST", "/schemas/import", data=raw, headers=headers)
    assert answer.status_code == 422


def test_only_admins_import(org: Org) -> None:
    answer = _import(org, "reviewer", format="json_schema", content=ORDER)
    check_error(answer, 403, "insufficient_role")


def test_a_repeated_request_makes_one_schema(org: Org) -> None:
    headers = {"Idempotency-Key": "import-1"}
    body = {"format": "json_schema", "content": ORDER}
    api = org.api("admin")
    first, second = (api.post("/schemas/import", body, headers=headers) for _ in range(2))
    assert first.json == second.json
    assert api.get("/schemas").json["meta"]["total"] == 1


def test_a_policy_of_whole_floats_breaks_nobodys_lists(org: Org) -> None:
    policy = {"labels_per_artifact": 2.0, "max_rejections": 2.0}
    content = {"fields": [{"key": "a", "type": "text"}], "review_policy": policy}
    schema = _imported(org, format="portable", content=content)
    assert org.api("admin").post(f"/schemas/{schema['id']}/publish", json={}).status_code == 201
    workspace = Workspace(org)
    workspace.submitted(workspace.artifact(workspace.schema()))
    # What is hidden from a labeler who did not make it is told by the policies of all versions.
    org.add_user("second", "labeler")
    assert len(get_data(org.api("second").get("/tag-sets"))) == 1


@pytest.mark.parametrize("blank", ["\u200b", "\u00ad\u3164"])
def test_names_and_skills_without_a_visible_character_are_left_out(org: Org, blank: str) -> None:
    content = {
        "fields": [{"key": "a", "type": "text"}],
        "name": blank,
        "document_type": blank,
        "required_skills": ["VAT", blank],
    }
    schema = _imported(org, format="portable", content=content)
    written = {name: schema[name] for name in ("name", "document_type", "required_skills")}
    assert written == {
        "name": "Imported schema",
        "document_type": "document",
        "required_skills": ["VAT"],
    }
    body = {**written, "revision": schema["revision"]}
    assert org.api("admin").patch(f"/schemas/{schema['id']}", body).status_code == 200
