"""Documents that rules route: which, to whom, how often; when they come in and when asked."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.kit import db
from app.kit.jobs import LostLease
from app.workflow.routing_rules.service import routing
from tests.factories.routing import Router, where
from tests.factories.statements import record_statements
from tests.factories.workspace import tag
from tests.workflow.actions import reject


def _create(router: Router, **body: Any) -> str:
    """A document that comes in over the API."""
    api = router.org.api("labeler")
    answer = api.post("/artifacts", json={"name": "a.txt", "text": f"Text {body}", **body})
    assert answer.status_code == 201, answer.json
    return str(answer.json["data"]["id"])


def _set_schema(router: Router, artifact_id: Any, schema_id: Any) -> None:
    router.workspace.sql(
        "UPDATE artifacts SET schema_id = :schema_id WHERE id = :id",
        schema_id=schema_id,
        id=artifact_id,
    )


def test_what_comes_in_goes_where_the_first_matching_rule_says(
    router: Router, work: Callable[[], None]
) -> None:
    team, schema = router.team("ann"), str(router.workspace.schema())
    labeler = str(router.org.users["labeler"])
    bills = router.rule(
        where("metadata.kind", "equals", "bill"), team_id=team, priority=90, due_in_hours=48
    )
    rest = router.rule(where("name", "exists"), user_id=labeler, schema_id=schema)
    bill = _create(router, metadata={"kind": "Bill"})
    other = _create(router, metadata={"kind": "letter"})
    before = db.utc_now()
    work()
    artifact = router.artifact(bill)
    assert artifact["assignees"] == [{"user_id": None, "team_id": team}]
    assert (artifact["priority"], artifact["schema_id"]) == (90, None)
    hours = datetime.fromisoformat(artifact["due_at"]) - before
    assert timedelta(hours=47) < hours < timedelta(hours=49)
    artifact = router.artifact(other)
    assert artifact["assignees"] == [{"user_id": labeler, "team_id": None}]
    assert (artifact["priority"], artifact["due_at"], artifact["schema_id"]) == (50, None, schema)
    assert router.read(bills)["match_count"] == router.read(rest)["match_count"] == 1
    assert router.read(rest)["last_matched_at"] is not None
    assert router.read(rest)["revision"] == rest["revision"]
    events = router.workspace.events("artifacts.assigned")
    assert sorted(
        artifact_id for event in events for artifact_id in event["artifact_ids"]
    ) == sorted([bill, other])
    assert {team_id for event in events for team_id in event["team_ids"]} == {team}
    assert {user_id for event in events for user_id in event["user_ids"]} == {labeler}
    assert all(event["by"] is None for event in events)


def test_a_batch_emits_one_event(router: Router) -> None:
    team = router.team("ann", "ben")
    router.rule(team_id=team, strategy="round_robin", due_in_hours=1)
    ids = [router.workspace.artifact() for _ in range(4)]
    assert router.route(*ids) == 4
    (event,) = router.workspace.events("artifacts.assigned")
    assert event["count"] == 4
    assert set(event["counts"].values()) == {2}
    assert sorted(event["artifact_ids"]) == sorted(map(str, ids))
    assert sorted(event["user_ids"]) == sorted(str(router.org.users[n]) for n in ("ann", "ben"))
    assert event["due_at"] == router.artifact(ids[0])["due_at"].replace("Z", "+00:00")


def test_without_a_matching_rule_documents_stay_in_the_pool(router: Router) -> None:
    router.rule(where("name", "starts_with", "x"), user_id=str(router.org.users["labeler"]))
    router.rule(user_id=str(router.org.users["labeler"]), enabled=False)
    artifact_id = router.workspace.artifact()
    assert router.route(artifact_id) == 0
    assert router.get_assignee(artifact_id) is None
    assert router.workspace.events("artifacts.assigned") == []


def test_rules_that_do_not_stop_go_on_and_later_ones_stand_over_them(router: Router) -> None:
    team = router.team("ann")
    first = router.rule(
        team_id=team, priority=10, due_in_hours=5, stop=False, strategy="round_robin"
    )
    router.rule(where("name", "equals", "other"), priority=99, stop=False)
    second = router.rule(user_id=str(router.org.users["labeler"]), priority=70)
    last = router.rule(priority=1)
    artifact_id = router.workspace.artifact()
    router.route(artifact_id)
    assert router.get_assignee(artifact_id) == "labeler"
    artifact = router.artifact(artifact_id)
    assert artifact["priority"] == 70
    assert artifact["due_at"] is not None
    counts = [router.read(rule)["match_count"] for rule in (first, second, last)]
    assert counts == [1, 1, 0]
    # Nobody's turn was taken by a rule that another one stood over.
    (row,) = router.workspace.sql(
        "SELECT cursor_user_id FROM routing_rules WHERE id = :i", i=first["id"]
    )
    assert row.cursor_user_id is None


def test_what_somebody_has_set_is_left_alone(router: Router, work: Callable[[], None]) -> None:
    router.rule(user_id=str(router.org.users["labeler"]), priority=90)
    by_hand = [{"user_id": str(router.org.users["reviewer"]), "team_id": None}]
    ids = [
        router.workspace.artifact(assignees=by_hand),
        router.workspace.artifact(archived=True),
        router.workspace.artifact(status="in_progress"),
        router.workspace.artifact(status="done"),
    ]
    assert router.route(*ids) == 0
    assert router.apply() == 0
    assert router.get_assignee(ids[0]) == "reviewer"
    assert {router.artifact(item_id)["priority"] for item_id in ids} == {50}


def test_routing_twice_is_routing_once(router: Router) -> None:
    rule = router.rule(priority=90, stop=False)
    artifact_id = router.workspace.artifact()
    assert router.route(artifact_id, artifact_id) == 1
    router.workspace.sql("UPDATE artifacts SET priority = 5 WHERE id = :i", i=str(artifact_id))
    assert router.route(artifact_id) == 0
    assert router.artifact(artifact_id)["priority"] == 5
    assert router.read(rule)["match_count"] == 1
    # Asked for, it is done again; the document still counts once.
    assert router.apply() == 1
    assert router.artifact(artifact_id)["priority"] == 90
    assert router.read(rule)["match_count"] == 1


def test_documents_that_are_gone_are_passed_over(router: Router) -> None:
    router.rule(priority=90)
    artifact_id = router.workspace.artifact()
    router.workspace.sql("DELETE FROM artifacts WHERE id = :i", i=str(artifact_id))
    assert router.route(artifact_id) == 0


def test_a_document_with_label_sets_keeps_its_schema(router: Router) -> None:
    first, second = router.workspace.schema(), router.workspace.schema()
    router.rule(schema_id=str(second), priority=60)
    sent = router.workspace.submitted(router.workspace.artifact(first))
    assert reject(router.workspace, sent, send_to="pool").status_code == 200
    router.workspace.sql(
        "UPDATE artifacts SET status = 'ready' WHERE id = :i", i=sent["artifact_id"]
    )
    fresh = router.workspace.artifact(first)
    assert router.apply() == 2
    assert router.artifact(sent["artifact_id"])["schema_id"] == str(first)
    assert router.artifact(sent["artifact_id"])["priority"] == 60
    assert router.artifact(fresh)["schema_id"] == str(second)


def test_text_and_confidence_are_asked_for_where_rules_do(router: Router) -> None:
    workspace = router.workspace
    schema = workspace.schema()
    router.rule(where("text", "contains", "urgent"), priority=90)
    router.rule(where("confidence", "less_than", 0.5), priority=10)
    router.rule(where("confidence", "not_exists"), priority=20)
    urgent = workspace.artifact(schema, text="An URGENT letter")
    doubtful, sure, unlabeled = (workspace.artifact(schema) for _ in range(3))
    older = [tag("number", "A", confidence=0.1)]
    for artifact_id, confidences in ((doubtful, [0.9, 0.4]), (sure, [0.9, None])):
        for tags in (older, [tag("x", "A", confidence=confidence) for confidence in confidences]):
            workspace.predict(artifact_id, tags)
    router.route(urgent, doubtful, sure, unlabeled)
    priorities = [router.artifact(one)["priority"] for one in (urgent, doubtful, sure, unlabeled)]
    assert priorities == [90, 10, 50, 20]


def test_a_prediction_for_another_schema_does_not_count_as_confidence(router: Router) -> None:
    workspace = router.workspace
    schema, earlier_schema = workspace.schema(), workspace.schema()
    router.rule(where("confidence", "less_than", 0.5), priority=10)
    router.rule(where("confidence", "not_exists"), priority=20)
    only_earlier, both = (workspace.artifact(schema) for _ in range(2))
    workspace.predict(both, [tag("x", "A", confidence=0.9)])
    for artifact_id in (only_earlier, both):
        _set_schema(router, artifact_id, earlier_schema)
        workspace.predict(artifact_id, [tag("x", "A", confidence=0.1)])
        _set_schema(router, artifact_id, schema)
    router.route(only_earlier, both)
    assert [router.artifact(one)["priority"] for one in (only_earlier, both)] == [20, 50]


def test_all_that_waits_is_routed_when_asked(router: Router, work: Callable[[], None]) -> None:
    ids = [router.workspace.artifact() for _ in range(3)]
    user = str(router.org.users["labeler"])
    router.rule(user_id=user)
    work()
    assert [router.get_assignee(item_id) for item_id in ids] == [None] * 3
    router.rule(where("name", "exists"), user_id=str(router.org.users["reviewer"]), apply=True)
    work()
    assert [router.get_assignee(item_id) for item_id in ids] == ["labeler"] * 3
    assert [rule["match_count"] for rule in router.rules()] == [3, 0]


def test_a_change_or_a_new_order_can_ask_for_it_too(
    router: Router, work: Callable[[], None]
) -> None:
    first = router.rule(where("name", "equals", "x"), priority=1)
    second = router.rule(where("name", "equals", "x"), priority=2)
    router.workspace.artifact(name="x")
    api = router.org.api("admin")
    body = {"rule_ids": [second["id"], first["id"]], "apply": True}
    assert api.post("/routing-rules/reorder", json=body).status_code == 200
    work()
    assert router.read(second)["match_count"] == 1
    path = f"/routing-rules/{second['id']}"
    assert api.patch(path, json={"enabled": False, "apply": True}).status_code == 200
    work()
    assert router.read(first)["match_count"] == 1
    assert [event["by"] for event in router.workspace.events("routing.requested")] == [
        str(router.org.users["admin"])
    ] * 2


def test_what_was_done_stands_when_it_is_broken_off(router: Router, monkeypatch: Any) -> None:
    monkeypatch.setattr(routing, "BATCH_SIZE", 2)
    team = router.team("ann", "ben")
    rule = router.rule(team_id=team, strategy="round_robin")
    ids = [router.workspace.artifact() for _ in range(7)]

    done = []

    def checkpoint() -> None:
        db.checkpoint()
        done.append(1)
        if len(done) == 2:
            raise LostLease

    with pytest.raises(LostLease), router.workspace.transaction():
        routing.route_unassigned(checkpoint)
    assert [router.get_assignee(item_id) is not None for item_id in ids] == [True] * 4 + [False] * 3
    assert router.apply() == 3
    given = [router.get_assignee(item_id) for item_id in ids]
    assert abs(given.count("ann") - given.count("ben")) == 1
    assert router.read(rule)["match_count"] == 7


def test_a_batch_takes_a_few_statements_whatever_its_size(router: Router, app: Flask) -> None:
    team = router.team("ann", "ben")
    for strategy in ("round_robin", "least_loaded", "skills"):
        router.rule(where("name", "contains", strategy), team_id=team, strategy=strategy)
    for _ in range(10):
        router.rule(where("metadata.never", "exists"), priority=1)
    counts = []
    for number in (1, 30):
        ids = [
            router.workspace.artifact(
                name=f"{('round_robin', 'least_loaded', 'skills')[i % 3]} {i}"
            )
            for i in range(3 * number)
        ]
        with record_statements(app) as sent:
            assert router.route(*ids) == len(ids)
        counts.append(len(sent))
    assert counts[0] == counts[1] <= 16, counts
