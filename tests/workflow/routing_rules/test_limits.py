"""Limits on patterns and time, so that the rules of one organization do not stop the others."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from app.engines.conditions.compiled_conditions import MAX_PATTERNS
from app.kit import db, tenancy
from app.kit.ids import uuid7
from app.kit.jobs.handlers import HANDLERS
from app.kit.jobs.queues import QUEUES, compute_quota
from app.workflow.routing_rules.service import compiled_rules, limits, routing, simulation
from tests.factories import Org
from tests.factories.errors import check_error, check_invalid_field
from tests.factories.routing import Router, where

_RANDOM = random.Random(7)
SLOW_TEXT = "".join(_RANDOM.choice("abcdqx") for _ in range(90_000))
HUGE_PATTERN = r"(?:\pL\pN?){45}.{10}z"


def _slow_patterns(number: int) -> list[dict[str, Any]]:
    """Return conditions that match nothing, and take about 0.2 s each on SLOW_TEXT."""
    pattern = "[ab].{{0,100}}[cd].{{0,100}}z{}"
    return [where("text", "matches", pattern.format(index)) for index in range(number)]


def _rule(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"name": "x", "conditions": {"any": list(conditions)}, "action": {"priority": 1}}


def _simulate(router: Router, **body: Any) -> Any:
    return router.org.api("admin").post("/routing-rules/simulate", json=body)


def test_a_pattern_that_is_too_large_is_refused_by_its_field(router: Router) -> None:
    answer = router.send(where("name", "exists"), where("text", "matches", HUGE_PATTERN))
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "conditions.all.1.value")


def test_all_rules_together_have_a_limit_of_patterns(router: Router) -> None:
    full = [where("text", "matches", f"a{index}") for index in range(MAX_PATTERNS)]
    count = limits.MAX_PATTERNS_OF_RULES // MAX_PATTERNS
    rules = [router.rule(*full, priority=1) for _ in range(count)]
    check_error(router.send(full[0], priority=1), 409, "conflict", field="conditions")
    other = router.rule(where("name", "equals", "a"), priority=1)
    api = router.org.api("admin")
    path, body = f"/routing-rules/{other['id']}", {"conditions": {"all": full[:1]}}
    assert api.patch(path, json=body).status_code == 409
    assert api.patch(path, json={"name": "New"}).status_code == 200
    smaller = {"conditions": {"all": full[1:]}}
    assert api.patch(f"/routing-rules/{rules[0]['id']}", json=smaller).status_code == 200
    assert api.patch(path, json=body).status_code == 200


def test_all_rules_together_have_a_limit_of_instructions(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters = where("name", "matches", r"\pL+ \pN+")
    rule = router.rule(letters, letters, priority=1)
    monkeypatch.setattr(limits, "MAX_PROGRAM_SIZE_OF_RULES", 2000)
    assert router.send(where("name", "matches", "a"), priority=1).status_code == 409
    # Rules that exceed the limit already can be made smaller.
    body = {"conditions": {"all": [letters]}}
    answer = router.org.api("admin").patch(f"/routing-rules/{rule['id']}", json=body)
    assert answer.status_code == 200
    router.rule(where("name", "matches", "a"), priority=1)


def test_a_simulation_has_the_same_limits(router: Router, monkeypatch: pytest.MonkeyPatch) -> None:
    full = [where("text", "matches", "a")] * MAX_PATTERNS
    rules = [_rule(*full)] * (limits.MAX_PATTERNS_OF_RULES // MAX_PATTERNS + 1)
    check_invalid_field(_simulate(router, documents=[{}], rules=rules), "rules")
    monkeypatch.setattr(limits, "MAX_PROGRAM_SIZE_OF_RULES", 30)
    check_invalid_field(_simulate(router, documents=[{}], rules=rules[:2]), "rules")


@pytest.mark.parametrize("name", ["MAX_DOCUMENT_SECONDS", "MAX_SIMULATION_SECONDS"])
def test_a_simulation_that_takes_too_long_ends_with_an_error(
    router: Router, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(limits, name, 0.05)
    body: dict[str, Any] = {"rules": [_rule(*_slow_patterns(8))]}
    answer = _simulate(router, documents=[{}, {"text": SLOW_TEXT}, {}], **body)
    check_error(answer, 400, "validation_error", field="documents.1", details={"at_most": 1})
    assert _simulate(router, documents=[{}, {}], **body).status_code == 200


def test_a_repeated_id_does_not_move_the_position_in_the_error(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_DOCUMENT_SECONDS", 0.3)
    quick, slow = (str(router.workspace.artifact(text=text)) for text in ("", SLOW_TEXT))
    ids = [quick, quick, slow, quick, slow]
    answer = _simulate(router, artifact_ids=ids, rules=[_rule(*_slow_patterns(8))])
    error = answer.json["error"]
    assert (answer.status_code, error["field"]) == (400, "artifact_ids.2")
    assert error["details"] == {"at_most": 1}  # the number of different documents before it
    unknown = str(uuid7())
    answer = _simulate(router, artifact_ids=[quick, quick, unknown, unknown])
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "artifact_ids.2")


def test_an_organization_simulates_once_at_a_time(router: Router, other_org: Org) -> None:
    with tenancy.organization(router.org.id), simulation._reserve_slot():
        answer = _simulate(router, documents=[{}])
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert answer.json["error"]["details"] == {"reason": "busy"}
        other = other_org.api("admin").post("/routing-rules/simulate", json={"documents": [{}]})
        assert other.status_code == 200
    assert _simulate(router, documents=[{}]).status_code == 200


def test_a_document_on_which_rules_take_too_long_is_released(
    router: Router, monkeypatch: pytest.MonkeyPatch, work: Callable[[], None]
) -> None:
    monkeypatch.setattr(limits, "MAX_DOCUMENT_SECONDS", 0.1)
    rule = _rule(*_slow_patterns(6), where("text", "matches", "invoice"))
    answer = router.org.api("admin").post("/routing-rules", json={**rule, "apply": False})
    assert answer.status_code == 201, answer.json
    api = router.org.api("labeler")
    ids = []
    for text in (SLOW_TEXT + " invoice", "An invoice."):
        made = api.post("/artifacts", json={"name": "a.txt", "text": text})
        assert made.json["data"]["status"] == "processing"
        ids.append(made.json["data"]["id"])
    work()
    found = [router.artifact(item_id) for item_id in ids]
    assert [one["status"] for one in found] == ["ready", "ready"]
    assert [one["priority"] for one in found] == [50, 1]
    ingested = [event["artifact_id"] for event in router.workspace.events("artifact.ingested")]
    assert sorted(ingested) == sorted(ids)
    # Applied on request, the document is passed over too.
    assert router.apply() == 1


def test_a_slow_batch_is_written_in_parts(router: Router, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_BATCH_SECONDS", 0)
    team = router.team("ann", "ben")
    rule = router.rule(where("text", "contains", "x"), team_id=team, strategy="round_robin")
    ids = [router.workspace.artifact() for _ in range(4)]
    commits: list[None] = []

    def checkpoint() -> None:
        db.checkpoint()
        commits.append(None)

    with router.workspace.transaction():
        assert routing.route_ingested(ids, checkpoint) == 4
    assert len(commits) == 3
    more = [router.workspace.artifact() for _ in range(4)]
    assert router.apply() == 4
    assignees = [router.get_assignee(one) for one in (*ids, *more)]
    assert (assignees.count("ann"), assignees.count("ben")) == (4, 4)
    assert router.read(rule)["match_count"] == 8


def test_a_long_run_leaves_its_other_documents_to_a_new_job(
    router: Router, monkeypatch: pytest.MonkeyPatch, work: Callable[[], None]
) -> None:
    monkeypatch.setattr(limits, "MAX_BATCH_SECONDS", 0)
    monkeypatch.setattr(limits, "MAX_JOB_SECONDS", 0)
    router.rule(priority=90)
    ids = [router.workspace.artifact() for _ in range(3)]
    assert router.route(*ids) == 1
    assert len(router.workspace.events("artifact.parsed")) == 2
    work()
    assert [router.artifact(item_id)["priority"] for item_id in ids] == [90] * 3


def test_a_saved_rule_that_exceeds_a_limit_is_passed_over(router: Router) -> None:
    rule = router.rule(where("name", "exists"), priority=10)
    router.rule(priority=20)
    huge = {"any": [where("name", "exists"), where("text", "matches", HUGE_PATTERN)]}
    router.workspace.sql(
        "UPDATE routing_rules SET conditions = CAST(:conditions AS jsonb) WHERE id = :id",
        conditions=json.dumps(huge),
        id=rule["id"],
    )
    artifact_id = router.workspace.artifact()
    assert router.route(artifact_id) == 1
    assert router.artifact(artifact_id)["priority"] == 20
    (told,) = router.simulate(artifact_ids=[str(artifact_id)])
    assert told["rules"][0]["skipped_because"] == "disabled"


def test_the_cache_of_compiled_rules_is_bounded_by_their_memory() -> None:
    for number in range(20):
        patterns = [where("text", "matches", f"cached {number} {i}") for i in range(MAX_PATTERNS)]
        compiled_rules.get_compiled_conditions({"all": patterns})
    cache = compiled_rules._cache
    assert 0 < cache.currsize <= cache.maxsize == compiled_rules._CACHE_BYTES
    kept = sum(entry.compiled_conditions.pattern_count for entry in cache.values())
    assert kept <= compiled_rules._CACHE_BYTES // compiled_rules.MAX_PATTERN_BYTES


def test_one_organization_cannot_use_all_slots_for_routing() -> None:
    slots = QUEUES["routing"].slots
    assert compute_quota(slots) < slots
    # This job waits for the lock of its organization's routing, so it uses the same slot.
    assert HANDLERS["routing_rules.follow_role"].queue == "routing"
