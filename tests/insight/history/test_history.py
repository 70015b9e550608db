"""The history of a document by page, and what it hides from other users."""

from flask import Flask

from app.kit.ids import uuid7
from tests.documents.artifacts.conftest import create_text
from tests.factories import Org
from tests.factories.pages import read_pages
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace
from tests.insight.history.conftest import create_overlap, list_actions, list_history


def test_all_entries_of_a_document_in_order(workspace: Workspace) -> None:
    org = workspace.org
    document = create_text(org.api("labeler"), "text", schema_id=str(workspace.schema()))
    path = f"/artifacts/{document['id']}"
    org.api("admin").patch(path, {"priority": 90, "gold": True})
    tag_set = workspace.submitted(document["id"])
    workspace.act(tag_set, "reject", reason="Look again", send_to="labeler")
    org.api("labeler").post(f"/tag-sets/{tag_set['id']}/submit")
    org.api("reviewer").post(f"/tag-sets/{tag_set['id']}/accept", {"note": "Good"})
    org.api("admin").post("/artifacts/bulk-archive", {"artifact_ids": [document["id"]]})
    assert list_actions(org, document["id"]) == [
        "artifacts.create",
        "artifacts.update",
        "tag_sets.create",
        "tag_sets.submit",
        "tag_sets.reject",
        "tag_sets.submit",
        "tag_sets.accept",
        "artifacts.archive",
    ]
    entries = list_history(org, document["id"])
    archived, accepted, rejected, updated = entries[0], entries[1], entries[3], entries[6]
    assert archived["changes"] == {"archived": [False, True]}
    assert updated["changes"] == {"priority": [50, 90], "gold": [False, True]}
    assert updated["actor"] == {
        "kind": "user", "id": str(org.users["admin"]), "label": org.email("admin"),
    }  # fmt: skip
    assert (updated["kind"], updated["tag_set_id"], updated["note"]) == ("artifact", None, None)
    assert (rejected["kind"], rejected["tag_set_id"]) == ("tag_set", tag_set["id"])
    assert (rejected["note"], accepted["note"]) == ("Look again", "Good")
    assert rejected["actor"]["id"] == str(org.users["reviewer"])
    assert len({entry["id"] for entry in entries}) == len(entries)


def test_it_is_filtered_by_time(workspace: Workspace) -> None:
    org, tag_set = workspace.org, workspace.submitted(workspace.artifact(workspace.schema()))
    document = tag_set["artifact_id"]
    org.api("reviewer").post(f"/tag-sets/{tag_set['id']}/accept", {})
    submitted_at, accepted_at = (entry["at"] for entry in reversed(list_history(org, document)[:2]))

    def read_actions(query: str) -> list[str]:
        return [entry["action"] for entry in list_history(org, document, query=query)]

    assert read_actions(f"created_after={submitted_at}") == ["tag_sets.accept", "tag_sets.submit"]
    assert read_actions(f"created_before={accepted_at}")[0] == "tag_sets.submit"
    assert read_actions(f"created_after={submitted_at}&created_before={accepted_at}") == [
        "tag_sets.submit"
    ]
    page = org.api("viewer").get(f"/artifacts/{document}/history?created_after={submitted_at}")
    assert page.json["meta"]["total"] == 2


def test_no_entry_contains_an_ip_address(workspace: Workspace) -> None:
    document = create_text(workspace.org.api("labeler"), "text")
    assert "127.0.0.1" not in str(list_history(workspace.org, document["id"]))


def test_automatic_acceptances_are_by_the_system(workspace: Workspace) -> None:
    tag_set = workspace.submitted(workspace.artifact(workspace.schema(sample_rate=0.0)))
    first = list_history(workspace.org, tag_set["artifact_id"])[0]
    assert first["action"] == "tag_sets.accept"
    assert first["actor"] == {"kind": "system", "id": None, "label": "system"}


def test_blind_labelers_do_not_see_other_users(workspace: Workspace) -> None:
    org = workspace.org
    artifact_id = create_overlap(workspace)
    path = f"/artifacts/{artifact_id}"
    assert org.api("labeler").post(f"{path}/claim").status_code == 200
    tag_set = workspace.submitted(artifact_id)
    visible_entries = list_history(org, artifact_id, "second")
    assert "labeler" not in str(visible_entries)
    assert str(org.users["labeler"]) not in str(visible_entries)
    assert tag_set["id"] not in str(visible_entries)
    assert [entry for entry in visible_entries if entry["kind"] == "tag_set"] == []
    own_actions = list_actions(org, artifact_id, "labeler")
    assert own_actions[-3:] == ["artifacts.claim", "tag_sets.create", "tag_sets.submit"]
    assert list_actions(org, artifact_id, "viewer") == own_actions
    own_tag_set = workspace.submitted(artifact_id, by="second")
    tag_set_ids = {entry["tag_set_id"] for entry in list_history(org, artifact_id, "second")}
    assert tag_set_ids == {None, tag_set["id"], own_tag_set["id"]}


def test_without_overlap_labelers_see_all(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    tag_set = workspace.submitted()
    all_actions = list_actions(workspace.org, tag_set["artifact_id"])
    assert list_actions(workspace.org, tag_set["artifact_id"], "second") == all_actions


def test_it_is_paged_both_ways(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    for priority in range(7):
        workspace.org.api("admin").patch(f"/artifacts/{artifact_id}", {"priority": priority})
    all_entries = list_history(workspace.org, artifact_id)
    api, path = workspace.org.api("admin"), f"/artifacts/{artifact_id}/history?page_size=3"
    first = api.get(path).json
    assert first["meta"]["total"] == 8
    workspace.org.api("admin").patch(f"/artifacts/{artifact_id}", {"priority": 70})
    rest = read_pages(api, path, first["meta"]["next_cursor"])
    assert [entry for page in (first, *rest) for entry in page["data"]] == all_entries
    oldest_first = list_history(workspace.org, artifact_id, query="sort=at")
    assert oldest_first[:8] == all_entries[::-1]


def test_a_thousand_saves_take_no_more_statements(workspace: Workspace, app: Flask) -> None:
    draft = workspace.saved()
    workspace.sql(
        "INSERT INTO tag_set_revisions"
        " (organization_id, tag_set_id, number, tags, kind, created_at)"
        " SELECT :org, :id, n, '[]', 'save', now() FROM generate_series(100, 5100) AS n",
        org=workspace.org.id,
        id=draft["id"],
    )
    with record_statements(app) as statements:
        assert len(list_history(workspace.org, draft["artifact_id"])) == 2
    assert len(statements) <= 3, statements


def test_a_document_of_another_organization_has_no_history(
    workspace: Workspace, other_org: Org
) -> None:
    foreign_id = Workspace(other_org).artifact()
    absent = workspace.org.api("viewer").get(f"/artifacts/{uuid7()}/history")
    answer = workspace.org.api("viewer").get(f"/artifacts/{foreign_id}/history")
    assert (answer.status_code, answer.data) == (404, absent.data)
