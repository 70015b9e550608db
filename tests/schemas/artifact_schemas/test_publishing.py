"""Publishing versions, what breaks, and opening a schema for labeling."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from app.kit import tenancy
from app.kit.errors import ApiError
from app.kit.ids import uuid7
from app.schemas.artifact_schemas.models import CurrentVersion
from app.schemas.artifact_schemas.service import versions
from tests.factories import Org
from tests.factories.errors import check_conflict, check_error, check_invalid_field, check_stale
from tests.factories.orgs import Api, get_data

FIELDS: list[dict[str, Any]] = [
    {"key": "number", "type": "text"},
    {"key": "kind", "type": "choice", "options": [{"value": "a"}, {"value": "b"}]},
]


def _create(api: Api, fields: list[dict[str, Any]] | None = None) -> str:
    body = {"name": "Invoices", "fields": FIELDS if fields is None else fields}
    answer = api.post("/schemas", body)
    assert answer.status_code == 201, answer.json
    return f"/schemas/{answer.json['data']['id']}"


def _edit(api: Api, path: str, fields: list[dict[str, Any]]) -> None:
    revision = api.get(path).json["data"]["revision"]
    assert api.patch(path, {"fields": fields, "revision": revision}).status_code == 200


def test_the_first_publication_freezes_the_draft(org: Org) -> None:
    api = org.api("admin")
    path = _create(api)
    version = get_data(api.post(f"{path}/publish", {"base_version": 0, "note": "first"}), 201)
    assert version["number"] == 1
    assert version["note"] == "first"
    assert version["published_by"] == str(org.users["admin"])
    assert (version["changes"], version["breaking"], version["dry_run"]) == ([], False, False)
    schema = api.get(path).json["data"]
    assert schema["status"] == "draft"
    assert schema["current_version"] == {
        "id": version["id"],
        "number": 1,
        "published_at": version["published_at"],
    }
    read = org.api("viewer").get(f"/schema-versions/{version['id']}").json["data"]
    assert {**read, "dry_run": False} == version
    assert read["fields"] == schema["fields"]


def test_a_version_stays_as_it_was_published(org: Org) -> None:
    api = org.api("admin")
    path = _create(api)
    first = api.post(f"{path}/publish", {}).json["data"]
    _edit(api, path, [*FIELDS, {"key": "total", "type": "money"}])
    second = api.post(f"{path}/publish", {"base_version": 1}).json["data"]
    assert second["number"] == 2
    assert [(c["kind"], c["key"], c["breaking"]) for c in second["changes"]] == [
        ("added", "total", False)
    ]
    assert second["changes"][0]["from"] is None
    assert second["changes"][0]["to"]["type"] == "money"
    assert len(api.get(f"/schema-versions/{first['id']}").json["data"]["fields"]) == 2


def test_a_version_needs_fields(org: Org) -> None:
    api = org.api("admin")
    check_invalid_field(api.post(f"{_create(api, [])}/publish", {}), "fields")


@pytest.mark.parametrize(
    ("fields", "key", "what"),
    [
        (FIELDS[:1], "kind", "field"),
        ([{"key": "number", "type": "integer"}, FIELDS[1]], "number", "type"),
        ([{"key": "number", "type": "text", "required": True}, FIELDS[1]], "number", "required"),
        ([*FIELDS, {"key": "new", "type": "text", "required": True}], "new", "field"),
        ([FIELDS[0], {**FIELDS[1], "options": [{"value": "a"}]}], "kind", "options"),
    ],
)
def test_a_breaking_change_needs_the_callers_word(
    org: Org, fields: list[dict[str, Any]], key: str, what: str
) -> None:
    api = org.api("admin")
    path = _create(api)
    api.post(f"{path}/publish", {})
    _edit(api, path, fields)
    error = check_error(api.post(f"{path}/publish", {}), 400, "schema_breaking_change")
    changes = error["details"]["changes"]
    assert [(c["key"], c["what"], c["breaking"]) for c in changes] == [(key, what, True)]
    assert api.get(path).json["data"]["current_version"]["number"] == 1
    published = api.post(f"{path}/publish", {"allow_breaking": True}).json["data"]
    assert (published["number"], published["breaking"]) == (2, True)


def test_a_dry_run_tells_what_would_break_and_writes_nothing(org: Org) -> None:
    api = org.api("admin")
    path = _create(api)
    api.post(f"{path}/publish", {})
    _edit(api, path, FIELDS[:1])
    before = api.get(path).json["data"]
    told = get_data(api.post(f"{path}/publish", {"dry_run": True}), 201)
    assert (told["id"], told["number"], told["dry_run"], told["breaking"]) == (None, 2, True, True)
    assert [c["key"] for c in told["changes"]] == ["kind"]
    assert api.get(path).json["data"] == before


def test_publishing_over_another_version_is_a_conflict(org: Org) -> None:
    api = org.api("admin")
    path = _create(api)
    api.post(f"{path}/publish", {"base_version": 0})
    answer = api.post(f"{path}/publish", {"base_version": 0})
    check_error(answer, 409, "schema_version_conflict", details={"current_version": 1})
    stale = api.post(f"{path}/publish", {"base_version": 1, "revision": 1})
    assert stale.json["error"]["code"] == "stale_precondition"


def test_of_two_publications_at_once_exactly_one_wins(org: Org) -> None:
    path = _create(org.api("admin"))
    apis = [org.api("admin") for _ in range(4)]

    def publish(api: Api) -> tuple[int, str]:
        answer = api.post(f"{path}/publish", {"base_version": 0})
        return answer.status_code, answer.json.get("error", {}).get("code", "")

    with ThreadPoolExecutor(4) as threads:
        outcomes = sorted(threads.map(publish, apis))
    assert outcomes == [(201, "")] + [(409, "schema_version_conflict")] * 3


def test_a_schema_goes_from_draft_to_active_and_back_and_forth(org: Org) -> None:
    api = org.api("admin")
    path = _create(api)
    for action in ("activate", "deactivate"):
        check_conflict(api.post(f"{path}/{action}"), state="draft")
    api.post(f"{path}/publish", {})
    for action, status in (
        ("activate", "active"),
        ("activate", "active"),
        ("deactivate", "inactive"),
        ("activate", "active"),
    ):
        answer = api.post(f"{path}/{action}")
        assert (answer.status_code, answer.json["data"]["status"]) == (200, status)
    assert api.get("/schemas?status=active").json["meta"]["total"] == 1


@pytest.mark.parametrize("action", ["activate", "deactivate", "ai-assist/enable"])
def test_a_revision_is_checked_when_it_is_sent(org: Org, action: str) -> None:
    api = org.api("admin")
    path = _create(api)
    api.post(f"{path}/publish", {})
    read = api.post(f"{path}/activate").json["data"]
    _edit(api, path, FIELDS[:1])
    now = api.get(path).json["data"]
    stale = read["revision"]
    for sent in ({"json": {"revision": stale}}, {"headers": {"If-Match": f'"{stale}"'}}):
        check_stale(api.post(f"{path}/{action}", **sent), now["revision"])
    assert api.get(path).json["data"] == now
    assert api.post(f"{path}/{action}", {"revision": now["revision"]}).status_code == 200


def test_another_organizations_version_is_not_there(org: Org, other_org: Org) -> None:
    api = other_org.api("admin")
    version = api.post(f"{_create(api)}/publish", {}).json["data"]
    absent = org.api("admin").get(f"/schema-versions/{uuid7()}")
    assert absent.status_code == 404
    assert org.api("admin").get(f"/schema-versions/{version['id']}").data == absent.data


def test_labeling_gets_the_version_of_an_active_schema_only(org: Org) -> None:
    api = org.api("admin")
    path = _create(api)
    schema_id = UUID(path.rpartition("/")[2])
    version = api.post(f"{path}/publish", {}).json["data"]

    def active() -> CurrentVersion:
        with org.app.app_context(), tenancy.organization(org.id):
            return versions.get_active_version(schema_id)

    with pytest.raises(ApiError) as refused:
        active()
    assert refused.value.details == {"state": "draft"}
    api.post(f"{path}/activate")
    found = active()
    assert (str(found.id), found.number, found.schema_id) == (version["id"], 1, schema_id)
    assert found.review_policy == version["review_policy"]
    with org.app.app_context(), tenancy.organization(org.id), pytest.raises(ApiError):
        versions.get_active_version(uuid7())
