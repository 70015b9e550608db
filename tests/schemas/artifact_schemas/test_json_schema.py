"""The JSON Schema of a version's labels, over HTTP, beside the saves that it speaks of."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace, tag

PLACE = {"page": 1, "box": None, "start": 3, "end": 7, "text": "ABCD"}
GOOD: list[list[dict[str, Any]]] = [
    [],
    [tag("number", "A-1"), tag("total", {"amount": "12.50", "currency": "EUR"})],
    [tag("note", "a"), tag("note", "b"), tag("pages", 3), tag("lines.item", "x", row=2)],
    [tag("clause", "ABCD", evidence=[PLACE], confidence=0.5, source="model")],
]
BAD: list[list[dict[str, Any]]] = [
    [tag("number", "A-1"), tag("number", "A-2")],
    [tag("pages", "three")],
    [tag("total", {"amount": "12.50"})],
    [tag("lines.item", "x")],
    [tag("clause", "ABCD")],
    [tag("nothing", "x")],
    [tag("note", "x", more=1)],
]


@pytest.fixture
def workspace(org: Org) -> Workspace:
    return Workspace(org)


def _get_json_schema(workspace: Workspace, schema: Any) -> dict[str, Any]:
    api = workspace.org.api("viewer")
    version = api.get(f"/schemas/{schema}").json["data"]["current_version"]
    described = dict(get_data(api.get(f"/schema-versions/{version['id']}/json-schema")))
    assert described["$id"] == f"urn:uuid:{version['id']}"
    return described


def test_it_is_a_json_schema_as_it_is(workspace: Workspace) -> None:
    described = _get_json_schema(workspace, workspace.schema())
    Draft202012Validator.check_schema(described)
    assert described["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert described["title"] == "Invoices, version 1: tags"
    assert described["$defs"]["number"]["x-required"] is True


@pytest.mark.parametrize("tags", GOOD)
def test_what_fits_it_is_saved_and_fits_it_as_kept(workspace: Workspace, tags: list[Any]) -> None:
    schema = workspace.schema()
    judge = Draft202012Validator(_get_json_schema(workspace, schema))
    assert judge.is_valid(tags)
    text = "xx ABCD" + "x" * 993
    saved = workspace.save(workspace.draft(workspace.artifact(schema, text=text)), tags)
    assert saved.status_code == 200, saved.json
    kept = (
        workspace.org.api("labeler")
        .get(f"/tag-sets/{saved.json['data']['id']}")
        .json["data"]["tags"]
    )
    assert len(kept) == len(tags)
    assert judge.is_valid(kept)


@pytest.mark.parametrize("tags", BAD)
def test_what_is_refused_does_not_fit_it(workspace: Workspace, tags: list[Any]) -> None:
    schema = workspace.schema()
    assert not Draft202012Validator(_get_json_schema(workspace, schema)).is_valid(tags)
    assert workspace.save(workspace.draft(workspace.artifact(schema)), tags).status_code in (
        400,
        422,
    )


def test_there_is_none_of_no_version(org: Org) -> None:
    assert org.api("viewer").get(f"/schema-versions/{uuid7()}/json-schema").status_code == 404
