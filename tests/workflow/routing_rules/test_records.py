"""Rules as records: what is taken and refused, their order, what they lose."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_conflict, check_error, check_invalid_field, check_stale
from tests.factories.routing import Router, where
from tests.factories.teams import make_team


def _order(router: Router) -> list[str]:
    rules = router.rules()
    assert [rule["position"] for rule in rules] == list(range(1, len(rules) + 1))
    return [rule["name"] for rule in rules]


def test_a_rule_is_created_read_changed_and_deleted(router: Router) -> None:
    team, schema = router.team("ann"), str(router.workspace.schema())
    action = {"team_id": team, "strategy": "round_robin", "priority": 80, "due_in_hours": 24}
    rule = router.rule(where("name", "ends_with", ".pdf"), **action, schema_id=schema)
    assert rule["conditions"] == {"all": [where("name", "ends_with", ".pdf")]}
    assert rule["action"] == {**action, "user_id": None, "schema_id": schema}
    assert (rule["enabled"], rule["stop"], rule["position"]) == (True, True, 1)
    assert (rule["match_count"], rule["last_matched_at"]) == (0, None)
    assert rule["disabled_reason"] is None
    assert router.read(rule) == rule
    path = f"/routing-rules/{rule['id']}"
    api = router.org.api("admin")
    body = {"name": "New", "action": {"priority": 1}, "conditions": {}, "stop": False}
    changed = api.patch(path, json={**body, "revision": rule["revision"]}).json["data"]
    assert changed["name"] == "New"
    assert changed["conditions"] == {"all": []}
    assert changed["action"] == {**dict.fromkeys(rule["action"]), "priority": 1}
    assert changed["revision"] == rule["revision"] + 1
    stale = api.patch(path, json={"name": "Old", "revision": rule["revision"]})
    check_stale(stale, changed["revision"])
    assert api.delete(path, headers={"If-Match": '"1"'}).status_code == 409
    assert api.delete(path).status_code == 204
    assert api.get(path).status_code == 404
    assert api.delete(path).status_code == 404
    assert api.patch(path, json={"name": "x"}).status_code == 404


def test_a_change_of_nothing_leaves_the_revision(router: Router) -> None:
    rule = router.rule(priority=1)
    again = router.org.api("admin").patch(f"/routing-rules/{rule['id']}", json={"name": "Rule"})
    assert again.json["data"]["revision"] == rule["revision"]


@pytest.mark.parametrize("role", ["viewer", "labeler", "reviewer"])
def test_who_may(router: Router, role: str) -> None:
    rule = router.rule(priority=1)
    api, path = router.org.api(role), f"/routing-rules/{rule['id']}"
    assert api.get("/routing-rules").status_code == 200
    assert api.get(path).status_code == 200
    for answer in (
        api.post("/routing-rules", json={"name": "x", "action": {"priority": 1}}),
        api.patch(path, json={"name": "x"}),
        api.delete(path),
        api.post("/routing-rules/reorder", json={"rule_ids": [rule["id"]]}),
        api.post("/routing-rules/simulate", json={"documents": []}),
    ):
        assert answer.json["error"]["code"] == "insufficient_role"


@pytest.mark.parametrize(
    ("conditions", "field"),
    [
        ([], "conditions"),
        ({"every": []}, "conditions.every"),
        ({"all": [], "any": []}, "conditions"),
        ({"all": {}}, "conditions.all"),
        ({"all": [{"attribute": "name"}]}, "conditions.all.0.operator"),
        ({"all": [{"attribute": 1, "operator": "exists"}]}, "conditions.all.0.attribute"),
        ({"all": [{**where("name", "exists"), "x": 1}]}, "conditions.all.0.x"),
        ({"all": [{"any": ["x"]}]}, "conditions.all.0.any.0"),
        ({"all": [where("name", "equals", "a\x00")]}, "conditions"),
    ],
    ids=str,
)
def test_conditions_of_a_wrong_shape(router: Router, conditions: Any, field: str) -> None:
    body = {"name": "x", "conditions": conditions, "action": {"priority": 1}}
    answer = router.org.api("admin").post("/routing-rules", json=body)
    check_error(answer, 422, "unprocessable", field=field)
    assert router.rules() == []


@pytest.mark.parametrize(
    ("conditions", "field"),
    [
        ([where("colour", "exists")], "conditions.all.0.attribute"),
        ([where("name", "exists"), where("name", "is", "x")], "conditions.all.1.operator"),
        ([where("page_count", "equals", "x")], "conditions.all.0.value"),
        ([where("name", "matches", "(")], "conditions.all.0.value"),
        ([where("name", "in", ["x", 1])], "conditions.all.0.value.1"),
        ([{"any": [where("name", "exists")] * 101}], "conditions.all.0.any"),
        ([{"any": [where("name", "exists")] * 60}] * 2, "conditions"),
    ],
    ids=lambda one: str(one)[:40],
)
def test_conditions_that_break_a_rule(
    router: Router, conditions: list[dict[str, Any]], field: str
) -> None:
    check_invalid_field(router.send(*conditions, priority=1), field)


def test_actions_that_break_a_rule(router: Router, other_org: Org) -> None:
    team, viewer = router.team("ann"), str(router.org.users["viewer"])
    foreign = make_team(other_org)["id"]
    ann = str(router.org.users["ann"])
    for action, status, field in (
        ({}, 400, "action"),
        ({"strategy": "skills"}, 400, "action.strategy"),
        ({"user_id": ann, "strategy": "skills"}, 400, "action.strategy"),
        ({"user_id": viewer, "team_id": team}, 400, "action.user_id"),
        ({"user_id": viewer}, 400, "action.user_id"),
        ({"user_id": str(other_org.users["labeler"])}, 400, "action.user_id"),
        ({"user_id": str(uuid7())}, 400, "action.user_id"),
        ({"team_id": foreign}, 400, "action.team_id"),
        ({"schema_id": str(uuid4())}, 400, "action.schema_id"),
        ({"priority": 101}, 422, "action.priority"),
        ({"due_in_hours": -1}, 422, "action.due_in_hours"),
        ({"strategy": "random"}, 422, "action.strategy"),
        ({"to": 1}, 422, "action.to"),
    ):
        answer = router.send(**action)
        assert answer.status_code == status, action
        assert answer.json["error"]["field"] == field
    assert router.rules() == []


def test_positions_stay_dense(router: Router) -> None:
    for name in "abc":
        router.rule(name=name, priority=1)
    router.rule(name="d", position=2, priority=1)
    assert _order(router) == ["a", "d", "b", "c"]
    router.rule(name="e", position=99, priority=1)
    assert _order(router) == ["a", "d", "b", "c", "e"]
    rules = {rule["name"]: rule for rule in router.rules()}
    api = router.org.api("admin")
    moved = api.patch(f"/routing-rules/{rules['c']['id']}", json={"position": 1})
    assert moved.json["data"]["position"] == 1
    assert _order(router) == ["c", "a", "d", "b", "e"]
    assert api.delete(f"/routing-rules/{rules['a']['id']}").status_code == 204
    assert _order(router) == ["c", "d", "b", "e"]
    assert [rule["revision"] for rule in router.rules()] == [2, 1, 1, 1]


def test_only_one_of_two_moves_succeeds(router: Router) -> None:
    rule = router.rule(name="a", priority=1)
    for name in "bc":
        router.rule(name=name, priority=1)
    api, path = router.org.api("admin"), f"/routing-rules/{rule['id']}"
    moved = api.patch(path, json={"position": 99, "revision": rule["revision"]})
    assert moved.json["data"]["revision"] == rule["revision"] + 1
    stale = api.patch(path, json={"position": 2, "revision": rule["revision"]})
    assert (stale.status_code, stale.json["error"]["code"]) == (409, "stale_precondition")
    assert _order(router) == ["b", "c", "a"]
    again = api.patch(path, json={"position": 3})
    assert again.json["data"]["revision"] == rule["revision"] + 1


def test_the_order_is_set_as_a_whole(router: Router, other_org: Org) -> None:
    ids = {name: router.rule(name=name, priority=1)["id"] for name in "abc"}
    api = router.org.api("admin")

    def reorder(*wanted: str) -> Any:
        return api.post("/routing-rules/reorder", json={"rule_ids": list(wanted)})

    answer = reorder(ids["c"], ids["a"], ids["b"])
    assert [rule["name"] for rule in answer.json["data"]["rules"]] == ["c", "a", "b"]
    assert _order(router) == ["c", "a", "b"]
    unknown = str(uuid7())
    check_conflict(reorder(ids["a"], ids["b"], unknown), missing=[ids["c"]], unknown=[unknown])
    check_invalid_field(reorder(ids["a"], ids["b"], ids["a"]), "rule_ids.2")
    assert reorder().status_code == 409
    assert _order(router) == ["c", "a", "b"]


def test_there_are_200_rules_at_most(router: Router) -> None:
    first = router.rule(priority=1)
    router.workspace.sql(
        "INSERT INTO routing_rules (organization_id, id, name, enabled, position, conditions,"
        " priority, stop, created_at, updated_at, revision)"
        " SELECT organization_id, gen_random_uuid(), name, true, i, conditions, 1, true, now(),"
        " now(), 1 FROM routing_rules, generate_series(2, 199) AS i WHERE id = :id",
        id=first["id"],
    )
    router.rule(priority=1)
    check_conflict(router.send(priority=1), limit=200)


def test_changes_at_once_leave_the_order_whole(router: Router) -> None:
    ids = [router.rule(name=str(number), priority=1)["id"] for number in range(4)]
    api = [router.org.api("admin") for _ in range(4)]
    calls: list[Callable[[], Any]] = [
        lambda: router.send(name="new", position=1, priority=1),
        lambda: api[0].delete(f"/routing-rules/{ids[0]}"),
        lambda: api[1].patch(f"/routing-rules/{ids[3]}", json={"position": 1}),
        lambda: api[2].post("/routing-rules/reorder", json={"rule_ids": ids[::-1]}),
        lambda: router.send(name="newer", priority=1),
    ]
    with ThreadPoolExecutor(len(calls)) as pool:
        answers = list(pool.map(lambda call: call(), calls))
    assert {answer.status_code for answer in answers} <= {200, 201, 204, 409}
    assert sorted(_order(router)) == ["1", "2", "3", "new", "newer"]


def test_lists_are_filtered(router: Router) -> None:
    team, user = router.team("ann"), str(router.org.users["labeler"])
    since = router.rule(name="team", team_id=team)["created_at"]
    router.rule(name="user", user_id=user, enabled=False)
    api = router.org.api("viewer")

    def names(query: str) -> list[str]:
        return [rule["name"] for rule in api.get(f"/routing-rules?{query}").json["data"]]

    assert names(f"team_id={team}") == ["team"]
    assert names(f"user_id={user}") == ["user"]
    assert names("enabled=true") == ["team"]
    assert sorted(names(f"created_after={since}")) == ["team", "user"]
    assert names(f"created_before={since}") == []
    assert names("sort=-position") == ["user", "team"]
    first = api.get("/routing-rules?page_size=1").json
    assert first["meta"]["total"] == 2
    assert names(f"page_size=1&cursor={first['meta']['next_cursor']}") == ["user"]


def test_a_rule_that_loses_its_team_is_disabled(router: Router) -> None:
    team = router.team("ann")
    rule = router.rule(team_id=team, strategy="round_robin", priority=7)
    assert router.org.api("admin").delete(f"/teams/{team}").status_code == 204
    found = router.read(rule)
    assert (found["enabled"], found["disabled_reason"]) == (False, "team_deleted")
    assert found["action"]["team_id"] is None
    assert found["revision"] == rule["revision"] + 1
    api, path = router.org.api("admin"), f"/routing-rules/{rule['id']}"
    check_invalid_field(api.patch(path, json={"enabled": True}), "action.strategy")
    body = {"enabled": True, "action": {"team_id": router.team("ben")}}
    again = api.patch(path, json=body).json["data"]
    assert (again["enabled"], again["disabled_reason"]) == (True, None)


def test_a_rule_that_loses_its_member_is_disabled(router: Router, work: Callable[[], None]) -> None:
    for name in ("ann", "ben"):
        router.org.add_user(name, "labeler")
    gone = router.rule(user_id=str(router.org.users["ann"]))
    lowered = router.rule(user_id=str(router.org.users["ben"]))
    kept = router.rule(user_id=str(router.org.users["labeler"]))
    api, members = router.org.api("owner"), f"/organizations/{router.org.slug}/members"
    assert api.delete(f"{members}/{router.org.users['ann']}").status_code == 204
    assert router.read(gone)["disabled_reason"] == "member_removed"
    lower = api.patch(f"{members}/{router.org.users['ben']}", json={"role": "viewer"})
    assert lower.status_code == 200
    work()
    assert router.read(lowered)["disabled_reason"] == "member_cannot_label"
    assert router.read(kept)["enabled"]
    check_invalid_field(api.patch(f"/routing-rules/{gone['id']}", json={"enabled": True}), "action")
    refused = api.patch(f"/routing-rules/{lowered['id']}", json={"enabled": True})
    check_invalid_field(refused, "action.user_id")


def test_a_rule_that_loses_its_schema_is_disabled(router: Router) -> None:
    schema = router.workspace.schema()
    rule = router.rule(schema_id=str(schema), priority=3)
    router.workspace.sql("DELETE FROM schemas WHERE id = :id", id=str(schema))
    assert router.read(rule)["disabled_reason"] == "schema_deleted"


def test_the_audit_log_tells_of_rules_and_not_of_matches(router: Router) -> None:
    rule = router.rule(priority=9)
    router.route(router.workspace.artifact())
    router.org.api("admin").patch(f"/routing-rules/{rule['id']}", json={"enabled": False})
    path = f"/organizations/{router.org.slug}/audit-log?target_type=routing_rules"
    entries = router.org.api("owner").get(path).json["data"]
    assert [entry["action"] for entry in entries] == [
        "routing_rules.update",
        "routing_rules.create",
    ]
    assert entries[0]["changes"] == {"enabled": [True, False]}
