"""Several label sets made into one."""

from typing import Any
from uuid import UUID

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.workspace import Workspace, counts, rows, tag

PEOPLE = ("labeler", "second", "third")


def _sets(
    workspace: Workspace, *tags: list[Any], artifact_id: UUID | None = None
) -> list[dict[str, Any]]:
    """Submitted label sets of one document by different people, with these tags."""
    artifact_id = artifact_id or workspace.artifact(workspace.schema(labels_per_artifact=len(tags)))
    made = []
    for name, given in zip(PEOPLE, tags, strict=False):
        if name not in workspace.org.users:
            workspace.org.add_user(name, "labeler")
        draft = workspace.save(workspace.draft(artifact_id, by=name), given, by=name).json["data"]
        answer = workspace.org.api(name).post(f"/tag-sets/{draft['id']}/submit")
        assert answer.status_code == 200, answer.json
        made.append(dict(answer.json["data"]))
    return made


def _merge(
    workspace: Workspace, sets: list[dict[str, Any]], *, by: str = "reviewer", **body: Any
) -> Any:
    body = {"tag_set_ids": [one["id"] for one in sets], **body}
    return workspace.org.api(by).post("/tag-sets/merge", json=body)


def _status(workspace: Workspace, tag_set: dict[str, Any]) -> dict[str, Any]:
    return dict(workspace.org.api("reviewer").get(f"/tag-sets/{tag_set['id']}").json["data"])


A, B = tag("number", "A"), tag("number", "B")


def test_what_most_say_stands_and_says_where_it_came_from(workspace: Workspace) -> None:
    sets = _sets(workspace, [A, tag("note", "x")], [B, tag("note", "x")], [A, tag("pages", 3)])
    answer = _merge(workspace, sets)
    assert answer.status_code == 201, answer.json
    made = answer.json["data"]
    assert (made["source"], made["status"], made["labeler"]) == ("merge", "submitted", None)
    ids = [one["id"] for one in sets]
    assert made["merged_from"] == ids
    assert [(t["field"], t["value"]) for t in made["tags"]] == [("number", "A"), ("note", "x")]
    assert made["provenance"] == [
        {"field": "number", "row": None, "value": "A", "tag_set_ids": [ids[0], ids[2]],
         "revisions": [3, 3], "by": "majority"},
        {"field": "note", "row": None, "value": "x", "tag_set_ids": ids[:2], "revisions": [3, 3],
         "by": "majority"},
    ]  # fmt: skip
    assert [(r.kind, r.author_id) for r in workspace.revisions(made["id"])] == [
        ("merge", workspace.org.users["reviewer"])
    ]
    row = workspace.artifact_row(made["artifact_id"])
    assert (row.status, row.label_counts) == ("in_review", counts(submitted=4))
    assert len(workspace.events("tag_set.merged")) == 1
    assert workspace.events("tag_set.accepted") == []
    assert _status(workspace, made) == made


def test_ties_are_listed_and_chosen(workspace: Workspace) -> None:
    cell = tag("lines.item", "rope", row=0)
    sets = _sets(workspace, [A, cell], [B])
    refused = _merge(workspace, sets)
    assert refused.status_code == 400
    error = refused.json["error"]
    assert (error["code"], error["field"]) == ("validation_error", "choices")
    number, item = error["details"]["undecided"]
    assert (number["field"], number["row"], number["tie"]) == ("number", None, True)
    values = {(v["value"], *v["tag_set_ids"]) for v in number["values"]}
    assert values == {("A", sets[0]["id"]), ("B", sets[1]["id"])}
    assert (item["field"], item["row"]) == ("lines.item", 0)
    choices = [
        {"field": "number", "tag_set_id": sets[1]["id"]},
        {"field": "lines.item", "row": 0, "tag_set_id": sets[1]["id"]},
    ]
    made = _merge(workspace, sets, choices=choices).json["data"]
    assert [(t["field"], t["value"]) for t in made["tags"]] == [("number", "B")]
    assert made["provenance"][0]["by"] == "choice"
    assert made["provenance"][0]["tag_set_ids"] == [sets[1]["id"]]


def test_by_choose_only_what_all_say_stands(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [A], [B])
    refused = _merge(workspace, sets, strategy="choose")
    assert [u["field"] for u in refused.json["error"]["details"]["undecided"]] == ["number"]
    choices = [{"field": "number", "tag_set_id": sets[2]["id"]}]
    made = _merge(workspace, sets, strategy="choose", choices=choices).json["data"]
    assert made["tags"][0]["value"] == "B"


