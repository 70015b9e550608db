"""Old predictions: which are deleted, and which are read again."""

from uuid import UUID

import pytest

from app.kit import db, tenancy
from app.workflow.predictions.queries import purging, records
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


def _find_latest_id(workspace: Workspace, artifact_id: UUID) -> str | None:
    with workspace.org.app.app_context(), tenancy.organization(workspace.org.id):
        latest = records.find_latest(artifact_id)
    return None if latest is None else str(latest.id)


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


@pytest.mark.parametrize("status", ["failed", "queued"])
def test_a_newer_prediction_that_is_not_completed_replaces_no_completed_one(
    trainable_workspace: Workspace, status: str
) -> None:
    artifact_id = trainable_workspace.artifact(trainable_workspace.schema_id)  # type: ignore[attr-defined]
    _, completed_id = _store_old_predictions(trainable_workspace, artifact_id, 2)
    failed_id, newest_id = _store_old_predictions(trainable_workspace, artifact_id, 2)
    for prediction_id, new_status in ((failed_id, "failed"), (newest_id, status)):
        trainable_workspace.sql(
            "UPDATE predictions SET status = :status WHERE id = :id",
            status=new_status,
            id=prediction_id,
        )
    _purge(trainable_workspace)
    # The artifact shows the newest prediction, whatever its status.
    assert _list_ids(trainable_workspace) == {completed_id, newest_id}
    assert _find_latest_id(trainable_workspace, artifact_id) == completed_id


def test_a_newer_prediction_for_another_schema_replaces_none(
    trainable_workspace: Workspace,
) -> None:
    artifact_id = trainable_workspace.artifact(trainable_workspace.schema_id)  # type: ignore[attr-defined]
    (kept_id,) = _store_old_predictions(trainable_workspace, artifact_id, 1)
    change = "UPDATE artifacts SET schema_id = :schema_id WHERE id = :id"
    trainable_workspace.sql(change, schema_id=trainable_workspace.schema(), id=artifact_id)
    (other_id,) = _store_old_predictions(trainable_workspace, artifact_id, 1)
    _purge(trainable_workspace)
    assert _list_ids(trainable_workspace) == {kept_id, other_id}
    trainable_workspace.sql(change, schema_id=trainable_workspace.schema_id, id=artifact_id)  # type: ignore[attr-defined]
    assert _find_latest_id(trainable_workspace, artifact_id) == kept_id


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
