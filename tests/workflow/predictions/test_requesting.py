"""Requests of predictions: what is queued, what is refused, and what an artifact shows."""

from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_conflict, check_error
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace
from tests.workflow.predictions.conftest import (
    create_document,
    predict,
    set_assistance,
    show_prediction,
)


def test_a_request_is_queued_once(assisted_workspace: Workspace) -> None:
    artifact_id = create_document(assisted_workspace)
    assert show_prediction(assisted_workspace, artifact_id) is None
    queued = get_data(predict(assisted_workspace, artifact_id), 202)
    assert (queued["artifact_id"], queued["status"]) == (artifact_id, "queued")
    shown = {"id": queued["id"], "status": "queued", "model_version": None, "error": None}
    assert show_prediction(assisted_workspace, artifact_id) == shown
    assert predict(assisted_workspace, artifact_id, by="admin").json["data"]["id"] == queued["id"]
    ((count,),) = assisted_workspace.sql(
        "SELECT count(*) FROM jobs WHERE organization_id = :org AND function = :function",
        org=assisted_workspace.org.id,
        function="predictions.predict",
    )
    assert count == 1


def test_a_prediction_changes_neither_revision_nor_time(assisted_workspace: Workspace) -> None:
    artifact_id = create_document(assisted_workspace)
    api = assisted_workspace.org.api("labeler")
    before = api.get(f"/artifacts/{artifact_id}").json["data"]
    predict(assisted_workspace, artifact_id)
    after = api.get(f"/artifacts/{artifact_id}").json["data"]
    assert {**after, "prediction": None} == before
    (listed,) = api.get("/artifacts").json["data"]
    assert listed["prediction"] == after["prediction"]


@pytest.mark.parametrize(
    ("change", "details"),
    [
        ("archived = true", {"state": "archived"}),
        ("status = 'processing'", {"state": "processing"}),
        ("status = 'failed'", {"state": "failed"}),
        ("schema_id = NULL", {"missing": "schema"}),
    ],
)
def test_a_document_that_cannot_be_predicted(
    assisted_workspace: Workspace, change: str, details: dict[str, Any]
) -> None:
    artifact_id = create_document(assisted_workspace)
    assisted_workspace.sql(f"UPDATE artifacts SET {change} WHERE id = :id", id=artifact_id)
    check_error(predict(assisted_workspace, artifact_id), 409, "conflict", details=details)
    assert show_prediction(assisted_workspace, artifact_id) is None


def test_a_schema_without_assistance_or_inactive(assisted_workspace: Workspace) -> None:
    artifact_id = create_document(assisted_workspace)
    set_assistance(assisted_workspace, enabled=False)
    check_conflict(predict(assisted_workspace, artifact_id), missing="ai_assist")
    assisted_workspace.sql("UPDATE schemas SET status = 'inactive'")
    check_conflict(predict(assisted_workspace, artifact_id), state="inactive")


def test_another_organization_finds_nothing(assisted_workspace: Workspace, other_org: Org) -> None:
    artifact_id = create_document(assisted_workspace)
    foreign = other_org.api("admin").post(f"/artifacts/{artifact_id}/predict")
    missing = other_org.api("admin").post(f"/artifacts/{uuid7()}/predict")
    assert (foreign.status_code, foreign.data) == (404, missing.data)
    assert predict(assisted_workspace, artifact_id, by="viewer").status_code == 403
