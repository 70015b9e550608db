"""Trainings that fail for good: the stored error says what happened and what to do."""

from collections.abc import Callable
from typing import Any

import pytest

from app.engines.learning import LearningInterrupted, TrainingResult
from app.kit.jobs.runs import MAX_INTERRUPTIONS
from app.workflow.predictions.service import training
from tests.factories import run_jobs_of
from tests.factories.queueing import call_in_thread
from tests.factories.workspace import Workspace
from tests.workflow.predictions.teaching import accept_invoices, count_trainings, list_models


def _replace_training(monkeypatch: pytest.MonkeyPatch, train: Callable[[], Any]) -> None:
    def train_in_child(*_: Any, **__: Any) -> Any:
        return train()

    monkeypatch.setattr(training, "train_in_child", train_in_child)


def _run_until_given_up(workspace: Workspace) -> int:
    """Run the queued training without waiting between its attempts; return their number."""
    attempts = 0
    while count_trainings(workspace):
        sql = "UPDATE jobs SET due_at = now() WHERE queue = 'training' AND due_at > now()"
        workspace.sql(f"{sql} AND organization_id = :org", org=workspace.org.id)
        attempts += run_jobs_of(workspace.org, "training")
    return attempts


def _get_error(workspace: Workspace) -> tuple[str, str]:
    ((_, state, _, _, _),) = list_models(workspace)
    assert state == "failed"
    ((error,),) = workspace.sql("SELECT error FROM extraction_models")
    assert error["message"].endswith(", then run `flask extraction train`.")
    return error["code"], error["message"]


def test_a_child_that_is_always_killed(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_invoices(trainable_workspace, *range(5))

    def train() -> None:
        raise LearningInterrupted

    _replace_training(monkeypatch, train)
    assert _run_until_given_up(trainable_workspace) == 5
    code, message = _get_error(trainable_workspace)
    assert code == "interrupted"
    assert "the training process was killed. Check the free memory" in message


def test_a_worker_that_always_dies(trainable_workspace: Workspace) -> None:
    accept_invoices(trainable_workspace, *range(5))
    trainable_workspace.sql(
        "UPDATE jobs SET interruptions = :count WHERE queue = 'training'"
        " AND organization_id = :org",
        count=MAX_INTERRUPTIONS,
        org=trainable_workspace.org.id,
    )
    _run_until_given_up(trainable_workspace)
    code, message = _get_error(trainable_workspace)
    assert code == "interrupted"
    assert message.startswith(f"The worker process died {MAX_INTERRUPTIONS} times")


def test_documents_that_are_deleted_in_every_attempt(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact_ids = accept_invoices(trainable_workspace, *range(10))
    api = trainable_workspace.org.api("admin")

    def train() -> TrainingResult:
        path = f"/artifacts/{artifact_ids.pop()}"
        assert call_in_thread(lambda: api.delete(path)).status_code == 204
        return TrainingResult("0" * 64, b"", {}, is_no_worse=True)

    _replace_training(monkeypatch, train)
    assert _run_until_given_up(trainable_workspace) == 5
    code, message = _get_error(trainable_workspace)
    assert code == "conflict"
    assert "a document was deleted during training" in message


def test_an_error_of_the_program_is_named_without_its_values(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_invoices(trainable_workspace, *range(5))

    def train() -> None:
        raise ValueError("Blue Anchor: RX-4000")

    _replace_training(monkeypatch, train)
    assert _run_until_given_up(trainable_workspace) == 5
    code, message = _get_error(trainable_workspace)
    assert code == "internal_error"
    assert "an internal error occurred (ValueError)" in message
    assert "RX-4000" not in message
