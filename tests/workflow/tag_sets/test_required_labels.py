"""A schema that wants another number of label sets than before: no document is left behind."""

from uuid import UUID

import pytest

from app.workflow.tag_sets.queries import statuses
from tests.factories import Org, drain
from tests.factories.desk import Desk


@pytest.fixture
def desk(org: Org) -> Desk:
    return Desk(org)


def publish(desk: Desk, schema: UUID, **policy: int) -> None:
    api, path = desk.org.api("admin"), f"/schemas/{schema}"
    body = {"review_policy": policy, "revision": api.get(path).json["data"]["revision"]}
    assert api.patch(path, json=body).status_code == 200
    answer = api.post(f"{path}/publish", json={})
    assert answer.status_code == 201, answer.json
    drain(desk.org.app)


def accepted(desk: Desk, artifact: UUID) -> None:
    sent = desk.submitted(artifact)
    answer = desk.org.api("reviewer").post(f"/tag-sets/{sent['id']}/accept", json={})
    assert answer.status_code == 200, answer.json


def states(desk: Desk, *artifacts: UUID) -> list[str]:
    return [desk.artifact_row(one).status for one in artifacts]


def test_fewer_are_wanted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statuses, "BATCH", 2)
    schema, other = (desk.schema(labels_per_artifact=2) for _ in range(2))
    done = [desk.artifact(schema) for _ in range(5)]
    sent, begun, fresh, apart = (desk.artifact(one) for one in (schema, schema, schema, other))
    for one in (*done, apart):
        accepted(desk, one)
    desk.submitted(sent)
    desk.draft(begun)
    every = [*done, sent, begun, fresh, apart]
    assert states(desk, *every) == ["in_progress"] * 7 + ["ready", "in_progress"]
    publish(desk, schema, labels_per_artifact=1)
    wanted = [*["done"] * 5, "in_review", "in_progress", "ready", "in_progress"]
    assert states(desk, *every) == wanted


def test_more_are_wanted(desk: Desk) -> None:
    desk.org.add_user("second", "labeler")
    schema = desk.schema()
    done, sent = desk.artifact(schema), desk.artifact(schema)
    accepted(desk, done)
    desk.submitted(sent)
    assert states(desk, done, sent) == ["done", "in_review"]
    publish(desk, schema, labels_per_artifact=2)
    # Nobody's finished work is begun anew.
    assert states(desk, done, sent) == ["done", "in_progress"]
    drawn = desk.org.api("second").post("/artifacts/next", json={}).json["data"]
    assert drawn["id"] == str(sent)


def test_as_many_are_wanted_as_before(desk: Desk) -> None:
    schema = desk.schema()
    artifact = desk.artifact(schema)
    desk.submitted(artifact)
    (before,) = desk.sql("SELECT updated_at FROM artifacts")
    publish(desk, schema, max_rejections=1)
    assert desk.sql("SELECT updated_at FROM artifacts") == [before]
    (event,) = desk.events("schema.published")
    limits = event["labels_per_artifact"], event["labels_per_artifact_before"]
    assert (event["schema_id"], event["number"], limits) == (str(schema), 2, (1, 1))
