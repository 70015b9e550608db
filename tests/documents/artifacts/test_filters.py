"""What managers look for: whose documents are, and when they are due; in lists and in bulk."""

from datetime import timedelta
from typing import Any

import pytest

from app.kit import bulk, db
from app.kit.ids import uuid7
from tests.documents.artifacts.conftest import create_text
from tests.factories import Org
from tests.factories.desk import Desk

EARLY, LATE = "2026-03-01T08:00:00Z", "2026-03-02T08:00:00Z"
LONG_AGO = "2000-01-01T00:00:00Z"


@pytest.fixture
def desk(org: Org) -> Desk:
    return Desk(org)


def _names(org: Org, query: str) -> list[str]:
    answer = org.api("viewer").get(f"/artifacts?{query}")
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    return [document["name"] for document in answer.json["data"]]


def _document(desk: Desk, name: str, **members: Any) -> str:
    found: str = create_text(desk.org.api("labeler"), f"text of {name}", name, **members)["id"]
    return found


def _assign(desk: Desk, artifact_id: str, to: str) -> None:
    body = {"user_ids": [str(desk.org.users[to])]}
    answer = desk.org.api("admin").post(f"/artifacts/{artifact_id}/assign", body)
    assert answer.status_code == 200, answer.json


def test_whether_anybody_is_assigned(desk: Desk) -> None:
    schema = str(desk.schema())
    mine, team_s, _ = (_document(desk, name, schema_id=schema) for name in ("a", "b", "c"))
    _assign(desk, mine, "labeler")
    api = desk.org.api("admin")
    team = api.post("/teams", json={"name": "Team"}).json["data"]["id"]
    assert api.post(f"/artifacts/{team_s}/assign", {"team_id": team}).status_code == 200
    assert _names(desk.org, "assigned=true") == ["b", "a"]
    assert _names(desk.org, "assigned=false") == ["c"]
    assert _names(desk.org, f"assigned=false&assignee={team}") == []
    assert _names(desk.org, "assigned=true&q=text&sort=name") == ["a", "b"]
    assert api.post(f"/artifacts/{mine}/assign", {"user_ids": []}).status_code == 200
    assert _names(desk.org, "assigned=false") == ["c", "a"]


def test_when_they_are_due(desk: Desk, other_org: Org) -> None:
    _document(desk, "early", due_at=EARLY)
    _document(desk, "late", due_at="2026-03-02t09:00:00+01:00")
    _document(desk, "never")
    create_text(other_org.api("labeler"), "theirs", "theirs", due_at=EARLY)
    assert _names(desk.org, f"due_before={LATE}") == ["early"]
    assert _names(desk.org, f"due_after={EARLY}") == ["late", "early"]
    assert _names(desk.org, f"due_after={EARLY}&due_before={LATE}") == ["early"]
    assert _names(desk.org, "due_after=2026-03-01T07:59:59.999999z") == ["late", "early"]
    assert _names(desk.org, "q=text&due_before=2026-03-01T08:00:00.000001Z") == ["early"]


@pytest.mark.parametrize("query", ["assigned=1", "assigned=", "due_after=today", "due_before=2026"])
def test_a_filter_that_does_not_fit_is_422(org: Org, query: str) -> None:
    answer = org.api("viewer").get(f"/artifacts?{query}")
    assert answer.status_code == 422
    assert answer.json["error"]["field"] == query.partition("=")[0]


@pytest.mark.parametrize("action", ["archive", "delete"])
def test_what_is_late_and_in_nobody_s_hands_in_bulk(desk: Desk, action: str) -> None:
    schema, now = desk.schema(), db.utc_now()
    late, soon = now - timedelta(days=1), now + timedelta(days=1)
    nobody_s, somebody_s = (str(desk.artifact(schema, due_at=late)) for _ in range(2))
    others = [str(desk.artifact(schema, due_at=due)) for due in (soon, None)]
    _assign(desk, somebody_s, "labeler")
    chosen = {"assigned": False, "due_after": LONG_AGO, "due_before": now.isoformat()}
    api = desk.org.api("admin")
    body = {"filter": chosen, "expected_count": 1}
    result = api.post(f"/artifacts/bulk-{action}", body).json["data"]
    assert (result["matched"], result["succeeded"]) == (1, 1)
    left = {document["id"] for document in api.get("/artifacts").json["data"]}
    assert left == {somebody_s, *others}
    assert nobody_s not in left


def test_what_somebody_was_given_meanwhile_is_not_given_to_another(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH", 2)
    schema = desk.schema()
    ids = [str(desk.artifact(schema)) for _ in range(5)]
    checkpoint = bulk.db.checkpoint

    def others() -> None:
        checkpoint()
        monkeypatch.setattr(bulk.db, "checkpoint", checkpoint)
        assignees = f'[{{"user_id": "{uuid7()}", "team_id": null}}]'
        desk.sql(
            "UPDATE artifacts SET assignees = CAST(:who AS jsonb) WHERE id = :id",
            who=assignees,
            id=ids[4],
        )

    monkeypatch.setattr(bulk.db, "checkpoint", others)
    me = str(desk.org.users["labeler"])
    body = {"filter": {"assigned": "false"}, "expected_count": 5, "user_ids": [me]}
    answer = desk.org.api("admin").post("/artifacts/bulk-assign", body)
    result = answer.json["data"]
    assert (result["matched"], result["succeeded"], result["failed"]) == (5, 4, 1)
    assert [(one["id"], one["code"]) for one in result["outcomes"]] == [(ids[4], "conflict")]
    listed = desk.org.api("viewer").get(f"/artifacts?assignee={me}").json["data"]
    assert {document["id"] for document in listed} == set(ids[:4])
