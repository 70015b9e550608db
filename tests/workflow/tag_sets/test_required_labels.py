"""A schema that wants another number of label sets than before: no document is left behind."""

from collections.abc import Callable
from uuid import UUID

import pytest

from app.workflow.tag_sets.queries import locking
from tests.factories.workspace import Workspace
from tests.workflow.actions import accept, publish, reject, reopen
from tests.workflow.tag_sets.merges import merge


def label_and_accept(workspace: Workspace, artifact: UUID) -> None:
    assert accept(workspace, workspace.submitted(artifact)).status_code == 200


def states(workspace: Workspace, *artifacts: UUID) -> list[str]:
    return [workspace.artifact_row(artifact).status for artifact in artifacts]


def test_fewer_are_wanted(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "BATCH_SIZE", 2)
    schema, other = (workspace.schema(labels_per_artifact=2) for _ in range(2))
    done = [workspace.artifact(schema) for _ in range(5)]
    sent, begun, fresh = (workspace.artifact(schema) for _ in range(3))
    apart = workspace.artifact(other)
    for artifact in (*done, apart):
        label_and_accept(workspace, artifact)
    workspace.submitted(sent)
    workspace.draft(begun)
    every = [*done, sent, begun, fresh, apart]
    assert states(workspace, *every) == ["in_progress"] * 7 + ["ready", "in_progress"]
    publish(workspace, schema, labels_per_artifact=1)
    wanted = [*["done"] * 5, "in_review", "in_progress", "ready", "in_progress"]
    assert states(workspace, *every) == wanted


def test_more_are_wanted(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    schema = workspace.schema()
    done, sent = workspace.artifact(schema), workspace.artifact(schema)
    label_and_accept(workspace, done)
    workspace.submitted(sent)
    assert states(workspace, done, sent) == ["done", "in_review"]
    publish(workspace, schema, labels_per_artifact=2)
    # Nobody's finished work is begun anew.
    assert states(workspace, done, sent) == ["done", "in_progress"]
    next_artifact = workspace.org.api("second").post("/artifacts/next", json={}).json["data"]
    assert next_artifact["id"] == str(sent)


def _patch(workspace: Workspace, artifact: UUID, *, archived: bool) -> None:
    path = f"/artifacts/{artifact}"
    assert workspace.org.api("admin").patch(path, json={"archived": archived}).status_code == 200


def _archive_in_bulk(workspace: Workspace, artifact: UUID, *, archived: bool) -> None:
    body = {"artifact_ids": [str(artifact)], "archived": archived}
    answer = workspace.org.api("admin").post("/artifacts/bulk-archive", json=body)
    assert answer.json["data"]["succeeded"] == 1, answer.json


@pytest.mark.parametrize("archive", [_patch, _archive_in_bulk])
def test_what_is_done_stays_done_when_it_is_archived_and_back(
    workspace: Workspace, archive: Callable[..., None]
) -> None:
    workspace.org.add_user("second", "labeler")
    schema = workspace.schema()
    artifact = workspace.artifact(schema)
    label_and_accept(workspace, artifact)
    publish(workspace, schema, labels_per_artifact=2)
    for archived in (True, False):
        archive(workspace, artifact, archived=archived)
        assert states(workspace, artifact) == ["done"]
    next_artifact = workspace.org.api("second").post("/artifacts/next", json={}).json["data"]
    assert next_artifact is None
    # An acceptance that is taken back opens it.
    (tag_set,) = workspace.sql("SELECT id FROM tag_sets")
    assert reopen(workspace, {"id": tag_set.id}).status_code == 200
    assert states(workspace, artifact) == ["in_progress"]
    next_artifact = workspace.org.api("second").post("/artifacts/next", json={}).json["data"]
    assert next_artifact["id"] == str(artifact)


def test_a_rejected_merge_opens_nothing_again(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    schema = workspace.schema(labels_per_artifact=2)
    artifact = workspace.artifact(schema)
    sources = [workspace.submitted(artifact, by=by) for by in ("labeler", "second")]
    merged = merge(workspace, sources).json["data"]
    assert reject(workspace, merged, send_to="pool").status_code == 200
    for source in sources:
        assert accept(workspace, source).status_code == 200
    assert states(workspace, artifact) == ["done"]
    publish(workspace, schema, labels_per_artifact=3)
    for archived in (True, False):
        _patch(workspace, artifact, archived=archived)
        assert states(workspace, artifact) == ["done"]


def test_as_many_are_wanted_as_before(workspace: Workspace) -> None:
    schema = workspace.schema()
    artifact = workspace.artifact(schema)
    workspace.submitted(artifact)
    (before,) = workspace.sql("SELECT updated_at FROM artifacts")
    publish(workspace, schema, max_rejections=1)
    assert workspace.sql("SELECT updated_at FROM artifacts") == [before]
    (event,) = workspace.events("schema.published")
    limits = event["labels_per_artifact"], event["labels_per_artifact_before"]
    assert (event["schema_id"], event["number"], limits) == (str(schema), 2, (1, 1))
