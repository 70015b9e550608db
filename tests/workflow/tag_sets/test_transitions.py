"""Every action in every status does what the table of transitions says."""

import re
from pathlib import Path
from typing import Any

import pytest

from app.workflow.tag_sets.transitions import TRANSITIONS, Action, TagSetStatus
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import accept, reject, reopen, submit

GUIDE = Path(__file__).parents[3] / "docs/integrators/tag-sets.md"


def _create(workspace: Workspace, status: TagSetStatus) -> dict[str, Any]:
    if status is TagSetStatus.DRAFT:
        return workspace.saved()
    tag_set = workspace.submitted()
    if status is TagSetStatus.SUBMITTED:
        return tag_set
    action = Action.ACCEPT if status is TagSetStatus.ACCEPTED else Action.REJECT
    return dict(_act(workspace, action, tag_set, send_to="pool").json["data"])


def _act(
    workspace: Workspace, action: Action, tag_set: dict[str, Any], *, send_to: str = "labeler"
) -> Any:
    match action:
        case Action.SAVE:
            return workspace.save(tag_set, [tag("number", "B-2")])
        case Action.DELETE:
            return workspace.org.api("labeler").delete(f"/tag-sets/{tag_set['id']}")
        case Action.SUBMIT:
            return submit(workspace, tag_set)
        case Action.ACCEPT:
            return accept(workspace, tag_set)
        case Action.REJECT:
            return reject(workspace, tag_set, send_to=send_to)
        case Action.REOPEN:
            return reopen(workspace, tag_set)


@pytest.mark.parametrize("status", TagSetStatus)
@pytest.mark.parametrize("action", Action)
def test_only_the_actions_of_the_table_change_a_tag_set(
    workspace: Workspace, action: Action, status: TagSetStatus
) -> None:
    tag_set = _create(workspace, status)
    assert tag_set["status"] == status
    answer = _act(workspace, action, tag_set)
    rows = workspace.sql("SELECT status FROM tag_sets WHERE id = :id", id=tag_set["id"])
    sources, targets = TRANSITIONS[action]
    if status not in sources:
        assert answer.status_code == 409, answer.json
        assert answer.json["error"]["details"] == {"state": status}
        assert [row.status for row in rows] == [status]
    elif targets:
        assert answer.status_code == 200, answer.json
        assert rows[0].status in targets
    else:
        assert (answer.status_code, rows) == (204, [])


@pytest.mark.parametrize(
    ("action", "body", "target"),
    [
        (Action.REJECT, {"send_to": "pool"}, TagSetStatus.REJECTED),
        (Action.REJECT, {"send_to": "labeler"}, TagSetStatus.DRAFT),
        (Action.REOPEN, {"to": "review"}, TagSetStatus.SUBMITTED),
        (Action.REOPEN, {"to": "labeler"}, TagSetStatus.DRAFT),
    ],
)
def test_the_reviewer_chooses_between_two_targets(
    workspace: Workspace, action: Action, body: dict[str, str], target: TagSetStatus
) -> None:
    status = TRANSITIONS[action].sources[0]
    path = f"/tag-sets/{_create(workspace, status)['id']}/{action}"
    answer = workspace.org.api("reviewer").post(path, json={"reason": "Because.", **body})
    assert answer.json["data"]["status"] == target
    assert target in TRANSITIONS[action].targets


def test_the_guide_shows_the_same_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", GUIDE.read_text(), re.MULTILINE)
    shown = {
        action: tuple(tuple(re.findall(r"`(\w+)`", cell)) for cell in cells)
        for action, *cells in rows
        if action in tuple(Action)
    }
    assert shown == TRANSITIONS
