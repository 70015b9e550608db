"""The history of a document by page, and what it hides from other users."""

from flask import Flask

from app.kit.ids import uuid7
from tests.documents.artifacts.conftest import create_text
from tests.factories import Org
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace
from tests.insight.history.conftest import actions, history


def test_all_entries_of_a_document_in_order(workspace: Workspace) -> None:
    org = workspace.org
    document = create_text(org.api("labeler"), "text", schema_id=str(workspace.schema()))
    path = f"/artifacts/{document['id']}"
    org.api("admin").patch(path, {"priority": 90, "gold": True})
    sent = workspace.submitted(document["id"])
    org.api("reviewer").post(
        f"/tag-sets/{sent['id']}/reject", {"reason": "Look again", "send_to": "labeler"}
    )
    org.api("labeler").post(f"/tag-sets/{sent['id']}/submit")
    org.api("reviewer").post(f"/tag-sets/{sent['id']}/accept", {"note": "Good"})
    org.api("admin").post("/artifacts/bulk-archive", {"artifact_ids": [document["id"]]})
    assert actions(org, document["id"]) == [
        "artifacts.create",
        "artifacts.update",
        "tag_sets.create",
        "tag_sets.submit",
        "tag_sets.reject",
        "tag_sets.submit",
        "tag_sets.accept",
        "artifacts.archive",
    ]
    told = history(org, document["id"])
    archived, accepted, rejected, updated = told[0], told[1], told[3], told[6]
    assert archived["changes"] == {"archived": [False, True]}
    assert updated["changes"] == {"priority": [50, 90], "gold": [False, True]}
    assert updated["actor"] == {
        "kind": "user", "id": str(org.users["admin"]), "label": org.email("admin"),
    }  # fmt: skip
    assert (updated["kind"], updated["tag_set_id"], updated["note"]) == ("artifact", None, None)
    assert (rejected["kind"], rejected["tag_set_id"]) == ("tag_set", sent["id"])
    assert (rejected["note"], accepted["note"]) == ("Look again", "Good")
    assert rejected["actor"]["id"] == str(org.users["reviewer"])
    assert len({entry["id"] for entry in told}) == len(told)


def test_it_is_filtered_by_time(workspace: Workspace) -> None:
    org, sent = workspace.org, workspace.submitted(workspace.artifact(workspace.schema()))
    document = sent["artifact_id"]
    org.api("reviewer").post(f"/tag-sets/{sent['id']}/accept", {})
    handed_in, accepted = (one["at"] for one in reversed(history(org, document)[:2]))

    def told(query: str) -> list[str]:
        return [one["action"] for one in history(org, document, query=query)]

    assert told(f"created_after={handed_in}") == ["tag_sets.accept", "tag_sets.submit"]
    assert told(f"created_before={accepted}")[0] == "tag_sets.submit"
    assert told(f"created_after={handed_in}&created_before={accepted}") == ["tag_sets.submit"]
    page = org.api("viewer").get(f"/artifacts/{document}/history?created_after={handed_in}")
    assert page.json["meta"]["total"] == 2


def test_no_entry_contains_an_ip_address(workspace: Workspace) -> None:
    document = create_text(workspace.org.api("labeler"), "text")
    assert "127.0.0.1" not in str(history(workspace.org, document["id"]))


def test_automatic_acceptances_are_by_the_system(workspace: Workspace) -> None:
    sent = workspace.submitted(workspace.artifact(workspace.schema(sample_rate=0.0)))
    first = history(workspace.org, sent["artifact_id"])[0]
    assert first["action"] == "tag_sets.accept"
    assert first["actor"] == {"kind": "system", "id": None, "label": "system"}


def test_blind_labelers_do_not_see_other_users(workspace: Workspace) -> None:
    org = workspace.org
    org.add_user("second", "labeler")
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    path = f"/artifacts/{artifact_id}"
    assert org.api("labeler").post(f"{path}/claim").status_code == 200
    sent = workspace.submitted(artifact_id)
    others = history(org, artifact_id, "second")
    assert "labeler" not in str(others)
    assert str(org.users["labeler"]) not in str(others)
    assert sent["id"] not in str(others)
    assert [e for e in others if e["kind"] == "tag_set"] == []
    own = actions(org, artifact_id, "labeler")
    assert own[-3:] == ["artifacts.claim", "tag_sets.create", "tag_sets.submit"]
    assert actions(org, artifact_id, "viewer") == own
    mine = workspace.submitted(artifact_id, by="second")
    after = {entry["tag_set_id"] for entry in history(org, artifact_id, "second")}
    assert after == {None, sent["id"], mine["id"]}


def test_without_overlap_labelers_see_all(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    sent = workspace.submitted()
    assert actions(workspace.org, sent["artifact_id"], "second") == actions(
        workspace.org, sent["artifact_id"]
    )


def test_it_is_paged_both_ways(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    for priority in range(7):
        workspace.org.api("admin").patch(f"/artifacts/{artifact_id}", {"priority": priority})
    whole = history(workspace.org, artifact_id)
    api, path = workspace.org.api("admin"), f"/artifacts/{artifact_id}/history?page_size=3"
    first = api.get(path).json
    assert first["meta"]["total"] == 8
    found, cursor = first["data"], first["meta"]["next_cursor"]
    workspace.org.api("admin").patch(f"/artifacts/{artifact_id}", {"priority": 70})
    while cursor:
        answer = api.get(f"{path}&cursor={cursor}").json
        found += answer["data"]
        cursor = answer["meta"]["next_cursor"]
    assert found == whole
    oldest_first = history(workspace.org, artifact_id, query="sort=at")
    assert oldest_first[:8] == whole[::-1]


def test_a_thousand_saves_take_no_more_statements(workspace: Workspace, app: Flask) -> None:
    draft = workspace.saved()
    workspace.sql(
        "INSERT INTO tag_set_revisions"
        " (organization_id, tag_set_id, number, tags, kind, created_at)"
        " SELECT :org, :id, n, '[]', 'save', now() FROM generate_series(100, 5100) AS n",
        org=workspace.org.id,
        id=draft["id"],
    )
    with record_statements(app) as found:
        assert len(history(workspace.org, draft["artifact_id"])) == 2
    assert len(found) <= 3, found


def test_a_document_of_another_organization_has_no_history(
    workspace: Workspace, other_org: Org
) -> None:
    theirs = Workspace(other_org).artifact()
    absent = workspace.org.api("viewer").get(f"/artifacts/{uuid7()}/history")
    answer = workspace.org.api("viewer").get(f"/artifacts/{theirs}/history")
    assert (answer.status_code, answer.data) == (404, absent.data)
