"""Comments in the history of a document, and who may read them."""

from flask import Flask

from tests.factories import Org
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace
from tests.insight.history.conftest import actions, entry, history, sent


def _comment(org: Org, tag_set_id: str, by: str = "reviewer", **body: object) -> str:
    path = f"/tag-sets/{tag_set_id}/comments"
    return str(sent(org.api(by).post(path, {"body": "Really?", **body}))["id"])


def test_a_thread_from_question_to_answer(workspace: Workspace) -> None:
    org, done = workspace.org, workspace.submitted()
    asked = _comment(org, done["id"], field="total")
    path = f"/tag-sets/{done['id']}/comments/{asked}/resolve"
    sent(org.api("labeler").post(path))
    answer = _comment(org, done["id"], by="labeler", parent_id=asked, body="No!")
    told = history(org, done["artifact_id"], "viewer")[:4]
    assert sorted(one["action"] for one in told[:2]) == ["comments.create", "comments.reopen"]
    resolved, created = told[2:]
    assert (created["action"], created["comment_id"], created["field"], created["note"]) == (
        "comments.create", asked, "total", "Really?",
    )  # fmt: skip
    assert (created["kind"], created["tag_set_id"]) == ("comment", done["id"])
    assert created["actor"]["id"] == str(org.users["reviewer"])
    assert (resolved["action"], resolved["note"]) == ("comments.resolve", None)
    assert resolved["actor"]["id"] == str(org.users["labeler"])
    (reply,) = [one for one in told if one["comment_id"] == answer]
    assert (reply["note"], reply["field"]) == ("No!", "total")
    assert all(one["changes"] == {} for one in told)


def test_a_long_comment_is_cut(workspace: Workspace) -> None:
    done = workspace.submitted()
    _comment(workspace.org, done["id"], body="é" * 9_000)
    assert entry(workspace.org, done["artifact_id"], "comments.create")["note"] == "é" * 500


def test_blind_labelers_see_only_comments_on_their_own_work(workspace: Workspace) -> None:
    org = workspace.org
    org.add_user("second", "labeler")
    both = workspace.artifact(workspace.schema(labels_per_artifact=2))
    theirs = workspace.submitted(both)
    _comment(org, theirs["id"], body="The total is 12")
    own = workspace.saved(both, by="second")
    _comment(org, own["id"], by="second", body="Mine")
    before = str(history(org, both, "second"))
    assert "Mine" in before
    assert "The total" not in before
    assert theirs["id"] not in before
    assert str(org.users["reviewer"]) not in before
    sent(org.api("second").post(f"/tag-sets/{own['id']}/submit"))
    assert "The total is 12" in str(history(org, both, "second"))


def test_blind_labelers_do_not_see_skips_and_discarded_drafts(workspace: Workspace) -> None:
    org = workspace.org
    org.add_user("second", "labeler")
    both = workspace.artifact(workspace.schema(labels_per_artifact=2))
    draft = workspace.saved(both)
    assert org.api("labeler").delete(f"/tag-sets/{draft['id']}").status_code == 204
    sent(org.api("labeler").post(f"/artifacts/{both}/claim"))
    sent(org.api("labeler").post(f"/artifacts/{both}/release", {"reason": "Not mine"}))
    assert actions(org, both)[-3:] == ["artifacts.claim", "artifacts.release", "artifacts.skip"]
    assert "tag_sets.delete" in actions(org, both)
    assert actions(org, both, "second") == ["artifacts.create"]
    assert "Not mine" in str(history(org, both, "labeler"))


def test_a_thousand_comments_take_no_more_statements(workspace: Workspace, app: Flask) -> None:
    done = workspace.submitted()
    asked = _comment(workspace.org, done["id"])
    with record_statements(app) as few:
        history(workspace.org, done["artifact_id"], query="page_size=100")
    workspace.sql(
        "INSERT INTO tag_set_comments (organization_id, id, tag_set_id, thread_id, parent_id,"
        " author_id, body, mentions, created_at, updated_at, revision)"
        " SELECT organization_id, gen_random_uuid(), tag_set_id, thread_id, id, author_id, 'More',"
        " '{}', now(), now(), 1 FROM tag_set_comments, generate_series(1, 1000) WHERE id = :id",
        id=asked,
    )
    with record_statements(app) as many:
        assert len(history(workspace.org, done["artifact_id"], query="page_size=1000")) == 1000
    assert len(many) == len(few) <= 4, many
