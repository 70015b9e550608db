"""Saving drafts: revisions, claims, and who may."""

from datetime import UTC, datetime, timedelta

from tests.factories.errors import check_error
from tests.factories.workspace import TAG_SET_PROPERTIES, Workspace, tag


def test_a_save_is_a_revision_and_renews_the_claim(workspace: Workspace) -> None:
    draft = workspace.draft(workspace.artifact(text="A-1"))
    workspace.sql(
        "UPDATE artifacts SET claim_expires_at = now() + interval '1 minute' WHERE id = :id",
        id=draft["artifact_id"],
    )
    evidence = [{"page": 2, "box": [0.1, 0.2, 0.3, 0.4], "start": 0, "end": 3, "text": "A-1"}]
    answer = workspace.save(
        draft, [tag("number", " A-1 ", confidence=1, evidence=evidence)], seconds_spent=12
    )
    assert answer.status_code == 200
    saved = answer.json["data"]
    assert answer.headers["ETag"] == '"2"'
    assert saved.keys() == TAG_SET_PROPERTIES
    assert saved["tags"] == [
        {"field": "number", "value": "A-1", "row": None, "confidence": 1.0, "source": "human",
         "evidence": evidence}
    ]  # fmt: skip
    assert (saved["revision"], saved["tag_count"], saved["seconds_spent"]) == (2, 1, 12)
    assert workspace.org.api("labeler").get(f"/tag-sets/{draft['id']}").json["data"] == saved
    row = workspace.artifact_row(draft["artifact_id"])
    assert row.claim_expires_at > datetime.now(UTC) + timedelta(minutes=29)
    second = workspace.save(saved, []).json["data"]
    assert second["seconds_spent"] == 12
    kept = workspace.revisions(draft["id"])
    assert [(r.number, r.kind) for r in kept] == [(1, "create"), (2, "save"), (3, "save")]
    assert kept[1].tags == saved["tags"]
    assert kept[1].author_id == workspace.org.users["labeler"]
    events = workspace.events("tag_set.saved")
    assert [t["revision"] for t in events] == [2, 3]


def test_the_claim_lasts_as_long_as_the_organization_says(workspace: Workspace) -> None:
    workspace.settings(claim_minutes=5)
    draft = workspace.draft()
    workspace.save(draft, [])
    remaining_time = workspace.artifact_row(draft["artifact_id"]).claim_expires_at - datetime.now(
        UTC
    )
    assert timedelta(minutes=4) < remaining_time < timedelta(minutes=5, seconds=5)


def test_a_save_leaves_anothers_claim_alone(workspace: Workspace) -> None:
    draft = workspace.draft()
    workspace.sql(
        "UPDATE artifacts SET claim_user_id = :user WHERE id = :id",
        user=workspace.org.users["reviewer"],
        id=draft["artifact_id"],
    )
    assert workspace.save(draft, []).status_code == 200
    row = workspace.artifact_row(draft["artifact_id"])
    assert row.claim_user_id == workspace.org.users["reviewer"]


def test_a_save_needs_the_revision_that_was_read(workspace: Workspace) -> None:
    draft = workspace.draft()
    path = f"/tag-sets/{draft['id']}/tags"
    api = workspace.org.api("labeler")
    check_error(api.put(path, json={"tags": []}), 422, "unprocessable", field="revision")
    both = api.put(path, json={"tags": [], "revision": 1}, headers={"If-Match": '"2"'})
    error = both.json["error"]
    assert (both.status_code, error["code"], error["field"]) == (
        400, "validation_error", "revision",
    )  # fmt: skip
    assert api.put(path, json={"tags": []}, headers={"If-Match": '"1"'}).status_code == 200
    stale = api.put(path, json={"tags": [], "revision": 1})
    assert stale.status_code == 409
    assert stale.json["error"]["code"] == "stale_precondition"
    assert stale.json["error"]["details"] == {
        "current_revision": 2, "changes": [], "truncated": False,
    }  # fmt: skip
    assert [r.number for r in workspace.revisions(draft["id"])] == [1, 2]


def test_only_the_labeler_or_an_admin_writes(workspace: Workspace) -> None:
    draft = workspace.draft()
    workspace.org.add_user("second", "labeler")
    # Another labeler does not see the draft.
    refusals = {"second": (404, "not_found"), "reviewer": (403, "permission_denied")}
    for role, refusal in refusals.items():
        api = workspace.org.api(role)
        refused = [
            workspace.save(draft, [], by=role),
            api.post(f"/tag-sets/{draft['id']}/submit"),
            api.delete(f"/tag-sets/{draft['id']}"),
        ]
        assert {(r.status_code, r.json["error"]["code"]) for r in refused} == {refusal}
    saved = workspace.save(draft, [tag("number", "A-1")], by="admin")
    assert saved.json["data"]["labeler"]["id"] == str(workspace.org.users["labeler"])
    assert workspace.revisions(draft["id"])[-1].author_id == workspace.org.users["admin"]
    row = workspace.artifact_row(draft["artifact_id"])
    assert row.claim_user_id == workspace.org.users["labeler"]
