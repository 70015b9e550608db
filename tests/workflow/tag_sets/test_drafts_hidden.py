"""Drafts are read by their labeler and by those who review, wherever they could show."""

from typing import Any

import pytest

from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import reject, start_draft, submit


@pytest.fixture
def draft(workspace: Workspace) -> dict[str, Any]:
    """A draft of the labeler's, with a comment, on a document that all may see."""
    workspace.org.add_user("second", "labeler")
    draft = workspace.saved()
    body = {"body": "Is this the total?"}
    get_data(workspace.org.api("labeler").post(f"/tag-sets/{draft['id']}/comments", json=body), 201)
    return draft


def _listed(workspace: Workspace, by: str, query: str = "") -> tuple[list[str], int]:
    answer = workspace.org.api(by).get(f"/tag-sets?{query}")
    assert answer.status_code == 200, answer.json
    return [record["id"] for record in answer.json["data"]], answer.json["meta"]["total"]


@pytest.mark.parametrize("by", ["viewer", "second"])
def test_others_do_not_read_a_draft(workspace: Workspace, draft: dict[str, Any], by: str) -> None:
    api = workspace.org.api(by)
    path = f"/tag-sets/{draft['id']}"
    for rest in ("", "/revisions", "/comments", f"/diff?revision={draft['revision']}"):
        assert api.get(f"{path}{rest}").status_code == 404, rest
    queries = (
        "",
        "sort=updated_at",
        "status=draft",
        "status=draft&status=submitted",
        "created_after=2020-01-01T00:00:00Z",
        f"artifact_id={draft['artifact_id']}",
        f"labeler_id={workspace.org.users['labeler']}",
        f"schema_id={draft['schema_id']}",
    )
    for query in queries:
        assert _listed(workspace, by, query) == ([], 0), query
    history = api.get(f"/artifacts/{draft['artifact_id']}/history").json["data"]
    assert not any(entry["tag_set_id"] or entry["comment_id"] for entry in history)


@pytest.mark.parametrize("by", ["labeler", "reviewer", "admin"])
def test_its_labeler_and_reviewers_do(workspace: Workspace, draft: dict[str, Any], by: str) -> None:
    api = workspace.org.api(by)
    path = f"/tag-sets/{draft['id']}"
    for rest in ("", "/revisions", "/comments", f"/diff?revision={draft['revision']}"):
        assert api.get(f"{path}{rest}").status_code == 200, rest
    for query in ("", "sort=updated_at", f"artifact_id={draft['artifact_id']}", "status=draft"):
        assert _listed(workspace, by, query) == ([draft["id"]], 1), query


def test_lists_hold_what_may_be_read_and_count_it(
    workspace: Workspace, draft: dict[str, Any]
) -> None:
    sent = workspace.submitted(workspace.artifact(), by="second")
    own = workspace.saved(workspace.artifact(), by="second")
    assert _listed(workspace, "viewer") == ([sent["id"]], 1)
    assert _listed(workspace, "second") == ([own["id"], sent["id"]], 2)
    assert _listed(workspace, "second", "sort=-created_at&page_size=1") == ([own["id"]], 2)
    assert _listed(workspace, "second", "status=draft&status=submitted") == (
        [own["id"], sent["id"]],
        2,
    )
    assert _listed(workspace, "second", "status=submitted") == ([sent["id"]], 1)
    assert _listed(workspace, "labeler") == ([sent["id"], draft["id"]], 2)
    assert len(_listed(workspace, "reviewer")[0]) == 3
    assert submit(workspace, draft).status_code == 200
    assert _listed(workspace, "viewer") == ([sent["id"], draft["id"]], 2)


def test_nobody_is_mentioned_who_may_not_read_it(
    workspace: Workspace, draft: dict[str, Any]
) -> None:
    path = f"/tag-sets/{draft['id']}/comments"
    for name, status in (("viewer", 400), ("second", 400), ("reviewer", 201)):
        body = {"body": "Look", "mentions": [str(workspace.org.users[name])]}
        answer = workspace.org.api("labeler").post(path, json=body)
        assert answer.status_code == status, (name, answer.json)


def test_nobody_begins_with_a_draft_of_others(workspace: Workspace, draft: dict[str, Any]) -> None:
    workspace.release(draft["artifact_id"])
    answer = start_draft(workspace, draft["artifact_id"], source=draft["id"], by="second")
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "from")


def test_a_draft_that_was_sent_back_is_hidden_again(
    workspace: Workspace, draft: dict[str, Any]
) -> None:
    path = f"/tag-sets/{draft['id']}"
    submit(workspace, draft)
    assert workspace.org.api("viewer").get(path).status_code == 200
    reject(workspace, draft, send_to="labeler")
    saved = workspace.org.api("labeler").get(path).json["data"]
    assert workspace.save(saved, [tag("number", "B")]).status_code == 200
    assert workspace.org.api("viewer").get(path).status_code == 404
