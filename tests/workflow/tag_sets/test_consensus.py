"""A document's label sets side by side."""

from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace, rows, tag
from tests.workflow.actions import accept, reject
from tests.workflow.tag_sets.merges import merge, submit_all

A, B = tag("number", "A"), tag("number", "B")


def _consensus(workspace: Workspace, artifact_id: str, *, by: str = "reviewer") -> Any:
    return workspace.org.api(by).get(f"/artifacts/{artifact_id}/consensus")


def test_values_stand_beside_each_other(workspace: Workspace) -> None:
    item = tag("lines.item", "rope", row=0)
    sets = submit_all(workspace, [A, item], [A, tag("note", "x")], [B, item])
    data = get_data(_consensus(workspace, sets[0]["artifact_id"]))
    ids = [tag_set["id"] for tag_set in sets]
    assert [one["tag_set_id"] for one in data["sets"]] == ids
    assert [one["labeler"]["id"] for one in data["sets"]] == [
        str(workspace.org.users[name]) for name in ("labeler", "second", "third")
    ]
    assert {(one["status"], one["counted"]) for one in data["sets"]} == {("submitted", True)}
    assert (data["artifact_id"], data["labels_per_artifact"]) == (sets[0]["artifact_id"], 3)
    number, note, cell = data["fields"]
    assert number == {
        "field": "number",
        "row": None,
        "rows": [],
        "values": [
            {"value": "A", "evidence": [], "tag_set_ids": ids[:2]},
            {"value": "B", "evidence": [], "tag_set_ids": ids[2:]},
        ],
        "majority": ["A"],
        "tie": False,
        "agreement": pytest.approx(1 / 3),
    }
    assert (note["majority"], note["agreement"]) == ([], pytest.approx(1 / 3))
    assert (cell["field"], cell["row"], cell["majority"]) == ("lines.item", 0, ["rope"])
    # Pairs share 1, 1 and 0 of their values, twice counted, out of 4 each.
    assert data["agreement"] == pytest.approx((2 / 4 + 2 / 4 + 0) / 3)


def test_a_row_that_one_put_in_is_all_that_differs(workspace: Workspace) -> None:
    plain, longer = [A, *rows("rope", "sail")], [A, *rows("new", "rope", "sail")]
    sets = submit_all(workspace, plain, plain, longer)
    consensus = _consensus(workspace, sets[0]["artifact_id"]).json["data"]
    ids = [tag_set["id"] for tag_set in sets]
    _, new, rope, sail = consensus["fields"]
    assert (new["row"], new["majority"], new["rows"]) == (0, [], [{"tag_set_id": ids[2], "row": 0}])
    assert [v["tag_set_ids"] for v in rope["values"]] == [v["tag_set_ids"] for v in sail["values"]]
    assert rope["rows"] == [
        {"tag_set_id": one, "row": row} for one, row in zip(ids, (0, 0, 1), strict=True)
    ]
    assert (rope["row"], rope["majority"], rope["agreement"]) == (1, ["rope"], 1.0)
    # Of 3 and 3 tags all are alike, of 3 and 4 three, twice.
    assert consensus["agreement"] == pytest.approx((1 + 6 / 7 + 6 / 7) / 3)


def test_drafts_are_left_out_and_one_has_nobody_to_agree_with(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    empty = _consensus(workspace, str(artifact_id)).json["data"]
    assert (empty["sets"], empty["fields"], empty["agreement"]) == ([], [], None)
    sent = workspace.submitted(artifact_id)
    workspace.saved(artifact_id, by="second")
    consensus = _consensus(workspace, str(artifact_id)).json["data"]
    assert [one["tag_set_id"] for one in consensus["sets"]] == [sent["id"]]
    assert consensus["agreement"] is None
    assert consensus["fields"][0]["agreement"] is None


def test_rejected_ones_and_merges_are_listed_and_not_counted(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [A], [B])
    reject(workspace, sets[2], send_to="pool")
    consensus = _consensus(workspace, sets[0]["artifact_id"]).json["data"]
    assert [one["counted"] for one in consensus["sets"]] == [True, True, False]
    assert consensus["agreement"] == 1.0
    merged = merge(workspace, sets, accept=True).json["data"]
    after = _consensus(workspace, sets[0]["artifact_id"]).json["data"]
    assert [one["counted"] for one in after["sets"]] == [True, True, False, False]
    assert after["sets"][0]["superseded_by"] == merged["id"]
    assert after["agreement"] == 1.0


def test_of_a_gold_document_each_is_compared_with_the_accepted_one(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A, tag("note", "x")], [A], [B])
    accept(workspace, sets[0])
    artifact_id = sets[0]["artifact_id"]
    plain = _consensus(workspace, artifact_id).json["data"]
    assert {one["gold_agreement"] for one in plain["sets"]} == {None}
    workspace.sql("UPDATE artifacts SET gold = true WHERE id = :id", id=artifact_id)
    consensus = _consensus(workspace, artifact_id).json["data"]
    shares = [one["gold_agreement"] for one in consensus["sets"]]
    assert shares == [None, pytest.approx(2 / 3), 0.0]


def test_it_is_for_reviewers_of_the_organization(workspace: Workspace, other_org: Org) -> None:
    artifact_id = str(workspace.artifact())
    refused = _consensus(workspace, artifact_id, by="labeler")
    assert refused.json["error"]["code"] == "insufficient_role"
    absent = other_org.api("owner").get(f"/artifacts/{uuid7()}/consensus")
    foreign = other_org.api("owner").get(f"/artifacts/{artifact_id}/consensus")
    assert (foreign.status_code, foreign.data) == (404, absent.data)
