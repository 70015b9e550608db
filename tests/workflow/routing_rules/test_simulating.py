"""Simulation: the verdict, the way to it, and that nothing comes of it."""

from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.routing import Router, where
from tests.factories.workspace import Workspace


def test_each_rule_says_why(router: Router) -> None:
    off = router.rule(name="off", priority=1, enabled=False)
    miss = router.rule(
        where("page_count", "greater_than", 10), where("name", "exists"), name="miss", priority=2
    )
    hit = router.rule(
        where("name", "starts_with", "INV"), name="hit", user_id=str(router.org.users["labeler"])
    )
    late = router.rule(name="late", priority=3)
    artifact_id = router.workspace.artifact()
    (told,) = router.simulate(artifact_ids=[str(artifact_id)])
    assert (told["artifact_id"], told["name"]) == (str(artifact_id), "invoice.txt")
    assert told["waiting"]
    assert told["matched"] == [{"rule_id": hit["id"], "name": "hit"}]
    assert told["outcome"] == {
        "team_id": None,
        "user_id": str(router.org.users["labeler"]),
        "strategy": None,
        "note": None,
        "priority": None,
        "due_in_hours": None,
        "schema_id": None,
    }
    shown = {rule["rule_id"]: rule for rule in told["rules"]}
    assert [rule["position"] for rule in told["rules"]] == [1, 2, 3, 4]
    assert shown[off["id"]]["skipped_because"] == "disabled"
    assert shown[late["id"]]["skipped_because"] == "stopped"
    assert shown[off["id"]]["conditions"] is shown[late["id"]]["conditions"] is None
    assert shown[miss["id"]]["conditions"] == {
        "all": [
            {**where("page_count", "greater_than", 10), "actual": 2, "matched": False},
            {**where("name", "exists"), "actual": "invoice.txt", "matched": True},
        ],
        "matched": False,
    }
    assert shown[hit["id"]]["matched"]
    assert shown[hit["id"]]["skipped_because"] is None


def test_it_says_what_routing_then_does_and_changes_nothing(router: Router) -> None:
    team = router.team("ann", "ben")
    router.rule(where("name", "equals", "a"), team_id=team, strategy="round_robin", stop=False)
    router.rule(priority=66, due_in_hours=3)
    ids = [router.workspace.artifact(name=name) for name in "aab"]
    before = router.rules()
    for _ in range(2):
        told = router.simulate(artifact_ids=[str(item_id) for item_id in ids])
        assert router.rules() == before
        assert [router.get_assignee(item_id) for item_id in ids] == [None] * 3
    router.route(*ids)
    for one, artifact_id in zip(told, ids, strict=True):
        artifact = router.artifact(artifact_id)
        given = [{"user_id": one["outcome"]["user_id"], "team_id": None}]
        assert artifact["assignees"] == (given if one["name"] == "a" else [])
        assert artifact["priority"] == one["outcome"]["priority"] == 66
    assert told[0]["outcome"]["user_id"] != told[1]["outcome"]["user_id"]
    again = router.simulate(artifact_ids=[str(item_id) for item_id in ids])
    assert [document["waiting"] for document in again] == [False, False, True]


