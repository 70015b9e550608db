"""Predictions that wait while the organization changes its AI provider."""

from collections.abc import Callable
from typing import Any

from tests.factories import run_jobs_of
from tests.factories.workspace import Workspace
from tests.workflow.predictions.conftest import create_document, predict, show_prediction

UseServer = Callable[[str], None]


def _use_builtin(workspace: Workspace) -> None:
    body = {"settings": {"ai_provider": {"kind": "builtin"}}}
    answer = workspace.org.api("admin").patch(f"/organizations/{workspace.org.slug}", body)
    assert answer.status_code == 200, answer.json


def _list_queues(workspace: Workspace) -> list[Any]:
    """Return the queues of the jobs that will make predictions."""
    sql = "SELECT queue FROM jobs WHERE queue IN ('predictions', 'model_servers')"
    rows = workspace.sql(
        f"{sql} AND organization_id = :org AND finished_at IS NULL ORDER BY 1",
        org=workspace.org.id,
    )
    return [row[0] for row in rows]


def test_they_move_to_the_queue_of_the_server(
    assisted_workspace: Workspace, use_server: UseServer
) -> None:
    artifact_id = create_document(assisted_workspace)
    predict(assisted_workspace, artifact_id)
    assert _list_queues(assisted_workspace) == ["predictions"]
    use_server("good")
    assert run_jobs_of(assisted_workspace.org, "predictions") == 1
    assert _list_queues(assisted_workspace) == ["model_servers"]
    assert show_prediction(assisted_workspace, artifact_id)["status"] == "queued"
    assert run_jobs_of(assisted_workspace.org, "model_servers") == 1
    shown = show_prediction(assisted_workspace, artifact_id)
    assert (shown["status"], shown["model_version"]) == ("completed", "small-2026")
    assert assisted_workspace.sql("SELECT count(*) FROM predictions") == [(1,)]


def test_they_move_back_to_the_builtin_model(
    assisted_workspace: Workspace, use_server: UseServer
) -> None:
    use_server("never")
    artifact_id = create_document(assisted_workspace)
    predict(assisted_workspace, artifact_id)
    assert _list_queues(assisted_workspace) == ["model_servers"]
    _use_builtin(assisted_workspace)
    assert run_jobs_of(assisted_workspace.org, "model_servers") == 1
    assert _list_queues(assisted_workspace) == ["predictions"]
    assert run_jobs_of(assisted_workspace.org, "predictions") == 1
    shown = show_prediction(assisted_workspace, artifact_id)
    assert (shown["status"], shown["model_version"]) == ("completed", "rules-1")
