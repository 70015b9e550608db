"""A document is given another schema after its label sets were rejected."""

from typing import Any

import pytest

from tests.factories.labels import make_field
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import reject, reopen, submit_tags
from tests.workflow.tag_sets.merges import merge, submit_all

A = tag("number", "A")
# What is one text there is several spans here.
OTHER = [make_field("number", "text", required=True), make_field("note", "span")]


@pytest.fixture
def rejected(workspace: Workspace) -> list[dict[str, Any]]:
    """Two of the schema before, of its third version; the document has another schema now."""
    sets = submit_all(workspace, [A, tag("note", "x")], [A])
    for tag_set in sets:
        reject(workspace, tag_set, send_to="pool")
    workspace.sql(
        "UPDATE schema_versions SET number = 3 WHERE id = :id", id=sets[0]["schema_version_id"]
    )
    other = workspace.schema(fields=OTHER, labels_per_artifact=3)
    path = f"/artifacts/{sets[0]['artifact_id']}"
    answer = workspace.org.api("admin").patch(path, json={"schema_id": str(other)})
    assert answer.status_code == 200, answer.json
    workspace.org.add_user("third", "labeler")
    return sets


def test_whoever_labeled_by_the_one_before_is_blind_again(
    workspace: Workspace, rejected: list[dict[str, Any]]
) -> None:
    artifact_id = rejected[0]["artifact_id"]
    theirs = workspace.submitted(artifact_id, by="third")
    api = workspace.org.api("labeler")
    assert api.get(f"/tag-sets/{theirs['id']}").status_code == 404
    listed = api.get(f"/tag-sets?artifact_id={artifact_id}").json["data"]
    # What is over they may go on reading.
    assert {one["id"] for one in listed} == {one["id"] for one in rejected}
    told = api.get(f"/artifacts/{artifact_id}/history").get_data(as_text=True)
    assert theirs["id"] not in told
    assert str(workspace.org.users["third"]) not in told
    workspace.submitted(artifact_id)
    assert api.get(f"/tag-sets/{theirs['id']}").status_code == 200


def test_the_consensus_is_by_the_schema_of_now(
    workspace: Workspace, rejected: list[dict[str, Any]]
) -> None:
    artifact_id = rejected[0]["artifact_id"]
    spans = [tag("note", "0-9", evidence=[{"start": 0, "end": 9}]),
             tag("note", "20-29", evidence=[{"start": 20, "end": 29}])]  # fmt: skip
    for name in ("third", "labeler"):
        submit_tags(workspace, artifact_id, [A, *spans], by=name)
    workspace.sql("UPDATE tag_sets SET superseded_by = id WHERE id = :id", id=rejected[0]["id"])
    path = f"/artifacts/{artifact_id}/consensus"
    consensus = workspace.org.api("reviewer").get(path).json["data"]
    assert consensus["labels_per_artifact"] == 3
    assert [one["counted"] for one in consensus["sets"]] == [False, False, True, True]
    assert consensus["agreement"] == 1.0
    assert [sorted(field["majority"]) for field in consensus["fields"]] == [["A"], ["0-9", "20-29"]]


def test_what_is_of_the_one_before_does_not_come_back(
    workspace: Workspace, rejected: list[dict[str, Any]]
) -> None:
    answer = reopen(workspace, rejected[0])
    assert answer.status_code == 409
    now = workspace.org.api("viewer").get(f"/artifacts/{rejected[0]['artifact_id']}").json["data"]
    assert answer.json["error"]["details"] == {"schema_id": now["schema_id"]}
    refused = merge(workspace, rejected)
    assert (refused.status_code, refused.json["error"]["field"]) == (400, "tag_set_ids")
