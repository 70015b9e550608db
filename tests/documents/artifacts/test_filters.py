"""Filters by assignee and due date, in lists and in bulk actions."""

from contextlib import closing
from datetime import timedelta
from typing import Any

import psycopg2
import pytest
from sqlalchemy import select

from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.queries.reading import apply_filters
from app.kit import bulk, db, tenancy
from app.kit.ids import uuid7
from devserver.postgres import EmbeddedPostgres
from tests.documents.artifacts.conftest import create_text, explain, list_names
from tests.factories import Org
from tests.factories.workspace import Workspace

_COPY = """
INSERT INTO artifacts SELECT (jsonb_populate_record(document, jsonb_build_object(
    'id', gen_random_uuid(),
    'sha256', encode(sha256(convert_to(CAST(document.id AS text) || n, 'UTF8')), 'hex')))).*
FROM artifacts document, generate_series(1, 2000) AS n WHERE organization_id = :org
"""

EARLY, LATE = "2026-03-01T08:00:00Z", "2026-03-02T08:00:00Z"
LONG_AGO = "2000-01-01T00:00:00Z"


def _create_document(workspace: Workspace, name: str, **members: Any) -> str:
    document = create_text(workspace.org.api("labeler"), f"text of {name}", name, **members)
    return str(document["id"])


def _assign(workspace: Workspace, artifact_id: str, to: str) -> None:
    body = {"user_ids": [str(workspace.org.users[to])]}
    answer = workspace.org.api("admin").post(f"/artifacts/{artifact_id}/assign", body)
    assert answer.status_code == 200, answer.json


def test_filter_by_assignment(workspace: Workspace) -> None:
    schema = str(workspace.schema())
    assigned_id, team_document_id, _ = (
        _create_document(workspace, name, schema_id=schema) for name in ("a", "b", "c")
    )
    _assign(workspace, assigned_id, "labeler")
    api = workspace.org.api("admin")
    team = api.post("/teams", json={"name": "Team"}).json["data"]["id"]
    assert api.post(f"/artifacts/{team_document_id}/assign", {"team_id": team}).status_code == 200
    assert list_names(workspace.org, "assigned=true") == ["b", "a"]
    assert list_names(workspace.org, "assigned=false") == ["c"]
    assert list_names(workspace.org, f"assigned=false&assignee={team}") == []
    assert list_names(workspace.org, "assigned=true&q=text&sort=name") == ["a", "b"]
    assert api.post(f"/artifacts/{assigned_id}/assign", {"user_ids": []}).status_code == 200
    assert list_names(workspace.org, "assigned=false") == ["c", "a"]


def test_filter_by_due_time(workspace: Workspace, other_org: Org) -> None:
    _create_document(workspace, "early", due_at=EARLY)
    _create_document(workspace, "late", due_at="2026-03-02t09:00:00+01:00")
    _create_document(workspace, "never")
    create_text(other_org.api("labeler"), "theirs", "theirs", due_at=EARLY)
    assert list_names(workspace.org, f"due_before={LATE}") == ["early"]
    assert list_names(workspace.org, f"due_after={EARLY}") == ["late", "early"]
    assert list_names(workspace.org, f"due_after={EARLY}&due_before={LATE}") == ["early"]
    assert list_names(workspace.org, "due_after=2026-03-01T07:59:59.999999z") == ["late", "early"]
    assert list_names(workspace.org, "q=text&due_before=2026-03-01T08:00:00.000001Z") == ["early"]


@pytest.mark.parametrize("name", ["media_type", "language"])
def test_documents_with_another_value_are_not_read(
    workspace: Workspace, postgres: EmbeddedPostgres, name: str
) -> None:
    org = workspace.org
    workspace.artifact(text="one")
    workspace.sql(_COPY, org=str(org.id))
    # With few documents or without statistics, reading all of them would cost the same.
    with closing(psycopg2.connect(postgres.url)) as owner, owner, owner.cursor() as cursor:
        cursor.execute("ANALYZE artifacts")
    order = (Artifact.created_at.desc(), Artifact.id.desc())
    page = apply_filters(select(Artifact.id), **{name: "x"}).order_by(*order).limit(100)
    with org.app.app_context(), tenancy.organization(org.id):
        plan = explain(page.where(Artifact.organization_id == org.id), disabled=["enable_sort"])
    assert f"ix_artifacts_list_{name}" in plan


@pytest.mark.parametrize("query", ["assigned=1", "assigned=", "due_after=today", "due_before=2026"])
def test_an_invalid_filter_is_422(org: Org, query: str) -> None:
    answer = org.api("viewer").get(f"/artifacts?{query}")
    assert answer.status_code == 422
    assert answer.json["error"]["field"] == query.partition("=")[0]


@pytest.mark.parametrize("action", ["archive", "delete"])
def test_overdue_and_unassigned_documents_in_bulk(workspace: Workspace, action: str) -> None:
    schema, now = workspace.schema(), db.utc_now()
    late, soon = now - timedelta(days=1), now + timedelta(days=1)
    unassigned_id, assigned_id = (str(workspace.artifact(schema, due_at=late)) for _ in range(2))
    other_ids = [str(workspace.artifact(schema, due_at=due)) for due in (soon, None)]
    _assign(workspace, assigned_id, "labeler")
    filters = {"assigned": False, "due_after": LONG_AGO, "due_before": now.isoformat()}
    api = workspace.org.api("admin")
    body = {"filter": filters, "expected_count": 1}
    result = api.post(f"/artifacts/bulk-{action}", body).json["data"]
    assert (result["matched"], result["succeeded"]) == (1, 1)
    remaining_ids = {document["id"] for document in api.get("/artifacts").json["data"]}
    assert remaining_ids == {assigned_id, *other_ids}
    assert unassigned_id not in remaining_ids


def test_documents_assigned_meanwhile_are_not_reassigned(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 2)
    schema = workspace.schema()
    ids = [str(workspace.artifact(schema)) for _ in range(5)]
    checkpoint = bulk.db.checkpoint

    def assign_in_another_request() -> None:
        checkpoint()
        monkeypatch.setattr(bulk.db, "checkpoint", checkpoint)
        assignees = f'[{{"user_id": "{uuid7()}", "team_id": null}}]'
        workspace.sql(
            "UPDATE artifacts SET assignees = CAST(:who AS jsonb) WHERE id = :id",
            who=assignees,
            id=ids[4],
        )

    monkeypatch.setattr(bulk.db, "checkpoint", assign_in_another_request)
    me = str(workspace.org.users["labeler"])
    body = {"filter": {"assigned": "false"}, "expected_count": 5, "user_ids": [me]}
    answer = workspace.org.api("admin").post("/artifacts/bulk-assign", body)
    result = answer.json["data"]
    assert (result["matched"], result["succeeded"], result["failed"]) == (5, 4, 1)
    assert [(outcome["id"], outcome["code"]) for outcome in result["outcomes"]] == [
        (ids[4], "conflict")
    ]
    listed = workspace.org.api("viewer").get(f"/artifacts?assignee={me}").json["data"]
    assert {document["id"] for document in listed} == set(ids[:4])
