"""What becomes of reviews of one's own tag sets when the organization disallows self-review."""

from collections.abc import Callable
from typing import Any

import pytest

from app.identity.organizations import service as organizations
from tests.factories.teams import create_team
from tests.factories.workspace import Workspace
from tests.workflow.review_queue.conftest import assign, list_items


def _allow(workspace: Workspace, allowed: bool) -> None:
    path = f"/organizations/{workspace.org.slug}"
    body = {"settings": {"allow_self_review": allowed}}
    assert workspace.org.api("owner").patch(path, json=body).status_code == 200


def test_reviews_of_own_tag_sets_return_to_the_pool(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    reviewer = str(workspace.org.users["reviewer"])
    team = create_team(workspace.org, "reviewer")
    _allow(workspace, True)
    assigned, claimed, by_team = (workspace.submitted(by="reviewer")["id"] for _ in range(3))
    other = workspace.submitted()["id"]
    assert assign(workspace, assigned, user_ids=[reviewer]).json["data"]["failed"] == 0
    assert assign(workspace, other, user_ids=[reviewer]).json["data"]["failed"] == 0
    assert assign(workspace, by_team, team_id=team).json["data"]["failed"] == 0
    claim = workspace.org.api("reviewer").post(f"/review-queue/{claimed}/claim")
    assert claim.status_code == 200, claim.json
    work()
    _allow(workspace, False)
    work()
    items = list_items(workspace)
    assert items[assigned]["assignee_id"] is None
    assert items[claimed]["claim"] is None
    assert items[by_team]["assignee_team_id"] is None
    assert items[other]["assignee_id"] == reviewer
    returned = {"escalated_ids": [], "reason": "self_review_disallowed"}
    assert workspace.events("reviews.returned") == [
        {"tag_set_ids": [assigned], "user_id": reviewer, "team_id": None, **returned},
        {"tag_set_ids": [by_team], "user_id": None, "team_id": team, **returned},
    ]


def test_self_review_that_is_allowed_again_keeps_its_reviews(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    reviewer = str(workspace.org.users["reviewer"])
    _allow(workspace, True)
    item = workspace.submitted(by="reviewer")["id"]
    assert assign(workspace, item, user_ids=[reviewer]).json["data"]["failed"] == 0
    _allow(workspace, False)
    _allow(workspace, True)
    work()
    assert list_items(workspace)[item]["assignee_id"] == reviewer


def test_an_assignment_reads_the_setting_that_is_in_force(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bulk assignment can begin before the setting changes, and go on for many batches."""
    reviewer = str(workspace.org.users["reviewer"])
    _allow(workspace, True)
    item = workspace.submitted(by="reviewer")["id"]
    lock = organizations.lock_self_review

    def disallow_first(caller: Any) -> bool:
        workspace.settings(allow_self_review=False)
        return lock(caller)

    monkeypatch.setattr(organizations, "lock_self_review", disallow_first)
    assert assign(workspace, item, user_ids=[reviewer]).json["data"]["failed"] == 1
    assert list_items(workspace)[item]["assignee_id"] is None
