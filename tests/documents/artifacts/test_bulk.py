"""Tests of archiving and deleting many documents, and of the statistics."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.documents.artifacts.queries import search_pages
from app.documents.artifacts.service import bulk
from app.kit import db
from app.kit.ids import uuid7
from tests.documents.artifacts.conftest import Stored, create_text
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.labels import make_labeled
from tests.factories.orgs import get_data
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace, counts

Work = Callable[[], None]
ACTIONS = ("archive", "delete")


def _request_bulk(org: Org, action: str, by: str = "admin", **body: Any) -> Any:
    return org.api(by).post(f"/artifacts/bulk-{action}", body)


def _create_documents(workspace: Workspace, number: int) -> list[str]:
    schema_id = workspace.schema()
    return [str(workspace.artifact(schema_id, name=f"{n}.txt")) for n in range(number)]


def _list_archived(workspace: Workspace) -> set[str]:
    rows = workspace.sql(
        "SELECT id FROM artifacts WHERE organization_id = :o AND archived", o=workspace.org.id
    )
    return {str(row.id) for row in rows}


def test_documents_are_archived_by_id_with_one_outcome_each(
    workspace: Workspace, other_org: Org
) -> None:
    ids = _create_documents(workspace, 3)
    workspace.org.api("labeler").post(f"/artifacts/{ids[0]}/claim")
    foreign, absent = str(Workspace(other_org).artifact()), str(uuid7())
    answer = _request_bulk(
        workspace.org, "archive", artifact_ids=[ids[1], foreign, ids[0], ids[1], absent]
    )
    result = get_data(answer)
    assert (result["matched"], result["succeeded"], result["failed"]) == (4, 2, 2)
    assert [(o["id"], o["ok"], o["code"]) for o in result["outcomes"]] == [
        (ids[1], True, None),
        (foreign, False, "not_found"),
        (ids[0], True, None),
        (absent, False, "not_found"),
    ]
    assert _list_archived(workspace) == set(ids[:2])
    claimed = workspace.artifact_row(ids[0])
    assert (claimed.status, claimed.claim_user_id) == ("ready", None)
    (event,) = workspace.events("artifacts.archived")
    assert sorted(event["artifact_ids"]) == sorted(ids[:2])
    assert (event["archived"], event["count"]) == (True, 2)
    assert event["by"] == str(workspace.org.users["admin"])
    assert not Workspace(other_org).sql(
        "SELECT 1 FROM artifacts WHERE archived AND id = :i", i=foreign
    )


def test_unarchived_documents_get_the_status_of_their_tag_sets(workspace: Workspace) -> None:
    sent = workspace.submitted()
    ids = [sent["artifact_id"], str(workspace.artifact())]
    _request_bulk(workspace.org, "archive", artifact_ids=ids)
    again = _request_bulk(workspace.org, "archive", artifact_ids=ids)
    assert again.json["data"]["succeeded"] == 2
    assert len(workspace.events("artifacts.archived")) == 1
    assert (
        _request_bulk(workspace.org, "archive", artifact_ids=ids, archived=False).status_code == 200
    )
    assert _list_archived(workspace) == set()
    row = workspace.artifact_row(ids[0])
    assert (row.status, row.label_counts) == ("in_review", counts(submitted=1))
    document = workspace.org.api("viewer").get(f"/artifacts/{ids[1]}").json["data"]
    assert (document["status"], document["revision"]) == ("ready", 3)


def test_documents_are_deleted_by_id_and_then_their_files(
    workspace: Workspace, stored: Stored, work: Work
) -> None:
    api = workspace.org.api("admin")
    documents = [create_text(api, f"text {n}", schema_id=None) for n in range(3)]
    ids = [document["id"] for document in documents]
    absent = str(uuid7())
    result = _request_bulk(workspace.org, "delete", artifact_ids=[ids[2], absent, ids[0]]).json[
        "data"
    ]
    assert [(o["id"], o["ok"]) for o in result["outcomes"]] == [
        (ids[2], True),
        (absent, False),
        (ids[0], True),
    ]
    assert [d["id"] for d in api.get("/artifacts").json["data"]] == [ids[1]]
    digest_by_id = {
        event["artifact_id"]: event["sha256"] for event in workspace.events("artifact.deleted")
    }
    assert digest_by_id == {documents[n]["id"]: documents[n]["sha256"] for n in (0, 2)}
    work()
    assert len(stored()) == 1


@pytest.mark.parametrize("action", ACTIONS)
def test_a_filter_changes_all_matching_documents(
    workspace: Workspace, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.kit.bulk.BATCH_SIZE", 3)
    schema_id = workspace.schema()
    for number in range(8):
        workspace.artifact(schema_id, name=f"{number}.txt")
    other_id = str(workspace.artifact())
    body = {"filter": {"schema_id": str(schema_id), "status": ["ready"]}, "expected_count": 8}
    result = _request_bulk(workspace.org, action, **body).json["data"]
    assert result == {"matched": 8, "succeeded": 8, "failed": 0, "outcomes": []}
    listed = workspace.org.api("viewer").get("/artifacts").json["data"]
    assert [document["id"] for document in listed] == [other_id]


@pytest.mark.parametrize("action", ACTIONS)
def test_an_unexpected_count_changes_nothing(workspace: Workspace, action: str) -> None:
    _create_documents(workspace, 3)
    for expected in (0, 2, 4):
        answer = _request_bulk(workspace.org, action, filter={}, expected_count=expected)
        check_error(answer, 409, "conflict", details={"count": 3})
    assert workspace.org.api("viewer").get("/artifacts").json["meta"]["total"] == 3
    assert workspace.events("artifact.deleted") == workspace.events("artifacts.archived") == []


@pytest.mark.parametrize("is_frequent", [True, False])
def test_a_search_selects_documents(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, *, is_frequent: bool
) -> None:
    """The hits of a frequent word are collected in a hash table, not looked up one by one."""
    min_hits = 1 if is_frequent else 1000
    monkeypatch.setattr(search_pages, "MIN_HITS_TO_TEST_NEWEST", min_hits)
    api = workspace.org.api("labeler")
    for number in range(3):
        create_text(api, f"The invoices of {number}", f"{number}.txt")
    create_text(api, "Something else", "x.txt")
    body: dict[str, Any] = {"filter": {"q": "invoices"}, "expected_count": 3}
    with record_statements(workspace.org.app) as statements:
        assert _request_bulk(workspace.org, "archive", **body).json["data"]["matched"] == 3
    assert any("IS true" in statement for statement in statements) == is_frequent
    for archived, back in (("true", False), (False, True), (True, False)):
        body["filter"]["archived"] = archived
        answer = _request_bulk(workspace.org, "archive", archived=back, **body)
        assert answer.json["data"]["matched"] == 3


@pytest.mark.parametrize("gold", [True, "true"])
def test_a_filter_in_a_body_accepts_a_json_boolean(workspace: Workspace, gold: Any) -> None:
    marked, other = _create_documents(workspace, 2)
    assert (
        workspace.org.api("admin").patch(f"/artifacts/{marked}", {"gold": True}).status_code == 200
    )
    for filtered, expected in ((gold, {marked}), (False, {marked, other})):
        answer = _request_bulk(
            workspace.org, "archive", filter={"gold": filtered}, expected_count=1
        )
        assert answer.status_code == 200, answer.json
        assert _list_archived(workspace) == expected


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"artifact_ids": ["x"]},
        {"artifact_ids": [str(uuid7())] * 1001},
        {"artifact_ids": [str(uuid7())], "expected_count": 1},
        {"filter": {}},
        {"filter": {"status": ["gone"]}, "expected_count": 1},
        {"filter": {"colour": "red"}, "expected_count": 1},
        {"expected_count": 1},
    ],
    ids=["nothing", "no id", "too many", "both", "no count", "state", "unknown", "count alone"],
)
def test_an_invalid_selection_is_422(org: Org, action: str, body: dict[str, Any]) -> None:
    answer = _request_bulk(org, action, **body)
    check_error(answer, 422, "unprocessable")


@pytest.mark.parametrize("action", ACTIONS)
def test_only_admins_use_bulk_actions(org: Org, action: str) -> None:
    for role in ("reviewer", "labeler", "viewer"):
        answer = _request_bulk(org, action, role, artifact_ids=[])
        assert answer.json["error"]["code"] == "insufficient_role"


@pytest.mark.parametrize(("action", "most"), [("archive", 7), ("delete", 6)])
def test_a_thousand_documents_take_few_statements(
    org: Org, app: Flask, action: str, most: int
) -> None:
    labeled = make_labeled(org, 1000, texts=False)
    listed = org.api("viewer").get("/artifacts?page_size=1000").json["data"]
    ids = [document["id"] for document in listed]
    with record_statements(app) as statements:
        answer = _request_bulk(org, action, artifact_ids=ids)
    assert answer.json["data"]["succeeded"] == labeled.count
    assert len(statements) <= most, statements


def test_documents_of_many_pages_are_deleted_a_few_at_a_time(
    workspace: Workspace, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MAX_PAGES", 10)
    ids = [str(workspace.artifact(page_count=pages)) for pages in (4, 6, 1, 99, None, 10)]
    with record_statements(app) as statements:
        answer = _request_bulk(workspace.org, "delete", artifact_ids=ids)
    assert answer.json["data"]["succeeded"] == 6
    assert workspace.org.api("viewer").get("/artifacts").json["meta"]["total"] == 0
    # Batches of 4 + 6, 1, 99 and 10 pages, in the order of the ids (the order of creation).
    assert sum(statement.startswith("DELETE FROM artifacts") for statement in statements) == 4
    assert len(workspace.events("artifact.deleted")) == 6


def test_a_member_of_another_organization_finds_nothing(org: Org, other_org: Org) -> None:
    ids = _create_documents(Workspace(other_org), 2)
    for action in ACTIONS:
        assert _request_bulk(org, action, artifact_ids=ids).json["data"]["failed"] == 2
        answer = _request_bulk(org, action, filter={"archived": "any"}, expected_count=0)
        assert answer.json["data"]["matched"] == 0
    assert other_org.api("viewer").get("/artifacts").json["meta"]["total"] == 2


def _get_stats(org: Org, query: str = "") -> dict[str, Any]:
    return dict(get_data(org.api("reviewer").get(f"/artifacts/stats?{query}")))


def _list_statuses(**of: int) -> dict[str, int]:
    states = ("processing", "ready", "in_progress", "in_review", "done", "failed")
    return {**dict.fromkeys(states, 0), **of}


def test_statistics_count_by_state_schema_and_age(workspace: Workspace, other_org: Org) -> None:
    Workspace(other_org).artifact()
    now = db.utc_now()
    first, second = sorted((workspace.schema(), workspace.schema()))
    ages = (("day", 0.5), ("week", 3), ("month", 20), ("older", 90))
    days = {name: now - timedelta(days=age) for name, age in ages}
    assignees = [{"user_id": str(workspace.org.users["labeler"]), "team_id": None}]
    workspace.artifact(first, created_at=days["day"], due_at=now - timedelta(hours=1))
    workspace.artifact(first, created_at=days["week"], status="in_progress", gold=True)
    workspace.artifact(first, created_at=days["month"], status="done", due_at=days["month"])
    workspace.artifact(second, created_at=days["older"], status="in_review", assignees=assignees)
    workspace.artifact(second, created_at=days["month"], status="failed")
    workspace.artifact(
        second, created_at=days["older"], archived=True, gold=True, due_at=days["older"]
    )
    create_text(workspace.org.api("labeler"), "text")
    claimed = workspace.artifact(second, created_at=days["month"])
    workspace.org.api("labeler").post(f"/artifacts/{claimed}/claim")
    stats = _get_stats(workspace.org)
    by_schema = stats.pop("by_schema")
    assert stats == {
        "total": 7,
        "by_status": _list_statuses(ready=2, in_progress=2, in_review=1, done=1, failed=1),
        "by_age": {"under_1_day": 2, "under_1_week": 1, "under_1_month": 1, "older": 1},
        "open": 5,
        "overdue": 1,
        "unassigned": 4,
        "claimed": 1,
        "gold": 1,
        "archived": 1,
    }
    assert [(s["schema_id"], s["name"], s["total"], s["archived"]) for s in by_schema] == [
        (str(first), "Invoices", 3, 0),
        (str(second), "Invoices", 3, 1),
        (None, None, 1, 0),
    ]
    assert by_schema[0]["by_status"] == _list_statuses(ready=1, in_progress=1, done=1)
    assert _get_stats(workspace.org, f"schema_id={second}")["total"] == 3
    assert _get_stats(workspace.org, f"schema_id={uuid7()}")["by_schema"] == []
    week = (now - timedelta(days=7)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert _get_stats(workspace.org, f"created_after={week}")["total"] == 3
    assert _get_stats(workspace.org, f"created_before={week}")["total"] == 4


def test_statistics_are_one_statement(workspace: Workspace, app: Flask) -> None:
    _create_documents(workspace, 3)
    with record_statements(app) as statements:
        assert _get_stats(workspace.org)["total"] == 3
    assert len(statements) == 1, statements


@pytest.mark.parametrize("query", ["schema_id=x", "created_after=today", "status=ready"])
def test_an_invalid_filter_of_statistics_is_422(org: Org, query: str) -> None:
    assert org.api("viewer").get(f"/artifacts/stats?{query}").status_code == 422
