"""Several tag sets merged into one."""

from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_conflict, check_invalid_field
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace, counts, rows, tag
from tests.workflow.actions import accept, get_tag_set, reject, reopen, start_draft
from tests.workflow.tag_sets.merges import merge, submit_all

A, B = tag("number", "A"), tag("number", "B")


def test_the_values_of_the_majority_are_merged_with_their_provenance(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A, tag("note", "x")], [B, tag("note", "x")], [A, tag("pages", 3)])
    merged = get_data(merge(workspace, sets), 201)
    assert (merged["source"], merged["status"], merged["labeler"]) == ("merge", "submitted", None)
    ids = [tag_set["id"] for tag_set in sets]
    assert merged["merged_from"] == ids
    assert [(t["field"], t["value"]) for t in merged["tags"]] == [("number", "A"), ("note", "x")]
    assert merged["provenance"] == [
        {"field": "number", "row": None, "value": "A", "tag_set_ids": [ids[0], ids[2]],
         "revisions": [3, 3], "by": "majority"},
        {"field": "note", "row": None, "value": "x", "tag_set_ids": ids[:2], "revisions": [3, 3],
         "by": "majority"},
    ]  # fmt: skip
    assert [(r.kind, r.author_id) for r in workspace.revisions(merged["id"])] == [
        ("merge", workspace.org.users["reviewer"])
    ]
    row = workspace.artifact_row(merged["artifact_id"])
    assert (row.status, row.label_counts) == ("in_review", counts(submitted=4))
    assert len(workspace.events("tag_set.merged")) == 1
    assert workspace.events("tag_set.accepted") == []
    assert get_tag_set(workspace, merged) == merged


def test_ties_are_listed_and_chosen(workspace: Workspace) -> None:
    cell = tag("lines.item", "rope", row=0)
    sets = submit_all(workspace, [A, cell], [B])
    error = check_invalid_field(merge(workspace, sets), "choices")
    number, item = error["details"]["undecided"]
    assert (number["field"], number["row"], number["tie"]) == ("number", None, True)
    values = {(v["value"], *v["tag_set_ids"]) for v in number["values"]}
    assert values == {("A", sets[0]["id"]), ("B", sets[1]["id"])}
    assert (item["field"], item["row"]) == ("lines.item", 0)
    choices = [
        {"field": "number", "tag_set_id": sets[1]["id"]},
        {"field": "lines.item", "row": 0, "tag_set_id": sets[1]["id"]},
    ]
    merged = merge(workspace, sets, choices=choices).json["data"]
    assert [(t["field"], t["value"]) for t in merged["tags"]] == [("number", "B")]
    assert merged["provenance"][0]["by"] == "choice"
    assert merged["provenance"][0]["tag_set_ids"] == [sets[1]["id"]]


def test_the_strategy_choose_takes_only_values_that_all_agree_on(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [A], [B])
    refused = merge(workspace, sets, strategy="choose")
    assert [u["field"] for u in refused.json["error"]["details"]["undecided"]] == ["number"]
    choices = [{"field": "number", "tag_set_id": sets[2]["id"]}]
    merged = merge(workspace, sets, strategy="choose", choices=choices).json["data"]
    assert merged["tags"][0]["value"] == "B"


def test_what_the_reviewer_writes_goes_before_all_else(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [B])
    merged = merge(workspace, sets, tags=[tag("number", " C "), tag("note", "mine")]).json["data"]
    assert [t["value"] for t in merged["tags"]] == ["C", "mine"]
    assert {(p["by"], *p["tag_set_ids"]) for p in merged["provenance"]} == {("reviewer",)}