def test_documents_that_are_not_there_and_rules_that_are_not_saved(router: Router) -> None:
    router.rule(name="saved", priority=1)
    schema, team = str(router.workspace.schema()), router.team("ann")
    document = {
        "name": "A.pdf",
        "media_type": "application/pdf",
        "language": "de",
        "page_count": 3,
        "size_bytes": 2**40,
        "connector_id": str(uuid7()),
        "schema_id": schema,
        "metadata": {"vendor": "ACME"},
        "text": "x" * 900 + " needle " + "y" * 900,
        "confidence": 0.5,
    }
    asked = [
        where("media_type", "in", ["application/pdf"]),
        where("language", "equals", "DE"),
        where("size_bytes", "at_least", 2**40),
        where("connector_id", "equals", document["connector_id"]),
        where("schema_id", "equals", schema),
        where("metadata.vendor", "equals", "acme"),
        where("text", "matches", "n..dle"),
        where("confidence", "at_most", 0.5),
    ]
    rules = [
        {"name": "tried", "conditions": {"all": asked}, "action": {"team_id": team}},
        {"name": "after", "action": {"priority": 1}},
    ]
    told, empty = router.simulate(documents=[document, {}], rules=rules)
    assert told["matched"] == [{"rule_id": None, "name": "tried"}]
    assert told["outcome"]["team_id"] == team
    (tree, _) = [rule["conditions"] for rule in told["rules"]]
    assert all(one["matched"] for one in tree["all"])
    text = tree["all"][6]["actual"]
    assert "needle" in text
    assert len(text) <= 200
    assert empty["matched"] == [{"rule_id": None, "name": "after"}]
    (saved,) = router.simulate(documents=[document])
    assert [one["name"] for one in saved["matched"]] == ["saved"]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 422, "artifact_ids"),
        ({"artifact_ids": [], "documents": []}, 422, "artifact_ids"),
        ({"documents": [{}] * 21}, 422, "documents"),
        ({"artifact_ids": ["x"]}, 422, "artifact_ids.0"),
        ({"documents": [{"colour": "red"}]}, 422, "documents.0.colour"),
        ({"documents": [{}], "rules": [{"name": "x"}]}, 422, "rules.0.action"),
        (
            {"documents": [{}], "rules": [{"name": "x", "action": {"strategy": "skills"}}]},
            400,
            "rules.0.action.strategy",
        ),
        (
            {
                "documents": [{}],
                "rules": [
                    {
                        "name": "x",
                        "action": {"priority": 1},
                        "conditions": {"any": [where("name", "equals", 1)]},
                    }
                ],
            },
            400,
            "rules.0.conditions.any.0.value",
        ),
    ],
    ids=lambda one: str(one)[:50],
)
def test_what_is_refused(router: Router, body: dict[str, Any], status: int, field: str) -> None:
    answer = router.org.api("admin").post("/routing-rules/simulate", json=body)
    assert answer.status_code == status
    assert answer.json["error"]["field"] == field


def test_documents_of_others_are_none(router: Router, other_org: Org) -> None:
    mine, theirs = router.workspace.artifact(), Workspace(other_org).artifact()
    answers = [
        router.org.api("admin").post(
            "/routing-rules/simulate", json={"artifact_ids": [str(mine), str(one)]}
        )
        for one in (theirs, uuid7())
    ]
    assert [answer.status_code for answer in answers] == [400, 400]
    assert answers[0].json["error"]["field"] == "artifact_ids.1"
    assert answers[0].data == answers[1].data


def test_an_answer_stays_within_bounds(router: Router) -> None:
    many = {"any": [where("name", "exists")] * 100}
    rule = {"name": "x", "conditions": many, "action": {"priority": 1}, "stop": False}
    body = {"documents": [{}] * 20, "rules": [rule] * 30}
    refused = router.org.api("admin").post("/routing-rules/simulate", json=body)
    assert refused.status_code == 400
    assert refused.json["error"]["details"] == {"at_most": 16}
    assert len(router.simulate(**{**body, "documents": [{}] * 16})) == 16


def test_many_rules_are_tried_as_one_by_one(router: Router) -> None:
    """Rules are looked up by what documents have; each explanation looks at its rule itself."""
    conditions = [
        [where("name", "in", ["A", "b"])],
        [where("name", "equals", "a"), where("page_count", "at_least", 2)],
        [where("metadata.v", "equals", "X")],
        [where("metadata.v", "not_equals", "x")],
        [{"any": [where("name", "equals", "b"), where("metadata.v", "equals", 1)]}],
        [],
    ]
    rules = [
        {"name": str(i), "conditions": {"all": c}, "action": {"priority": 1}, "stop": False}
        for i, c in enumerate(conditions)
    ]
    documents = [
        {"name": name, "page_count": pages, "metadata": {} if v is None else {"v": v}}
        for name, pages, v in (
            ("a", 1, "x"),
            ("A", 2, 1),
            ("b", 2, None),
            ("c", 1, "X"),
            (None, 1, 1),
        )
    ]
    told = router.simulate(documents=documents, rules=rules)
    found = [[one["name"] for one in document["matched"]] for document in told]
    assert found == [list("025"), list("01345"), list("0345"), list("25"), list("345")]
    for document in told:
        explained = [rule["name"] for rule in document["rules"] if rule["matched"]]
        assert explained == [one["name"] for one in document["matched"]]
