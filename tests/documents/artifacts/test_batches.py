"""Bulk actions by filter run in batches, each in a separate transaction."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.documents.artifacts.queries import updating
from app.kit import bulk
from tests.documents.artifacts.conftest import create_text
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.statements import record_statements
from tests.factories.workspace import Workspace

_BATCH = 3


@pytest.fixture
def workspace(org: Org, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(bulk, "BATCH_SIZE", _BATCH)
    return Workspace(org)


def _act(workspace: Workspace, action: str, number: int, **body: Any) -> Any:
    body = {"filter": {"status": ["ready"]}, "expected_count": number, **body}
    return workspace.org.api("admin").post(f"/artifacts/bulk-{action}", body)


def _create_documents(workspace: Workspace, number: int) -> list[UUID]:
    schema_id = workspace.schema()
    return [workspace.artifact(schema_id) for _ in range(number)]


def _list_archived(workspace: Workspace) -> list[UUID]:
    return [row.id for row in workspace.sql("SELECT id FROM artifacts WHERE archived ORDER BY id")]


def _run_after_search(monkeypatch: pytest.MonkeyPatch, then: Callable[[], Any]) -> None:
    """Run `then` between the search by the filter and the first batch."""
    find = bulk.find_ids

    def found(*args: Any, **how: Any) -> bulk.MatchedIds:
        result = find(*args, **how)
        then()
        return result

    monkeypatch.setattr(bulk, "find_ids", found)


def test_each_batch_emits_an_event(workspace: Workspace) -> None:
    ids = _create_documents(workspace, 8)
    assert _act(workspace, "archive", 8).json["data"]["succeeded"] == 8
    events = workspace.events("artifacts.archived")
    assert [event["count"] for event in events] == [3, 3, 2]
    assert [artifact_id for batch in events for artifact_id in batch["artifact_ids"]] == [
        str(item_id) for item_id in ids
    ]


@pytest.mark.parametrize("action", ["archive", "delete"])
def test_a_batch_takes_a_fixed_number_of_statements(
    workspace: Workspace, app: Flask, action: str
) -> None:
    statement_counts = []
    for number in (3, 9):
        _create_documents(workspace, number)
        with record_statements(app) as statements:
            assert _act(workspace, action, number).json["data"]["succeeded"] == number
        statement_counts.append(len(statements))
    per_batch = (statement_counts[1] - statement_counts[0]) / 2
    # Each batch is locked, written and announced by an event. None of this wakes the audit job.
    assert per_batch <= 4, statement_counts


@pytest.mark.parametrize("action", ["archive", "delete"])
def test_documents_changed_or_deleted_since_the_search_are_left_alone(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    ids = _create_documents(workspace, 8)

    def change_documents() -> None:
        workspace.sql("DELETE FROM artifacts WHERE id = :id", id=ids[1])
        workspace.sql("UPDATE artifacts SET status = 'in_review' WHERE id = :id", id=ids[6])
        workspace.artifact()

    _run_after_search(monkeypatch, change_documents)
    result = _act(workspace, action, 8).json["data"]
    assert (result["matched"], result["succeeded"], result["failed"]) == (8, 6, 2)
    assert [(outcome["id"], outcome["ok"], outcome["code"]) for outcome in result["outcomes"]] == [
        (str(ids[1]), False, "not_found"),
        (str(ids[6]), False, "conflict"),
    ]
    # The new document is also listed.
    listed = workspace.org.api("viewer").get("/artifacts").json["data"]
    assert {one["status"] for one in listed} == {"in_review", "ready"}
    assert len(listed) == 2


def _fail_at(monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    calls: list[Any] = []
    set_properties = updating.set_properties

    def act(ids: Any, changes: Any) -> None:
        calls.append(ids)
        if len(calls) == batch:
            raise OperationalError("UPDATE artifacts", None, Exception("no connection"))
        set_properties(ids, changes)

    monkeypatch.setattr(updating, "set_properties", act)


def test_an_error_in_the_first_batch_changes_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    _create_documents(workspace, 8)
    _fail_at(monkeypatch, 1)
    answer = _act(workspace, "archive", 8)
    assert (answer.status_code, answer.json["error"]["code"]) == (503, "service_unavailable")
    assert _list_archived(workspace) == []
    assert workspace.events("artifacts.archived") == []


def test_an_error_in_a_later_batch_reports_what_was_done(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = _create_documents(workspace, 8)
    _fail_at(monkeypatch, 2)
    result = get_data(_act(workspace, "archive", 8))
    assert (result["matched"], result["succeeded"], result["failed"]) == (8, 3, 5)
    assert [(outcome["id"], outcome["code"]) for outcome in result["outcomes"]] == [
        (str(item_id), "service_unavailable") for item_id in ids[3:6]
    ]
    assert _list_archived(workspace) == ids[:3]
    assert [event["count"] for event in workspace.events("artifacts.archived")] == [3]
    monkeypatch.undo()
    assert _act(workspace, "archive", 5).json["data"]["succeeded"] == 5


def _list_entries(workspace: Workspace, document: UUID) -> list[tuple[Any, ...]]:
    rows = workspace.sql(
        "SELECT * FROM audit_entries WHERE target_id = :id AND organization_id = :o ORDER BY id",
        id=document,
        o=workspace.org.id,
    )
    masked = {"id", "updated_at", "created_at", "sha256"}
    return [
        (
            row.actor_kind,
            row.actor_id,
            row.target_type,
            row.target_label,
            {name: change for name, change in row.changes.items() if name not in masked},
        )
        for row in rows
    ]


def test_the_audit_log_has_the_same_entries_as_for_single_documents(workspace: Workspace) -> None:
    api, schema_id = workspace.org.api("admin"), workspace.schema()
    single_id, *bulk_ids = [workspace.artifact(schema_id) for _ in range(5)]
    for archived in (True, False):
        filters = {"status": ["ready"], "archived": "false" if archived else "true"}
        assert api.patch(f"/artifacts/{single_id}", {"archived": archived}).status_code == 200
        result = _act(workspace, "archive", 4, filter=filters, archived=archived).json["data"]
        assert result["succeeded"] == 4
    assert api.delete(f"/artifacts/{single_id}").status_code == 204
    assert _act(workspace, "delete", 4).json["data"]["succeeded"] == 4
    entries = _list_entries(workspace, single_id)
    assert [sorted(changes) for *_, changes in entries[1:3]] == [["archived"], ["archived"]]
    assert len(entries) == 4
    for bulk_id in bulk_ids:
        assert _list_entries(workspace, bulk_id) == entries


def test_one_statement_archives_and_unarchives_documents(workspace: Workspace) -> None:
    api = workspace.org.api("labeler")
    for number in range(4):
        create_text(api, f"The invoices of {number}", f"{number}.txt")
    flip = "UPDATE artifacts SET archived = NOT archived"
    workspace.sql(f"{flip} WHERE name < '2'")
    workspace.sql(flip)
    marks = workspace.sql(
        "SELECT a.name, a.archived, s.archived AS searched FROM artifacts a"
        " JOIN artifact_search s ON s.artifact_id = a.id ORDER BY name"
    )
    assert [(row.archived, row.searched) for row in marks] == [
        *[(False, False)] * 2,
        *[(True, True)] * 2,
    ]
