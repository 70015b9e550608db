"""Usage of predictions: recorded once for each completed one, and kept when it is deleted."""

from typing import Any
from uuid import UUID

from app.workflow.predictions.service import predicting, requesting
from tests.factories import run_jobs_of
from tests.factories.workspace import Workspace
from tests.workflow.predictions.conftest import create_document, predict


def _complete(workspace: Workspace) -> tuple[str, str]:
    """Predict a new document; return the ids of the document and the prediction."""
    artifact_id = create_document(workspace)
    prediction_id = predict(workspace, artifact_id).json["data"]["id"]
    run_jobs_of(workspace.org, "predictions")
    return artifact_id, prediction_id


def _list_usage(workspace: Workspace) -> list[Any]:
    sql = "SELECT CAST(prediction_id AS text), pages FROM prediction_usage ORDER BY 1"
    return [tuple(row) for row in workspace.sql(sql)]


def test_a_completed_prediction_is_recorded_once(assisted_workspace: Workspace) -> None:
    artifact_id, prediction_id = _complete(assisted_workspace)
    assert _list_usage(assisted_workspace) == [(prediction_id, 1)]
    with assisted_workspace.transaction():
        requesting.enqueue_prediction(UUID(prediction_id))
    assert run_jobs_of(assisted_workspace.org, "predictions") == 1
    assisted_workspace.sql("UPDATE predictions SET status = 'completed', pages = 7 WHERE true")
    assert _list_usage(assisted_workspace) == [(prediction_id, 1)]
    again = predict(assisted_workspace, artifact_id).json["data"]["id"]
    run_jobs_of(assisted_workspace.org, "predictions")
    assert _list_usage(assisted_workspace) == sorted([(prediction_id, 1), (again, 1)])


def test_a_failed_prediction_is_not_recorded(assisted_workspace: Workspace) -> None:
    artifact_id = create_document(assisted_workspace)
    prediction_id = predict(assisted_workspace, artifact_id).json["data"]["id"]
    assert _list_usage(assisted_workspace) == []
    with assisted_workspace.transaction():
        predicting.fail(UUID(prediction_id), code="internal_error", message="Failed.")
    assert _list_usage(assisted_workspace) == []


def test_deleting_the_document_keeps_the_usage(assisted_workspace: Workspace) -> None:
    artifact_id, prediction_id = _complete(assisted_workspace)
    response = assisted_workspace.org.api("admin").delete(f"/artifacts/{artifact_id}")
    assert response.status_code == 204
    assert assisted_workspace.sql("SELECT id FROM predictions") == []
    assert _list_usage(assisted_workspace) == [(prediction_id, 1)]
