"""Old predictions: which are deleted, and which are read again."""

from uuid import UUID

import pytest

from app.kit import db, tenancy
from app.workflow.predictions.queries import purging
from tests.factories.workspace import Workspace

_AGE = "UPDATE predictions SET created_at = now() - interval '91 days' WHERE id = :id"


def _store_old_predictions(workspace: Workspace, artifact_id: UUID, count: int) -> list[str]:
    ids = [workspace.predict(artifact_id, []) for _ in range(count)]
    for prediction_id in ids:
        workspace.sql(_AGE, id=prediction_id)
    return ids


def _purge(workspace: Workspace, position: str | None = None) -> tuple[int, list[str]]:
    """Purge predictions, and return the number of deleted ones and the position of each batch."""
    positions: list[str] = []

    def checkpoint(position: str) -> None:
        positions.append(position)
        db.session().commit()

    everything = tenancy.across_organizations(reason="a test is the job")
    with workspace.org.app.app_context(), everything:
        return purging.purge_outdated(90, checkpoint, position), positions


def _list_ids(workspace: Workspace) -> set[str]:
    return {str(row_id) for (row_id,) in workspace.sql("SELECT id FROM predictions")}


def test_only_old_predictions_that_were_replaced_are_deleted(
    trainable_workspace: Workspace,
) -> None:
    artifact_id = trainable_workspace.artifact(trainable_workspace.schema_id)  # type: ignore[attr-defined]
    old_ids = _store_old_predictions(trainable_workspace, artifact_id, 3)
    _purge(trainable_workspace)
    assert _list_ids(trainable_workspace) == {str(old_ids[-1])}
    recent_id = trainable_workspace.predict(artifact_id, [])
    _purge(trainable_workspace)
    assert _list_ids(trainable_workspace) == {str(recent_id)}


def test_predictions_that_are_kept_are_read_only_once(
    trainable_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "BATCH_SIZE", 2)
    artifacts = [trainable_workspace.artifact(trainable_workspace.schema_id) for _ in range(5)]  # type: ignore[attr-defined]
    replaced_ids = _store_old_predictions(trainable_workspace, artifacts[0], 2)[:1]
    kept_ids = [
        _store_old_predictions(trainable_workspace, artifact_id, 1)[0] for artifact_id in artifacts
    ]
    _, positions = _purge(trainable_workspace)
    read_ids = [position.split()[1] for position in positions]
    assert len(set(read_ids)) == len(read_ids)
    assert read_ids[-1] == kept_ids[-1]
    assert not _list_ids(trainable_workspace) & {*replaced_ids}
    assert _list_ids(trainable_workspace) == set(kept_ids)
    # A run that continues after the last batch reads nothing.
    assert _purge(trainable_workspace, positions[-1]) == (0, [])