def test_an_accepted_merge_completes_its_document(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [A])
    assert accept(workspace, sets[0]).status_code == 200
    merged = merge(workspace, sets, accept=True, note="Agreed").json["data"]
    assert (merged["status"], merged["reason"]) == ("accepted", "Agreed")
    assert merged["reviewer"]["id"] == str(workspace.org.users["reviewer"])
    assert merged["provenance"][0]["by"] == "agreement"
    accepted_ids = [event["tag_set_id"] for event in workspace.events("tag_set.accepted")]
    assert accepted_ids == [sets[0]["id"], merged["id"]]
    row = workspace.artifact_row(merged["artifact_id"])
    assert (row.status, row.label_counts) == ("done", counts(accepted=2, rejected=1))
    first, second = (get_tag_set(workspace, tag_set) for tag_set in sets)
    assert (first["status"], first["superseded_by"]) == ("accepted", None)
    assert (second["status"], second["superseded_by"]) == ("rejected", merged["id"])
    assert (second["rejections"], second["tags"]) == (0, sets[1]["tags"])
    assert workspace.revisions(second["id"])[-1].kind == "supersede"
    assert workspace.events("tag_set.rejected") == []
    assert workspace.org.api("reviewer").get("/review-queue").json["data"] == []
    workspace.org.add_user("fourth", "labeler")
    assert start_draft(workspace, merged["artifact_id"], by="fourth").status_code == 409


def test_a_merge_waits_and_is_accepted_like_others(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [A])
    merged = merge(workspace, sets).json["data"]
    queued = workspace.org.api("reviewer").get("/review-queue").json["data"]
    assert {item["id"] for item in queued} == {tag_set["id"] for tag_set in (merged, *sets)}
    answer = accept(workspace, merged, by="admin")
    assert answer.json["data"]["status"] == "accepted"
    assert {get_tag_set(workspace, source)["superseded_by"] for source in sets} == {merged["id"]}
    check_conflict(accept(workspace, sets[0], by="admin"), state="rejected")


def test_nothing_is_accepted_beside_an_accepted_merge(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [A], [B])
    merged = merge(workspace, sets[:2], accept=True).json["data"]
    answer = accept(workspace, sets[2])
    assert answer.status_code == 409
    assert answer.json["error"]["details"]["accepted"] == [merged["id"]]
    check_conflict(merge(workspace, sets[1:]), tag_set_id=merged["id"])


def test_bulk_leaves_merges_to_be_accepted_one_by_one(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [A], [B])
    merged = merge(workspace, sets[:2]).json["data"]
    api, path = workspace.org.api("reviewer"), "/review-queue/bulk-accept"
    answer = api.post(path, json={"tag_set_ids": [merged["id"]]})
    assert answer.json["data"]["outcomes"][0]["code"] == "conflict"
    accept(workspace, merged)
    answer = api.post(path, json={"tag_set_ids": [sets[2]["id"]]})
    assert answer.json["data"]["outcomes"][0]["code"] == "conflict"


def test_reopened_sources_come_back_once_their_merge_is_gone(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [A])
    merged = merge(workspace, sets, accept=True).json["data"]
    check_conflict(reopen(workspace, sets[0]), accepted=[merged["id"]])
    assert reopen(workspace, merged).status_code == 200
    row = workspace.artifact_row(merged["artifact_id"])
    assert (row.status, row.label_counts) == ("in_review", counts(submitted=1, rejected=2))
    assert reject(workspace, merged).json["error"]["field"] == "send_to"
    assert reject(workspace, merged, send_to="pool").status_code == 200
    reopened = reopen(workspace, sets[0]).json["data"]
    assert (reopened["status"], reopened["superseded_by"]) == ("submitted", None)


def test_nobody_merges_or_accepts_a_merge_of_their_own(workspace: Workspace) -> None:
    workspace.org.add_user("other", "reviewer")
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    sets = [workspace.submitted(artifact_id, by=name) for name in ("labeler", "reviewer")]
    assert merge(workspace, sets).json["error"]["code"] == "permission_denied"
    merged = merge(workspace, sets, by="other").json["data"]
    assert accept(workspace, merged).status_code == 403
    assert accept(workspace, merged, by="other").status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"choices": [{"field": "nope", "tag_set_id": "first"}]}, "choices.0.field"),
        ({"choices": [{"field": "number", "row": 1, "tag_set_id": "first"}]}, "choices.0.field"),
        ({"choices": [{"field": "number", "tag_set_id": "unknown"}]}, "choices.0.tag_set_id"),
        ({"choices": [{"field": "number", "tag_set_id": "first"}] * 2}, "choices.1.field"),
        (
            {"choices": [{"field": "number", "tag_set_id": "first"}], "tags": [A]},
            "choices.0.field",
        ),
        ({"tags": [tag("pages", "many")]}, "tags.0.value"),
        ({"tags": [tag("nope", 1)]}, "tags.0.field"),
    ],
)
def test_what_is_decided_must_mean_something(
    workspace: Workspace, body: dict[str, Any], field: str
) -> None:
    sets = submit_all(workspace, [A], [B])
    names = {"first": sets[0]["id"], "unknown": str(uuid7())}
    choices = [{**c, "tag_set_id": names[c["tag_set_id"]]} for c in body.get("choices", ())]
    check_invalid_field(merge(workspace, sets, **{**body, "choices": choices}), field)
    assert workspace.events("tag_set.merged") == []


