"""Comments in the history of a document, and who may read them."""

from flask import Flask

from tests.factories import Org
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace
from tests.insight.history.conftest import create_overlap, get_entry, list_actions, list_history
from tests.workflow.actions import get_data


def _create_comment(org: Org, tag_set_id: str, by: str = "reviewer", **body: object) -> str:
    path = f"/tag-sets/{tag_set_id}/comments"
    return str(get_data(org.api(by).post(path, {"body": "Really?", **body}))["id"])


def test_a_thread_from_question_to_answer(workspace: Workspace) -> None:
    org, tag_set = workspace.org, workspace.submitted()
    question_id = _create_comment(org, tag_set["id"], field="total")
    path = f"/tag-sets/{tag_set['id']}/comments/{question_id}/resolve"
    get_data(org.api("labeler").post(path))
    reply_id = _create_comment(org, tag_set["id"], by="labeler", parent_id=question_id, body="No!")
    entries = list_history(org, tag_set["artifact_id"], "viewer")[:4]
    assert sorted(entry["action"] for entry in entries[:2]) == [
        "comments.create",
        "comments.reopen",
    ]
    resolved, created = entries[2:]
    assert (created["action"], created["comment_id"], created["field"], created["note"]) == (
        "comments.create", question_id, "total", "Really?",
    )  # fmt: skip
    assert (created["kind"], created["tag_set_id"]) == ("comment", tag_set["id"])
    assert created["actor"]["id"] == str(org.users["reviewer"])
    assert (resolved["action"], resolved["note"]) == ("comments.resolve", None)
    assert resolved["actor"]["id"] == str(org.users["labeler"])
    (reply,) = [entry for entry in entries if entry["comment_id"] == reply_id]
    assert (reply["note"], reply["field"]) == ("No!", "total")
    assert all(entry["changes"] == {} for entry in entries)


def test_a_long_comment_is_cut(workspace: Workspace) -> None:
    tag_set = workspace.submitted()
    _create_comment(workspace.org, tag_set["id"], body="é" * 9_000)
    assert get_entry(workspace.org, tag_set["artifact_id"], "comments.create")["note"] == "é" * 500


def test_blind_labelers_see_only_comments_on_their_own_work(workspace: Workspace) -> None:
    org = workspace.org
    artifact_id = create_overlap(workspace)
    other_tag_set = workspace.submitted(artifact_id)
    _create_comment(org, other_tag_set["id"], body="The total is 12")
    own_tag_set = workspace.saved(artifact_id, by="second")
    _create_comment(org, own_tag_set["id"], by="second", body="Mine")
    before = str(list_history(org, artifact_id, "second"))
    assert "Mine" in before
    assert "The total" not in before
    assert other_tag_set["id"] not in before
    assert str(org.users["reviewer"]) not in before
    get_data(org.api("second").post(f"/tag-sets/{own_tag_set['id']}/submit"))
    assert "The total is 12" in str(list_history(org, artifact_id, "second"))


def test_blind_labelers_do_not_see_skips_and_discarded_drafts(workspace: Workspace) -> None:
    org = workspace.org
    artifact_id = create_overlap(workspace)
    draft = workspace.saved(artifact_id)
    assert org.api("labeler").delete(f"/tag-sets/{draft['id']}").status_code == 204
    get_data(org.api("labeler").post(f"/artifacts/{artifact_id}/claim"))
    get_data(org.api("labeler").post(f"/artifacts/{artifact_id}/release", {"reason": "Not mine"}))
    assert list_actions(org, artifact_id)[-3:] == [
        "artifacts.claim",
        "artifacts.release",
        "artifacts.skip",
    ]
    assert "tag_sets.delete" in list_actions(org, artifact_id)
    assert list_actions(org, artifact_id, "second") == ["artifacts.create"]
    assert "Not mine" in str(list_history(org, artifact_id, "labeler"))


def test_a_thousand_comments_take_no_more_statements(workspace: Workspace, app: Flask) -> None:
    tag_set = workspace.submitted()
    comment_id = _create_comment(workspace.org, tag_set["id"])
    with record_statements(app) as statements_before:
        list_history(workspace.org, tag_set["artifact_id"], query="page_size=100")
    workspace.sql(
        "INSERT INTO tag_set_comments (organization_id, id, tag_set_id, thread_id, parent_id,"
        " author_id, body, mentions, created_at, updated_at, revision)"
        " SELECT organization_id, gen_random_uuid(), tag_set_id, thread_id, id, author_id, 'More',"
        " '{}', now(), now(), 1 FROM tag_set_comments, generate_series(1, 1000) WHERE id = :id",
        id=comment_id,
    )
    with record_statements(app) as statements_after:
        assert (
            len(list_history(workspace.org, tag_set["artifact_id"], query="page_size=1000")) == 1000
        )
    assert len(statements_after) == len(statements_before) <= 4, statements_after
