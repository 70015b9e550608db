"""Assignments, found from the assignee's side; and what becomes of those of a deleted team."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from app.kit.ids import uuid7
from app.workflow.assignment.queries import assignees
from tests.factories.teams import create_team, make_team
from tests.factories.workspace import Workspace
from tests.workflow.actions import set_role
from tests.workflow.assignment.conftest import get_assignees, reject_to, to


def _rows(workspace: Workspace, artifact_id: UUID) -> list[tuple[Any, ...]]:
    rows = workspace.sql(
        "SELECT assignee_id, is_team, is_open FROM artifact_assignees"
        " WHERE artifact_id = :id ORDER BY is_team, assignee_id",
        id=artifact_id,
    )
    return [tuple(row) for row in rows]


def _assign(workspace: Workspace, artifact_id: UUID, assignees: list[dict[str, Any]]) -> None:
    workspace.sql(
        "UPDATE artifacts SET assignees = CAST(:list AS jsonb) WHERE id = :id",
        list=json.dumps(assignees),
        id=artifact_id,
    )


def test_the_rows_follow_the_document(workspace: Workspace) -> None:
    user, team = uuid7(), uuid7()
    both = [*to(user_id=user), *to(team_id=team)]
    artifact = workspace.artifact(assignees=both)
    assert _rows(workspace, artifact) == [(user, False, True), (team, True, True)]
    _assign(workspace, artifact, to(team_id=team) * 2)
    assert _rows(workspace, artifact) == [(team, True, True)]
    for column, value, is_open in (
        ("status", "'in_progress'", True),
        ("status", "'in_review'", False),
        ("status", "'done'", False),
        ("status", "'ready'", True),
        ("archived", "true", False),
        ("archived", "false", True),
    ):
        workspace.sql(f"UPDATE artifacts SET {column} = {value} WHERE id = :id", id=artifact)
        assert _rows(workspace, artifact) == [(team, True, is_open)], (column, value)
    _assign(workspace, artifact, [])
    assert _rows(workspace, artifact) == []


def test_labels_close_what_was_assigned(workspace: Workspace) -> None:
    team = UUID(create_team(workspace.org, "labeler", "admin"))
    artifact = workspace.artifact(assignees=to(team_id=team))
    sent = workspace.submitted(artifact)
    assert _rows(workspace, artifact) == [(team, True, False)]
    reject_to(workspace, sent, "pool")
    assert _rows(workspace, artifact) == [(team, True, True)]
    assert workspace.org.api("admin").delete(f"/artifacts/{artifact}").status_code == 204
    assert _rows(workspace, artifact) == []


def test_the_work_of_a_deleted_team_goes_back_to_the_pool(
    workspace: Workspace, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assignees, "BATCH_SIZE", 2)
    org, user, other = workspace.org, workspace.org.users["labeler"], uuid7()
    team = make_team(org)["id"]
    schema = workspace.schema()
    alone = [workspace.artifact(schema, assignees=to(team_id=team)) for _ in range(5)]
    shared = workspace.artifact(
        schema, assignees=[*to(team_id=other), *to(team_id=team), *to(user_id=user)], status="done"
    )
    untouched = workspace.artifact(schema, assignees=to(team_id=other))
    before = org.api("viewer").get(f"/artifacts/{untouched}").json["data"]
    assert org.api("admin").delete(f"/teams/{team}").status_code == 204
    assert workspace.events("team.deleted") == [
        {
            "team_id": team,
            "name": "Invoices",
            "parent_id": None,
            "deleted_by": str(org.users["admin"]),
        }
    ]
    work()
    for artifact in alone:
        unassigned = org.api("viewer").get(f"/artifacts/{artifact}").json["data"]
        assert (unassigned["assignees"], unassigned["revision"]) == ([], 1)
    assert get_assignees(workspace, shared) == [*to(team_id=other), *to(user_id=user)]
    assert org.api("viewer").get(f"/artifacts/{untouched}").json["data"] == before
    assert workspace.sql("SELECT 1 FROM artifact_assignees WHERE assignee_id = :t", t=team) == []


def test_who_left_the_organization_is_assigned_to_nothing(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    org = workspace.org
    gone, stays = (to(user_id=org.users[name]) for name in ("labeler", "viewer"))
    both = workspace.artifact(assignees=[*gone, *stays])
    path = f"/organizations/{org.slug}/members/{org.users['labeler']}"
    assert org.api("admin").delete(path).status_code == 204
    work()
    assert get_assignees(workspace, both) == stays


@pytest.mark.parametrize("how", ["left the team", "left", "became a viewer"])
def test_the_work_of_a_team_in_which_nobody_labels_any_more_goes_back(
    workspace: Workspace, work: Callable[[], None], how: str
) -> None:
    org = workspace.org
    org.add_user("last", "labeler")
    last = org.users["last"]
    teams = [create_team(org, "last", "viewer"), create_team(org, "last", "labeler")]
    # Nobody was ever in it: it is being set up.
    teams.append(make_team(org, "C")["id"])
    artifacts = [workspace.artifact(assignees=to(team_id=team)) for team in teams]
    if how == "left the team":
        for team in teams[:2]:
            path = f"/teams/{team}/members/{last}"
            assert org.api("owner").delete(path).status_code == 204
    else:
        set_role(workspace, "last", None if how == "left" else "viewer")
    work()
    assignees_of_each = [get_assignees(workspace, artifact) for artifact in artifacts]
    assert assignees_of_each == [[], to(team_id=teams[1]), to(team_id=teams[2])]
    reason = {
        "left the team": "team_left",
        "left": "member_removed",
        "became a viewer": "role_changed",
    }[how]
    assert workspace.events("artifacts.unassigned") == [
        {
            "artifact_ids": [str(artifacts[0])],
            "assignee_id": teams[0],
            "count": 1,
            "reason": reason,
        }
    ]
