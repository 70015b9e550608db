"""The versions of a schema: listed, and compared with one another."""

from typing import Any

import pytest

from app.kit.ids import uuid7
from app.schemas.artifact_schemas import queries
from tests.factories import Org
from tests.factories.orgs import Api, get_data

NUMBER: dict[str, Any] = {"key": "number", "type": "text"}
TOTAL: dict[str, Any] = {"key": "total", "type": "money", "required": True}
STEPS: list[list[dict[str, Any]]] = [[TOTAL], [TOTAL, NUMBER], [NUMBER]]


def _publish_steps(api: Api) -> tuple[str, list[str]]:
    """(schema id, version ids) of a schema published once for each of the steps."""
    schema = api.post("/schemas", {"name": "Invoices"}).json["data"]["id"]
    versions = []
    for fields in STEPS:
        revision = api.get(f"/schemas/{schema}").json["data"]["revision"]
        api.patch(f"/schemas/{schema}", {"fields": fields, "revision": revision})
        body = {"allow_breaking": True, "note": f"of {len(fields)}"}
        versions.append(get_data(api.post(f"/schemas/{schema}/publish", body), 201)["id"])
    return schema, versions


def test_versions_are_listed_newest_first(org: Org) -> None:
    api = org.api("admin")
    schema, versions = _publish_steps(api)
    _publish_steps(api)
    answer = org.api("viewer").get(f"/schemas/{schema}/versions")
    assert answer.status_code == 200
    assert answer.json["meta"]["total"] == 3
    listed = answer.json["data"]
    assert [one["id"] for one in listed] == versions[::-1]
    assert listed[0] == api.get(f"/schema-versions/{versions[2]}").json["data"]
    assert [one["breaking"] for one in listed] == [True, False, False]


def test_versions_come_in_pages(org: Org) -> None:
    api = org.api("admin")
    schema, versions = _publish_steps(api)
    path = f"/schemas/{schema}/versions?page_size=2"
    first = api.get(path).json
    assert [record["number"] for record in first["data"]] == [3, 2]
    last = api.get(f"{path}&cursor={first['meta']['next_cursor']}").json
    assert [record["id"] for record in last["data"]] == versions[:1]
    assert last["meta"]["next_cursor"] is None
    oldest = api.get(f"{path}&sort=number").json["data"]
    assert [one["number"] for one in oldest] == [1, 2]


def test_versions_are_filtered_by_their_time(org: Org) -> None:
    api = org.api("admin")
    schema, versions = _publish_steps(api)
    at = api.get(f"/schema-versions/{versions[1]}").json["data"]["created_at"]
    for query, numbers in (
        ({"created_after": at}, [3, 2]),
        ({"created_before": at}, [1]),
        ({"created_after": at, "created_before": at}, []),
    ):
        answer = api.get(f"/schemas/{schema}/versions", query_string=query).json
        assert [record["number"] for record in answer["data"]] == numbers
        assert answer["meta"]["total"] == len(numbers)


def test_fields_too_large_for_a_page_are_left_to_the_version(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = org.api("admin")
    schema, versions = _publish_steps(api)
    monkeypatch.setattr(queries, "MAX_PAGE_BYTES", 100)
    listed = api.get(f"/schemas/{schema}/versions?page_size=1").json["data"]
    assert (listed[0]["fields"], listed[0]["changes"], listed[0]["number"]) == (None, None, 3)
    assert api.get(f"/schema-versions/{versions[2]}").json["data"]["fields"] != []


def test_of_schemas_too_large_for_a_page_the_list_leaves_fields_and_guidelines_out(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = org.api("admin")
    schema, _ = _publish_steps(api)
    guidelines = {"guidelines": "Copy each number as it is printed. " * 3}
    revision = api.get(f"/schemas/{schema}").json["data"]["revision"]
    whole = api.patch(f"/schemas/{schema}", {**guidelines, "revision": revision}).json["data"]
    assert whole["fields"]
    assert whole["guidelines"]
    assert api.get("/schemas").json["data"] == [whole]
    monkeypatch.setattr(queries, "MAX_PAGE_BYTES", 100)
    left_out = {"fields": None, "guidelines": None}
    assert api.get("/schemas?page_size=1").json["data"] == [{**whole, **left_out}]


def test_no_versions_of_a_draft_and_none_of_nothing(org: Org) -> None:
    api = org.api("admin")
    schema = api.post("/schemas", {"name": "Invoices"}).json["data"]["id"]
    answer = api.get(f"/schemas/{schema}/versions").json
    assert (answer["data"], answer["meta"]["total"]) == ([], 0)
    assert api.get(f"/schemas/{uuid7()}/versions").status_code == 404


def _get_diff(api: Api, version: str, against: str | None = None) -> dict[str, Any]:
    query = f"?against={against}" if against else ""
    return dict(get_data(api.get(f"/schema-versions/{version}/diff{query}")))


def _summarize_changes(diff: dict[str, Any]) -> list[tuple[str, str, bool]]:
    return [(change["kind"], change["key"], change["breaking"]) for change in diff["changes"]]


def test_a_version_is_compared_with_the_one_before(org: Org) -> None:
    _, versions = _publish_steps(org.api("admin"))
    diff = _get_diff(org.api("viewer"), versions[2])
    assert diff["from"] == {"id": versions[1], "number": 2}
    assert diff["to"] == {"id": versions[2], "number": 3}
    assert _summarize_changes(diff) == [("removed", "total", True)]
    assert diff["breaking"] is True
    kept = org.api("viewer").get(f"/schema-versions/{versions[2]}").json["data"]
    assert diff["changes"] == kept["changes"]


def test_a_version_is_compared_with_any_other_either_way(org: Org) -> None:
    api = org.api("admin")
    _, versions = _publish_steps(api)
    there = _get_diff(api, versions[2], versions[0])
    assert _summarize_changes(there) == [("removed", "total", True), ("added", "number", False)]
    back = _get_diff(api, versions[0], versions[2])
    assert (back["from"]["number"], back["to"]["number"]) == (3, 1)
    assert _summarize_changes(back) == [("removed", "number", True), ("added", "total", True)]
    same = _get_diff(api, versions[1], versions[1])
    assert (same["changes"], same["breaking"]) == ([], False)


def test_a_first_version_added_everything_and_broke_nothing(org: Org) -> None:
    api = org.api("admin")
    _, versions = _publish_steps(api)
    diff = _get_diff(api, versions[0])
    assert (diff["from"], diff["breaking"]) == (None, False)
    assert _summarize_changes(diff) == [("added", "total", False)]
    assert diff["changes"][0]["to"]["type"] == "money"


def test_nothing_but_a_version_of_the_same_schema_can_be_compared_with(
    org: Org, other_org: Org
) -> None:
    api = org.api("admin")
    _, versions = _publish_steps(api)
    _, of_another = _publish_steps(api)
    _, foreign = _publish_steps(other_org.api("admin"))
    path = f"/schema-versions/{versions[0]}/diff?against="
    answers = [api.get(path + other) for other in (of_another[0], foreign[0], str(uuid7()))]
    assert [answer.status_code for answer in answers] == [400] * 3
    assert answers[0].json["error"]["field"] == "against"
    assert len({answer.data for answer in answers}) == 1
    assert api.get(path + "x").status_code == 422
    assert api.get(f"/schema-versions/{foreign[0]}/diff").status_code == 404
