"""Merges of what other reviewers have in hands."""

from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest
from sqlalchemy import text

from app.kit import db, tenancy
from tests.factories.desk import Desk, tag
from tests.workflow.tag_sets.test_merging import _merge, _sets, _status

A = tag("number", "A")


@pytest.fixture
def sets(desk: Desk) -> list[dict[str, Any]]:
    """Two that wait, and a second reviewer."""
    desk.org.add_user("other", "reviewer")
    return _sets(desk, [A], [A])


def _claim(desk: Desk, tag_set: dict[str, Any], by: str) -> None:
    answer = desk.org.api(by).post(f"/review-queue/{tag_set['id']}/claim", json={})
    assert answer.status_code == 200, answer.json


def _assign(desk: Desk, tag_set: dict[str, Any], name: str) -> None:
    body = {"tag_set_ids": [tag_set["id"]], "user_ids": [str(desk.org.users[name])]}
    answer = desk.org.api("admin").post("/review-queue/bulk-assign", json=body)
    assert answer.status_code == 200, answer.json


def _in_hands(desk: Desk, tag_set: dict[str, Any], how: str) -> None:
    (_claim if how == "claim" else _assign)(desk, tag_set, "other")


@pytest.mark.parametrize("how", ["claim", "assignee_id"])
@pytest.mark.parametrize("at_once", [True, False])
def test_what_another_reviewer_has_is_not_taken_from_them(
    desk: Desk, sets: list[dict[str, Any]], how: str, at_once: bool
) -> None:
    made = None if at_once else _merge(desk, sets).json["data"]
    _in_hands(desk, sets[1], how)

    def settle(by: str) -> Any:
        if made is None:
            return _merge(desk, sets, by=by, accept=True)
        return desk.org.api(by).post(f"/tag-sets/{made['id']}/accept", json={})

    refused = settle("reviewer")
    assert refused.status_code == 409
    details = refused.json["error"]["details"]
    assert details["tag_set_id"] == sets[1]["id"]
    assert str(desk.org.users["other"]) in str(details[how])
    assert [_status(desk, one)["status"] for one in sets] == ["submitted", "submitted"]
    assert desk.events("tag_set.accepted") == []
    assert settle("other").status_code in (200, 201)
    assert [_status(desk, one)["status"] for one in sets] == ["rejected", "rejected"]


def test_a_merge_that_waits_takes_nothing_from_anybody(
    desk: Desk, sets: list[dict[str, Any]]
) -> None:
    _claim(desk, sets[0], "other")
    assert _merge(desk, sets).status_code == 201
    accepted = desk.org.api("other").post(f"/tag-sets/{sets[0]['id']}/accept", json={})
    assert accepted.status_code == 200


def test_an_admin_takes_what_is_assigned(desk: Desk, sets: list[dict[str, Any]]) -> None:
    _assign(desk, sets[0], "other")
    assert _merge(desk, sets, by="admin", accept=True).status_code == 201


def test_sources_are_locked_before_their_merge(desk: Desk, sets: list[dict[str, Any]]) -> None:
    """In the order of their ids, as by whoever assigns many reviews: no deadlock."""
    made = _merge(desk, sets).json["data"]
    lock = "SELECT FROM tag_sets WHERE id = :id FOR NO KEY UPDATE"
    answers: list[Any] = []

    def accept() -> None:
        path = f"/tag-sets/{made['id']}/accept"
        answers.append(desk.org.api("reviewer").post(path, json={}))

    with desk.org.app.app_context(), tenancy.organization(desk.org.id):
        with db.transaction() as held:
            held.execute(text(lock), {"id": sets[0]["id"]})
            accepting = Thread(target=accept)
            accepting.start()
            _until_somebody_waits(desk)
            held.execute(text(f"{lock} NOWAIT"), {"id": made["id"]})
        accepting.join(60)
    assert [answer.status_code for answer in answers] == [200]


def _until_somebody_waits(desk: Desk) -> None:
    waiting = "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
    deadline = monotonic() + 8.0
    with desk.org.app.app_context(), db.engine().connect() as beside:
        while beside.execute(text(waiting)).first() is None:
            assert monotonic() < deadline, "nobody waits"
            beside.rollback()
            sleep(0.01)
