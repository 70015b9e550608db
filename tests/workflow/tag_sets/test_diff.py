"""A label set beside another one, a revision of its own, the prediction."""

from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_invalid_field
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace, rows, tag


def _diff(
    workspace: Workspace, tag_set: dict[str, Any], query: str, *, by: str = "reviewer"
) -> Any:
    return workspace.org.api(by).get(f"/tag-sets/{tag_set['id']}/diff?{query}")


def _predict(workspace: Workspace, of: dict[str, Any]) -> str:
    """Store a prediction of the document with these tags."""
    return workspace.predict(of["artifact_id"], of["tags"])


def _create_two_drafts(workspace: Workspace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Drafts of two people on one document, which differ."""
    first = workspace.save(workspace.draft(), [tag("number", "A-1"), tag("note", "x")]).json["data"]
    workspace.release(first["artifact_id"])
    second = workspace.draft(first["artifact_id"], by="reviewer")
    tags = [tag("number", "A-2"), tag("pages", 3)]
    return first, workspace.save(second, tags, by="reviewer").json["data"]


def test_against_another_label_set(workspace: Workspace) -> None:
    first, second = _create_two_drafts(workspace)
    data = get_data(_diff(workspace, second, f"against={first['id']}"))
    assert data["tag_set_id"] == second["id"]
    assert data["against"] == {
        "kind": "tag_set",
        "tag_set_id": first["id"],
        "revision": 2,
        "prediction_id": None,
    }
    assert (data["added"], data["removed"], data["changed"]) == (1, 1, 1)
    told = [
        (c["field"], c["kind"], (c["from"] or {}).get("value"), (c["to"] or {}).get("value"))
        for c in data["changes"]
    ]
    assert told == [
        ("number", "changed", "A-1", "A-2"),
        ("note", "removed", "x", None),
        ("pages", "added", None, 3),
    ]
    assert _diff(workspace, second, f"against={second['id']}").json["data"]["changes"] == []


def test_against_a_revision(workspace: Workspace) -> None:
    draft = workspace.draft()
    for value in ("A", "B", "C"):
        draft = workspace.save(draft, [tag("number", value)]).json["data"]
    now = _diff(workspace, draft, "revision=2").json["data"]
    assert (now["revision"], now["against"]["revision"]) == (4, 2)
    (change,) = now["changes"]
    assert (change["from"]["value"], change["to"]["value"]) == ("A", "C")
    then = _diff(workspace, draft, "revision=1&at_revision=3").json["data"]
    assert (then["revision"], then["added"]) == (3, 1)
    assert then["changes"][0]["to"]["value"] == "B"


def test_against_the_latest_prediction(workspace: Workspace) -> None:
    first, second = _create_two_drafts(workspace)
    check_invalid_field(_diff(workspace, second, "prediction=true"), "prediction")
    model = _predict(workspace, first)
    diff = _diff(workspace, second, "prediction=true").json["data"]
    assert diff["against"] == {
        "kind": "prediction",
        "tag_set_id": None,
        "revision": None,
        "prediction_id": model,
    }
    assert diff["changed"] == 1


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("", 400, "against"),
        ("revision=1&prediction=true", 400, "against"),
        ("prediction=false", 400, "against"),
        ("revision=9", 400, "revision"),
        ("revision=1&at_revision=9", 400, "at_revision"),
        ("revision=0", 422, "revision"),
        ("revision=x", 422, "revision"),
        ("against=x", 422, "against"),
        ("prediction=maybe", 422, "prediction"),
    ],
)
def test_what_is_compared_must_be_there(
    workspace: Workspace, query: str, status: int, field: str
) -> None:
    answer = _diff(workspace, workspace.draft(), query)
    assert answer.status_code == status
    assert answer.json["error"]["field"] == field


def test_what_one_may_not_see_is_like_what_is_not(workspace: Workspace, other_org: Org) -> None:
    workspace.org.add_user("second", "labeler")
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    first = workspace.submitted(artifact_id)
    mine = workspace.draft(artifact_id, by="second")
    absent = _diff(workspace, mine, f"against={uuid7()}", by="second")
    assert absent.status_code == 400
    elsewhere, foreign = workspace.draft(), Workspace(other_org).draft()
    for other in (first, elsewhere, foreign):
        assert _diff(workspace, mine, f"against={other['id']}", by="second").data == absent.data
    # Neither may what a model said lead those who label blind.
    none = _diff(workspace, mine, "prediction=true", by="second")
    _predict(workspace, first)
    assert _diff(workspace, mine, "prediction=true", by="second").data == none.data
    assert _diff(workspace, mine, "prediction=true", by="reviewer").status_code == 200
    hidden = workspace.org.api("second").get(f"/tag-sets/{first['id']}/diff?revision=1")
    assert hidden.status_code == 404


def test_a_row_put_in_at_the_top_is_the_only_change(workspace: Workspace) -> None:
    draft = workspace.save(workspace.draft(), rows("rope", "sail", "mast")).json["data"]
    draft = workspace.save(draft, rows("new", "rope", "boom", "mast")).json["data"]
    diff = _diff(workspace, draft, "revision=2").json["data"]
    assert (diff["added"], diff["removed"], diff["changed"]) == (1, 0, 1)
    added, changed = diff["changes"]
    assert (added["row"], added["to"]["value"]) == (0, "new")
    assert (changed["row"], changed["from"]["row"], changed["to"]["row"]) == (2, 1, 2)
    assert diff["moved"] == [{"table": "lines", "from": 0, "to": 1, "count": 3}]
    path = f"/tag-sets/{draft['id']}/revisions"
    latest = workspace.org.api("reviewer").get(path).json["data"][0]["changes"]
    assert (latest["added"], latest["changed"], latest["moved"]) == (1, 1, diff["moved"])