def test_what_the_reviewer_writes_goes_before_all_else(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [B])
    made = _merge(workspace, sets, tags=[tag("number", " C "), tag("note", "mine")]).json["data"]
    assert [t["value"] for t in made["tags"]] == ["C", "mine"]
    assert {(p["by"], *p["tag_set_ids"]) for p in made["provenance"]} == {("reviewer",)}


def test_an_accepted_merge_stands_for_its_document(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [A])
    path = f"/tag-sets/{sets[0]['id']}/accept"
    assert workspace.org.api("reviewer").post(path, json={}).status_code == 200
    made = _merge(workspace, sets, accept=True, note="Agreed").json["data"]
    assert (made["status"], made["reason"]) == ("accepted", "Agreed")
    assert made["reviewer"]["id"] == str(workspace.org.users["reviewer"])
    assert made["provenance"][0]["by"] == "agreement"
    told = [t["tag_set_id"] for t in workspace.events("tag_set.accepted")]
    assert told == [sets[0]["id"], made["id"]]
    row = workspace.artifact_row(made["artifact_id"])
    assert (row.status, row.label_counts) == ("done", counts(accepted=2, rejected=1))
    first, second = (_status(workspace, one) for one in sets)
    assert (first["status"], first["superseded_by"]) == ("accepted", None)
    assert (second["status"], second["superseded_by"]) == ("rejected", made["id"])
    assert (second["rejections"], second["tags"]) == (0, sets[1]["tags"])
    assert workspace.revisions(second["id"])[-1].kind == "supersede"
    assert workspace.events("tag_set.rejected") == []
    assert workspace.org.api("reviewer").get("/review-queue").json["data"] == []
    workspace.org.add_user("fourth", "labeler")
    draft = workspace.org.api("fourth").post(f"/artifacts/{made['artifact_id']}/tag-sets", json={})
    assert draft.status_code == 409


def test_a_merge_waits_and_is_accepted_like_others(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [A])
    made = _merge(workspace, sets).json["data"]
    queued = workspace.org.api("reviewer").get("/review-queue").json["data"]
    assert {one["id"] for one in queued} == {made["id"], *(one["id"] for one in sets)}
    answer = workspace.org.api("admin").post(f"/tag-sets/{made['id']}/accept", json={})
    assert answer.json["data"]["status"] == "accepted"
    assert {_status(workspace, one)["superseded_by"] for one in sets} == {made["id"]}
    late = workspace.org.api("admin").post(f"/tag-sets/{sets[0]['id']}/accept", json={})
    assert late.json["error"]["details"] == {"state": "rejected"}


def test_nothing_is_accepted_beside_an_accepted_merge(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [A], [B])
    made = _merge(workspace, sets[:2], accept=True).json["data"]
    path = f"/tag-sets/{sets[2]['id']}/accept"
    answer = workspace.org.api("reviewer").post(path, json={})
    assert answer.status_code == 409
    assert answer.json["error"]["details"]["accepted"] == [made["id"]]
    again = _merge(workspace, sets[1:])
    assert again.status_code == 409
    assert again.json["error"]["details"] == {"tag_set_id": made["id"]}


def test_bulk_leaves_merges_to_be_accepted_one_by_one(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [A], [B])
    made = _merge(workspace, sets[:2]).json["data"]
    body = {"tag_set_ids": [made["id"]]}
    answer = workspace.org.api("reviewer").post("/review-queue/bulk-accept", json=body)
    assert answer.json["data"]["outcomes"][0]["code"] == "conflict"
    workspace.org.api("reviewer").post(f"/tag-sets/{made['id']}/accept", json={})
    answer = workspace.org.api("reviewer").post(
        "/review-queue/bulk-accept", json={"tag_set_ids": [sets[2]["id"]]}
    )
    assert answer.json["data"]["outcomes"][0]["code"] == "conflict"


def test_reopened_sources_come_back_once_their_merge_is_gone(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [A])
    made = _merge(workspace, sets, accept=True).json["data"]
    reopen = {"reason": "Look again."}
    api = workspace.org.api("reviewer")
    refused = api.post(f"/tag-sets/{sets[0]['id']}/reopen", json=reopen)
    assert refused.json["error"]["details"] == {"accepted": [made["id"]]}
    assert api.post(f"/tag-sets/{made['id']}/reopen", json=reopen).status_code == 200
    row = workspace.artifact_row(made["artifact_id"])
    assert (row.status, row.label_counts) == ("in_review", counts(submitted=1, rejected=2))
    to_labeler = api.post(f"/tag-sets/{made['id']}/reject", json={"reason": "No."})
    assert to_labeler.json["error"]["field"] == "send_to"
    body = {"reason": "No.", "send_to": "pool"}
    assert api.post(f"/tag-sets/{made['id']}/reject", json=body).status_code == 200
    back = api.post(f"/tag-sets/{sets[0]['id']}/reopen", json=reopen).json["data"]
    assert (back["status"], back["superseded_by"]) == ("submitted", None)


