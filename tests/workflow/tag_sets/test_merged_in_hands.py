"""Merges of what other reviewers have in hands."""

from threading import Thread
from typing import Any

import pytest
from sqlalchemy import text

from app.kit import db, tenancy
from tests.factories.orgs import get_data
from tests.factories.queueing import wait_for_blocked_transaction
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import accept, get_tag_set
from tests.workflow.tag_sets.merges import merge, submit_all

A = tag("number", "A")


@pytest.fixture
def sets(workspace: Workspace) -> list[dict[str, Any]]:
    """Two that wait, and a second reviewer."""
    workspace.org.add_user("other", "reviewer")
    return submit_all(workspace, [A], [A])


def _claim(workspace: Workspace, tag_set: dict[str, Any], by: str) -> None:
    get_data(workspace.org.api(by).post(f"/review-queue/{tag_set['id']}/claim", json={}))


def _assign(workspace: Workspace, tag_set: dict[str, Any], name: str) -> None:
    body = {"tag_set_ids": [tag_set["id"]], "user_ids": [str(workspace.org.users[name])]}
    get_data(workspace.org.api("admin").post("/review-queue/bulk-assign", json=body))


def _claim_or_assign(workspace: Workspace, tag_set: dict[str, Any], how: str) -> None:
    (_claim if how == "claim" else _assign)(workspace, tag_set, "other")


@pytest.mark.parametrize("how", ["claim", "assignee_id"])
@pytest.mark.parametrize("at_once", [True, False])
def test_what_another_reviewer_has_is_not_taken_from_them(
    workspace: Workspace, sets: list[dict[str, Any]], how: str, at_once: bool
) -> None:
    merged = None if at_once else merge(workspace, sets).json["data"]
    _claim_or_assign(workspace, sets[1], how)

    def settle(by: str) -> Any:
        if merged is None:
            return merge(workspace, sets, by=by, accept=True)
        return accept(workspace, merged, by=by)

    refused = settle("reviewer")
    assert refused.status_code == 409
    details = refused.json["error"]["details"]
    assert details["tag_set_id"] == sets[1]["id"]
    assert str(workspace.org.users["other"]) in str(details[how])
    assert [get_tag_set(workspace, tag_set)["status"] for tag_set in sets] == ["submitted"] * 2
    assert workspace.events("tag_set.accepted") == []
    assert settle("other").status_code in (200, 201)
    assert [get_tag_set(workspace, tag_set)["status"] for tag_set in sets] == ["rejected"] * 2


def test_a_merge_that_waits_takes_nothing_from_anybody(
    workspace: Workspace, sets: list[dict[str, Any]]
) -> None:
    _claim(workspace, sets[0], "other")
    assert merge(workspace, sets).status_code == 201
    assert accept(workspace, sets[0], by="other").status_code == 200


def test_an_admin_takes_what_is_assigned(workspace: Workspace, sets: list[dict[str, Any]]) -> None:
    _assign(workspace, sets[0], "other")
    assert merge(workspace, sets, by="admin", accept=True).status_code == 201


def test_sources_are_locked_before_their_merge(
    workspace: Workspace, sets: list[dict[str, Any]]
) -> None:
    """In the order of their ids, as by whoever assigns many reviews: no deadlock."""
    merged = merge(workspace, sets).json["data"]
    lock = "SELECT FROM tag_sets WHERE id = :id FOR NO KEY UPDATE"
    answers: list[Any] = []

    with workspace.org.app.app_context(), tenancy.organization(workspace.org.id):
        with db.transaction() as session:
            session.execute(text(lock), {"id": sets[0]["id"]})
            accepting = Thread(target=lambda: answers.append(accept(workspace, merged)))
            accepting.start()
            wait_for_blocked_transaction(workspace.org.app)
            session.execute(text(f"{lock} NOWAIT"), {"id": merged["id"]})
        accepting.join(60)
    assert [answer.status_code for answer in answers] == [200]