def test_required_fields_must_come_out_filled(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A], [B])
    workspace.sql("UPDATE tag_sets SET tags = '[]' WHERE id = :id", id=sets[1]["id"])
    choices = [{"field": "number", "tag_set_id": sets[1]["id"]}]
    answer = merge(workspace, sets, choices=choices)
    assert answer.json["error"]["code"] == "required_fields_missing"


def test_they_are_label_sets_of_one_document_handed_in(
    workspace: Workspace, other_org: Org
) -> None:
    first, second = submit_all(workspace, [A], [A])
    elsewhere, foreign = workspace.submitted(), Workspace(other_org).submitted()
    refused = [
        merge(workspace, [first, other]) for other in (elsewhere, foreign, {"id": str(uuid7())})
    ]
    assert {r.data for r in refused} == {refused[0].data}
    assert refused[0].status_code == 400
    assert refused[0].json["error"]["field"] == "tag_set_ids.1"
    assert merge(workspace, [first, first]).json["error"]["field"] == "tag_set_ids.1"
    for ids in ([first], [first] * 21, []):
        assert merge(workspace, ids).status_code == 422
    merged = merge(workspace, [first, second]).json["data"]
    reject(workspace, merged, by="admin", send_to="pool")
    assert merge(workspace, [first, merged]).json["error"]["field"] == "tag_set_ids.1"


def test_a_draft_is_not_merged(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    sent, draft = workspace.submitted(artifact_id), workspace.saved(artifact_id, by="second")
    check_conflict(merge(workspace, [sent, draft]), state="draft", tag_set_id=draft["id"])


def test_lists_show_a_merge_as_reading_it_does(workspace: Workspace) -> None:
    merged = merge(workspace, submit_all(workspace, [A], [A])).json["data"]
    (listed,) = workspace.org.api("reviewer").get("/tag-sets?source=merge").json["data"]
    assert listed == merged


def test_most_say_row_by_row_whatever_its_number(workspace: Workspace) -> None:
    plain = [A, *rows("rope", "sail")]
    sets = submit_all(workspace, plain, [A, *rows("new", "rope", "mast")], plain)
    merged = merge(workspace, sets).json["data"]
    values = [(one["row"], one["value"]) for one in merged["tags"]]
    # What one of three put in at the top is gone, and leaves no gap.
    assert values == [(None, "A"), (0, "rope"), (1, "sail")]
    assert [(one["row"], one["by"]) for one in merged["provenance"]] == [
        (None, "agreement"),
        (0, "agreement"),
        (1, "majority"),
    ]


def test_rows_are_chosen_by_the_number_that_undecided_gives(workspace: Workspace) -> None:
    sets = submit_all(workspace, [A, *rows("rope", "sail")], [A, *rows("new", "rope", "mast")])
    error = merge(workspace, sets).json["error"]
    listed = error["details"]["undecided"]
    assert [(one["row"], [v["value"] for v in one["values"]]) for one in listed] == [
        (0, ["new"]),
        (2, ["mast", "sail"]),
    ]
    assert listed[1]["rows"] == [
        {"tag_set_id": sets[0]["id"], "row": 1},
        {"tag_set_id": sets[1]["id"], "row": 2},
    ]
    choice = {"field": "lines.item", "row": 0, "tag_set_id": sets[1]["id"]}
    own = [tag("lines.item", "boom", row=2), tag("lines.item", "oar", row=9)]
    merged = merge(workspace, sets, choices=[choice], tags=own).json["data"]
    assert sorted((one["row"], one["value"]) for one in merged["tags"][1:]) == [
        (0, "new"), (1, "rope"), (2, "boom"), (9, "oar"),
    ]  # fmt: skip
