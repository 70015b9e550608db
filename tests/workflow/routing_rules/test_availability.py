"""Documents become available when the routing rules have run, and not for ever later."""

import io
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import pytest

from app.documents.artifacts.service import routing as artifacts
from app.kit import db, tenancy
from app.workflow.routing_rules.service import routing
from tests.factories.errors import check_conflict
from tests.factories.orgs import get_data
from tests.factories.routing import Router, where


def _upload(router: Router, schema_id: Any, text: str = "A text.") -> dict[str, Any]:
    body = {"name": "a.txt", "text": text, "schema_id": str(schema_id)}
    return dict(get_data(router.org.api("labeler").post("/artifacts", json=body), 201))


def _next(router: Router, name: str = "labeler") -> Any:
    return get_data(router.org.api(name).post("/artifacts/next", json={}))


def test_nobody_gets_a_document_before_the_rules_have_run(
    router: Router, work: Callable[[], None]
) -> None:
    router.team("ann")
    router.rule(user_id=str(router.org.users["ann"]))
    schema_id = router.workspace.schema()
    made = _upload(router, schema_id)
    assert made["status"] == "processing"
    api = router.org.api("labeler")
    assert _next(router) is None
    check_conflict(api.post(f"/artifacts/{made['id']}/claim"), state="processing")
    check_conflict(api.post(f"/artifacts/{made['id']}/tag-sets", json={}), state="processing")
    work()
    assert router.artifact(made["id"])["status"] == "ready"
    assert _next(router) is None
    assert _next(router, "ann")["id"] == made["id"]


def test_a_file_waits_for_the_rules_too(router: Router, work: Callable[[], None]) -> None:
    rule = router.rule(user_id=str(router.org.users["reviewer"]))
    schema_id = router.workspace.schema()
    answer = router.org.api("labeler").request(
        "POST",
        "/artifacts",
        data={"file": (io.BytesIO(b"Some text of a file."), "a.txt"), "schema_id": str(schema_id)},
        content_type="multipart/form-data",
    )
    assert answer.status_code == 201, answer.json
    work()
    artifact = router.artifact(answer.json["data"]["id"])
    assert (artifact["status"], len(artifact["assignees"])) == ("ready", 1)
    assert router.read(rule)["match_count"] == 1


def test_without_enabled_rules_a_document_is_ready_at_once(router: Router) -> None:
    router.rule(user_id=str(router.org.users["reviewer"]), enabled=False)
    made = _upload(router, router.workspace.schema())
    assert made["status"] == "ready"
    assert _next(router)["id"] == made["id"]


def test_documents_no_rule_matches_or_that_somebody_assigned_become_ready(
    router: Router, work: Callable[[], None]
) -> None:
    rule = router.rule(user_id=str(router.org.users["reviewer"]))
    schema_id = router.workspace.schema()
    assigned = _upload(router, schema_id, "one")["id"]
    path = f"/artifacts/{assigned}/assign"
    by_hand = {"user_ids": [str(router.org.users["labeler"])]}
    answer = router.org.api("admin").post(path, json=by_hand)
    assert (answer.status_code, answer.json["data"]["status"]) == (200, "processing")
    archived = _upload(router, schema_id, "two")["id"]
    router.workspace.sql("UPDATE artifacts SET archived = true WHERE id = :id", id=archived)
    work()
    assert router.get_assignee(assigned) == "labeler"
    assert {router.artifact(one)["status"] for one in (assigned, archived)} == {"ready"}
    left = _upload(router, schema_id, "three")["id"]
    assert router.org.api("admin").delete(f"/routing-rules/{rule['id']}").status_code == 204
    work()
    assert router.artifact(left)["status"] == "ready"


def test_the_event_of_a_routed_document_does_not_route_it_again(
    router: Router, monkeypatch: pytest.MonkeyPatch, work: Callable[[], None]
) -> None:
    router.rule(where("name", "equals", "other.txt"), user_id=str(router.org.users["reviewer"]))
    made = _upload(router, router.workspace.schema())["id"]
    matched = routing.find_matches
    seen: list[str] = []

    def record(ids: Sequence[UUID], rules: Any) -> Any:
        seen.extend(str(item_id) for item_id in ids)
        return matched(ids, rules)

    monkeypatch.setattr(routing, "find_matches", record)
    work()
    assert router.artifact(made)["status"] == "ready"
    assert router.workspace.events("artifact.ingested")
    assert seen == [made]


def test_routing_that_fails_for_good_hides_no_document(
    router: Router, monkeypatch: pytest.MonkeyPatch, work: Callable[[], None]
) -> None:
    router.rule(user_id=str(router.org.users["reviewer"]))
    made = _upload(router, router.workspace.schema())

    def fail(*_: Any) -> None:
        raise RuntimeError("Routing is broken.")

    monkeypatch.setattr(routing, "_route_batch", fail)
    router.workspace.sql(
        "UPDATE jobs SET attempts = 9 WHERE organization_id = :org AND function = :function",
        org=router.org.id,
        function="routing_rules.route",
    )
    work()
    assert router.artifact(made["id"])["status"] == "ready"
    assert _next(router)["id"] == made["id"]


def test_routing_that_is_late_hides_no_document(router: Router) -> None:
    router.rule(user_id=str(router.org.users["reviewer"]))
    made = [_upload(router, router.workspace.schema(), text) for text in ("one", "two")]
    late, fresh = (one["id"] for one in made)
    router.workspace.sql(
        "UPDATE artifacts SET routing_since = now() - interval '11 minutes' WHERE id = :id", id=late
    )
    everything = tenancy.across_organizations(reason="as the job")
    with router.org.app.app_context(), everything, db.transaction():
        assert artifacts.release_delayed_documents() >= 1  # others may be late as well
    assert router.artifact(late)["status"] == "ready"
    assert router.artifact(fresh)["status"] == "processing"
    # Routing comes to it at last, and nobody has begun.
    assert router.route(late, fresh) == 2
    assert router.get_assignee(late) == router.get_assignee(fresh) == "reviewer"


def test_a_document_that_is_read_again_is_routed_and_ingested_once(
    router: Router, work: Callable[[], None]
) -> None:
    router.rule(user_id=str(router.org.users["reviewer"]))
    api = router.org.api("admin")
    made = _upload(router, router.workspace.schema())["id"]
    work()
    for _ in range(2):
        assert api.post(f"/artifacts/{made}/reprocess").status_code == 202
        work()
        assert router.artifact(made)["status"] == "ready"
    (event,) = router.workspace.events("artifact.ingested")
    assert (event["artifact_id"], event["page_count"]) == (made, 1)


def test_a_document_that_is_read_again_is_routed_although_a_rule_matched_it_before(
    router: Router, work: Callable[[], None]
) -> None:
    urgent = router.rule(priority=90, stop=False)
    made = _upload(router, router.workspace.schema())["id"]
    work()
    assert router.get_assignee(made) is None
    # Only the text that is read now has the word.
    router.workspace.sql("UPDATE artifact_texts SET text = '' WHERE artifact_id = :id", id=made)
    rule = router.rule(where("text", "contains", "text"), user_id=str(router.org.users["reviewer"]))
    assert router.org.api("admin").post(f"/artifacts/{made}/reprocess").status_code == 202
    work()
    assert router.artifact(made)["status"] == "ready"
    assert router.get_assignee(made) == "reviewer"
    assert [router.read(one)["match_count"] for one in (urgent, rule)] == [1, 1]
