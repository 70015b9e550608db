"""Documents are deleted after the organization's retention time, regardless of their status."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.queries import updating
from app.documents.artifacts.service import bulk
from app.kit import db, tenancy
from tests.documents.artifacts.conftest import (
    Stored,
    create_text,
    explain,
)
from tests.factories import Org, make_due
from tests.factories.queueing import KilledError, build_killing_checkpoint
from tests.factories.workspace import Workspace

Work = Callable[[], None]


def _age(workspace: Workspace, artifact_id: Any, days: float) -> None:
    workspace.sql(
        "UPDATE artifacts SET created_at = now() - :age WHERE id = :id",
        age=timedelta(days=days),
        id=str(artifact_id),
    )


def _run_retention(app: Flask, work: Work) -> None:
    """Make the retention run of today due, even if it has already run."""
    make_due(app, "artifacts.start_retention")
    work()


def _list_remaining(org: Org) -> set[str]:
    listed = org.api("viewer").get("/artifacts?archived=any").json["data"]
    return {document["id"] for document in listed}


def test_older_documents_are_deleted_with_tag_sets_and_files(
    org: Org, other_org: Org, app: Flask, stored: Stored, work: Work
) -> None:
    workspace, elsewhere = Workspace(org), Workspace(other_org)
    young = str(workspace.artifact())
    _age(workspace, young, 29.9)
    old = {
        "gold": create_text(org.api("labeler"), "gold", gold=True)["id"],
        "archived": create_text(org.api("labeler"), "archived", archived=True)["id"],
        "draft": workspace.saved()["artifact_id"],
        "submitted": workspace.submitted()["artifact_id"],
        "failed": str(workspace.artifact(status="failed")),
        "processing": str(workspace.artifact(status="processing")),
    }
    for artifact_id in old.values():
        _age(workspace, artifact_id, 30.1)
    kept = str(elsewhere.artifact())
    _age(elsewhere, kept, 10_000)
    _run_retention(app, work)
    assert _list_remaining(org) == {young, *old.values()}
    workspace.settings(retention_days=30)
    _run_retention(app, work)
    assert _list_remaining(org) == {young}
    assert _list_remaining(other_org) == {kept}
    assert {event["artifact_id"] for event in workspace.events("artifact.deleted")} == set(
        old.values()
    )
    for table in ("tag_sets", "tag_set_revisions"):
        assert workspace.sql(f"SELECT 1 FROM {table} WHERE organization_id = :o", o=org.id) == []
    for table in ("artifact_texts", "artifact_search"):
        remaining = f"SELECT CAST(artifact_id AS text) FROM {table} WHERE organization_id = :o"
        assert workspace.sql(remaining, o=org.id) == [(young,)]
    assert stored() == []


def test_the_audit_log_names_retention_as_the_reason(org: Org, app: Flask, work: Work) -> None:
    workspace = Workspace(org)
    artifact_id = workspace.artifact()
    _age(workspace, artifact_id, 2)
    workspace.settings(retention_days=1)
    _run_retention(app, work)
    path = f"/organizations/{org.slug}/audit-log?target_id={artifact_id}&sort=-at&page_size=1"
    (entry,) = org.api("admin").get(path).json["data"]
    assert entry["action"] == "artifacts.retain"
    assert entry["actor"] == {"kind": "system", "id": None, "label": "artifacts.retain"}


def test_an_interrupted_run_is_completed_by_the_next_run(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.kit.bulk.BATCH_SIZE", 2)
    workspace = Workspace(org)
    schema_id = workspace.schema()
    for number in range(5):
        _age(workspace, workspace.artifact(schema_id), 2 + number)
    with org.app.app_context(), tenancy.organization(org.id):
        with pytest.raises(KilledError):
            bulk.delete_expired_documents(1, build_killing_checkpoint(2))
        assert len(workspace.events("artifact.deleted")) == 2
        assert bulk.delete_expired_documents(1, db.session().commit) == 3
    assert len(workspace.events("artifact.deleted")) == 5
    assert _list_remaining(org) == set()


def test_a_batch_is_read_in_the_order_of_an_index(org: Org) -> None:
    oldest = updating.select_documents_created_before(db.utc_now(), limit=1000)
    # With few documents, PostgreSQL would read and sort all of them anyway.
    disabled = ["enable_sort", "enable_incremental_sort", "enable_seqscan"]
    with org.app.app_context(), tenancy.organization(org.id):
        plan = explain(oldest.where(Artifact.organization_id == org.id), disabled=disabled)
    assert "ix_artifacts_list_created" in plan
    assert "Sort" not in plan
