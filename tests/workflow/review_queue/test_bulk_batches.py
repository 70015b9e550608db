"""What a filter of the queue finds is acted on in batches, each a transaction of its own."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.kit import bulk
from app.kit.ids import uuid7
from app.workflow.tag_sets.queries import deciding
from tests.factories.errors import check_error, check_invalid_field
from tests.factories.statements import record_statements
from tests.factories.teams import create_team, make_team
from tests.factories.workspace import Workspace
from tests.workflow.review_queue.by_filter import (
    ACTIONS,
    act,
    get_error_codes,
    list_changed_ids,
    list_event_item_ids,
    make_items,
    post,
    run_after_find,
)

Work = Callable[[], None]
pytestmark = pytest.mark.usefixtures("batches_of_three")


@pytest.mark.parametrize("what", ACTIONS)
def test_a_batch_takes_a_fixed_number_of_statements(
    workspace: Workspace, app: Flask, what: str
) -> None:
    taken = []
    for number in (3, 9):
        chosen = {"created_after": workspace.sql("SELECT now()")[0][0].isoformat()}
        make_items(workspace, number)
        with record_statements(app) as statements:
            assert act(workspace, what, number, filter=chosen)["succeeded"] == number
        taken.append(len(statements))
    # As by id, and one that asks whether the filter still finds them. A rejection also remembers
    # who is not to get the document again. An assignment reads the accounts again once it has
    # locked the memberships.
    assert (taken[1] - taken[0]) / 2 <= {"accept": 7, "reject": 8, "assign": 6}[what], taken


def test_the_most_urgent_is_accepted_where_no_more_are_wanted(workspace: Workspace) -> None:
    for name in ("second", "third", "fourth"):
        workspace.org.add_user(name, "labeler")
    names = ("labeler", "second", "third", "fourth")
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=4))
    sent = [workspace.submitted(artifact_id, by=name)["id"] for name in names]
    workspace.sql(
        "UPDATE schema_versions SET review_policy = review_policy || '{\"labels_per_artifact\": 2}'"
    )
    for rank, item in enumerate(reversed(sent)):
        workspace.sql("UPDATE tag_sets SET review_rank = :rank WHERE id = :id", rank=rank, id=item)
    assert get_error_codes(act(workspace, "accept", 4)) == dict.fromkeys(sent[:2], "conflict")
    assert list_changed_ids(workspace, "accept") == set(sent[2:])


def _broken_at(monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    calls: list[Any] = []
    change = deciding.update_tag_sets

    def act(*args: Any, **how: Any) -> None:
        calls.append(args)
        if len(calls) == batch:
            raise OperationalError("UPDATE tag_sets", None, Exception("no connection"))
        change(*args, **how)

    monkeypatch.setattr(deciding, "update_tag_sets", act)


def test_what_breaks_in_the_first_batch_leaves_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_items(workspace, 8)
    _broken_at(monkeypatch, 1)
    check_error(post(workspace, "accept", filter={}, expected_count=8), 503, "service_unavailable")
    assert list_changed_ids(workspace, "accept") == set()
    assert list_event_item_ids(workspace, "accept") == []


def test_an_error_in_a_later_batch_keeps_and_reports_the_earlier_ones(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = make_items(workspace, 8)
    _broken_at(monkeypatch, 2)
    result = act(workspace, "accept", 8)
    assert (result["matched"], result["succeeded"], result["failed"]) == (8, 3, 5)
    assert get_error_codes(result) == dict.fromkeys(ids[3:6], "service_unavailable")
    assert (
        list_changed_ids(workspace, "accept")
        == set(ids[:3])
        == set(list_event_item_ids(workspace, "accept"))
    )
    monkeypatch.undo()
    assert act(workspace, "accept", 5)["succeeded"] == 5


# --- assignment -------------------------------------------------------------------------------


def _list_assignee_ids(workspace: Workspace) -> list[str]:
    """To whom each item of the queue is assigned, in its order."""
    items = workspace.org.api("admin").get("/review-queue").json["data"]
    return [item["assignee_id"] for item in items]


def test_turns_go_on_from_batch_to_batch(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    for priority in (3, 9, 1, 7, 5, 8, 2, 6):
        workspace.submitted(workspace.artifact(schema_id, priority=priority))
    names = ("other", "reviewer", "admin")
    people = [str(workspace.org.users[name]) for name in names]
    assert act(workspace, "assign", 8, user_ids=people)["failed"] == 0
    assert _list_assignee_ids(workspace) == [people[turn % 3] for turn in range(8)]


def test_shares_even_out_over_all_batches(workspace: Workspace) -> None:
    own = make_items(workspace, 3, by="reviewer", priority=90)
    make_items(workspace, 4)
    people = [str(workspace.org.users[name]) for name in ("reviewer", "other")]
    result = act(workspace, "assign", 7, user_ids=people)
    assert (result["succeeded"], result["failed"]) == (7, 0)
    # The first batch went to one of them whole.
    assert _list_assignee_ids(workspace)[: len(own)] == [people[1]] * 3
    assert Counter(_list_assignee_ids(workspace)) == {people[0]: 4, people[1]: 3}


def test_a_team_gets_all_but_its_own(workspace: Workspace) -> None:
    team = create_team(workspace.org, "reviewer", "labeler")
    ids, own = make_items(workspace, 4), make_items(workspace, 1, by="reviewer")
    result = act(workspace, "assign", 5, team_id=team)
    assert get_error_codes(result) == dict.fromkeys(own, "conflict")
    events = workspace.events("reviews.assigned")
    assert [(one["team_id"], len(one["tag_set_ids"])) for one in events] == [(team, 3), (team, 1)]
    assert list_event_item_ids(workspace, "assign") == ids


def test_people_are_notified_once_of_all_batches(workspace: Workspace, work: Work) -> None:
    make_items(workspace, 8)
    other = workspace.org.users["other"]
    act(workspace, "assign", 8, user_ids=[str(other)])
    events = workspace.events("reviews.assigned")
    assert [len(event["tag_set_ids"]) for event in events] == [3, 3, 2]
    work()
    (notification,) = workspace.sql(
        "SELECT user_id, count FROM notifications WHERE user_id = :u", u=other
    )
    assert notification.count == 8


def test_nobody_is_notified_again_of_what_is_assigned_again(
    workspace: Workspace, work: Work
) -> None:
    ids = make_items(workspace, 4)
    people = {name: str(workspace.org.users[name]) for name in ("reviewer", "other")}
    team = create_team(workspace.org, "admin")
    for number in (2, 4, 4):
        body = {"tag_set_ids": ids[:number], "user_ids": [people["other"]]}
        assert post(workspace, "assign", **body).json["data"]["succeeded"] == number
    events = workspace.events("reviews.assigned")
    assert [event["tag_set_ids"] for event in events] == [ids[:2], ids[2:]]
    work()
    (notification,) = workspace.sql(
        "SELECT count FROM notifications WHERE user_id = :u", u=people["other"]
    )
    assert notification.count == 4
    for again in (False, True):
        assert act(workspace, "assign", 4, team_id=team)["succeeded"] == 4, again
    for again in (False, True):
        assert act(workspace, "assign", 4, user_ids=[people["reviewer"]])["succeeded"] == 4, again
    assert Counter(list_event_item_ids(workspace, "assign")) == dict.fromkeys(ids, 3)


@pytest.mark.parametrize("number", [0, 4])
def test_to_whom_nothing_is_assigned(workspace: Workspace, number: int) -> None:
    make_items(workspace, number)
    labeler = str(workspace.org.users["labeler"])
    for body, field in (
        ({"user_ids": [labeler]}, "user_ids.0"),
        ({"team_id": str(uuid7())}, "team_id"),
        ({"team_id": make_team(workspace.org)["id"]}, "team_id"),
    ):
        answer = post(workspace, "assign", filter={}, expected_count=number, **body)
        check_invalid_field(answer, field)
    assert list_changed_ids(workspace, "assign") == set()


def test_whoever_leaves_meanwhile_ends_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = make_items(workspace, 8)
    other = workspace.org.users["other"]
    checkpoint = bulk.db.checkpoint

    def leave() -> None:
        checkpoint()
        workspace.sql("UPDATE memberships SET role = 'labeler' WHERE user_id = :user", user=other)

    monkeypatch.setattr(bulk.db, "checkpoint", leave)
    result = act(workspace, "assign", 8, user_ids=[str(other)])
    assert (result["succeeded"], result["failed"]) == (3, 5)
    assert set(get_error_codes(result).values()) == {"validation_error"}
    assert (
        list_changed_ids(workspace, "assign")
        == set(ids[:3])
        == set(list_event_item_ids(workspace, "assign"))
    )


# --- at once ----------------------------------------------------------------------------------


def test_of_deciding_by_filter_at_once_each_item_has_one(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = make_items(workspace, 20)
    calls = (("accept", "reviewer"), ("accept", "other"), ("reject", "admin"))
    barrier = Barrier(len(calls))
    # All have counted before one begins.
    run_after_find(monkeypatch, lambda: barrier.wait(timeout=10))
    with ThreadPoolExecutor(len(calls)) as pool:
        results = list(pool.map(lambda call: act(workspace, call[0], 20, call[1]), calls))
    assert sum(result["succeeded"] for result in results) == 20
    failed = [code for result in results for code in get_error_codes(result).values()]
    assert failed == ["conflict"] * 40
    decided = list_event_item_ids(workspace, "accept") + list_event_item_ids(workspace, "reject")
    assert sorted(decided) == sorted(ids)
    for item_id in ids:
        assert [r.number for r in workspace.revisions(item_id)] == [2]