def test_nobody_merges_or_accepts_a_merge_of_their_own(workspace: Workspace) -> None:
    workspace.org.add_user("other", "reviewer")
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    sets = [workspace.submitted(artifact_id, by=name) for name in ("labeler", "reviewer")]
    assert _merge(workspace, sets).json["error"]["code"] == "permission_denied"
    made = _merge(workspace, sets, by="other").json["data"]
    path = f"/tag-sets/{made['id']}/accept"
    assert workspace.org.api("reviewer").post(path, json={}).status_code == 403
    assert workspace.org.api("other").post(path, json={}).status_code == 200


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
    sets = _sets(workspace, [A], [B])
    names = {"first": sets[0]["id"], "unknown": str(uuid7())}
    choices = [{**c, "tag_set_id": names[c["tag_set_id"]]} for c in body.get("choices", ())]
    answer = _merge(workspace, sets, **{**body, "choices": choices})
    assert answer.status_code == 400, answer.json
    assert answer.json["error"]["field"] == field
    assert workspace.events("tag_set.merged") == []


def test_required_fields_must_come_out_filled(workspace: Workspace) -> None:
    sets = _sets(workspace, [A], [B])
    workspace.sql("UPDATE tag_sets SET tags = '[]' WHERE id = :id", id=sets[1]["id"])
    choices = [{"field": "number", "tag_set_id": sets[1]["id"]}]
    answer = _merge(workspace, sets, choices=choices)
    assert answer.json["error"]["code"] == "required_fields_missing"


def test_they_are_label_sets_of_one_document_handed_in(
    workspace: Workspace, other_org: Org
) -> None:
    first, second = _sets(workspace, [A], [A])
    elsewhere, foreign = workspace.submitted(), Workspace(other_org).submitted()
    refused = [
        _merge(workspace, [first, other]) for other in (elsewhere, foreign, {"id": str(uuid7())})
    ]
    assert {r.data for r in refused} == {refused[0].data}
    assert refused[0].status_code == 400
    assert refused[0].json["error"]["field"] == "tag_set_ids.1"
    assert _merge(workspace, [first, first]).json["error"]["field"] == "tag_set_ids.1"
    for ids in ([first], [first] * 21, []):
        assert _merge(workspace, ids).status_code == 422
    made = _merge(workspace, [first, second]).json["data"]
    workspace.org.api("admin").post(
        f"/tag-sets/{made['id']}/reject", json={"reason": "No.", "send_to": "pool"}
    )
    assert _merge(workspace, [first, made]).json["error"]["field"] == "tag_set_ids.1"


def test_a_draft_is_not_merged(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    sent, draft = workspace.submitted(artifact_id), workspace.saved(artifact_id, by="second")
    answer = _merge(workspace, [sent, draft])
    assert answer.status_code == 409
    assert answer.json["error"]["details"] == {"state": "draft", "tag_set_id": draft["id"]}


def test_lists_show_a_merge_as_reading_it_does(workspace: Workspace) -> None:
    made = _merge(workspace, _sets(workspace, [A], [A])).json["data"]
    (listed,) = workspace.org.api("reviewer").get("/tag-sets?source=merge").json["data"]
    assert listed == made


def test_most_say_row_by_row_whatever_its_number(workspace: Workspace) -> None:
    plain = [A, *rows("rope", "sail")]
    sets = _sets(workspace, plain, [A, *rows("new", "rope", "mast")], plain)
    made = _merge(workspace, sets).json["data"]
    told = [(one["row"], one["value"]) for one in made["tags"]]
    # What one of three put in at the top is gone, and leaves no gap.
    assert told == [(None, "A"), (0, "rope"), (1, "sail")]
    assert [(one["row"], one["by"]) for one in made["provenance"]] == [
        (None, "agreement"),
        (0, "agreement"),
        (1, "majority"),
    ]


def test_rows_are_chosen_by_the_number_that_undecided_gives(workspace: Workspace) -> None:
    sets = _sets(workspace, [A, *rows("rope", "sail")], [A, *rows("new", "rope", "mast")])
    error = _merge(workspace, sets).json["error"]
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
    made = _merge(workspace, sets, choices=[choice], tags=own).json["data"]
    assert sorted((one["row"], one["value"]) for one in made["tags"][1:]) == [
        (0, "new"), (1, "rope"), (2, "boom"), (9, "oar"),
    ]  # fmt: skip
