"""Who made a tag: a person's confidence spares no review, and nobody passes for a machine."""

from typing import Any

import pytest

from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import accept, get_data, reject, start_draft, submit

SURE = {"confidence": 1}


def _submit(workspace: Workspace, draft: dict[str, Any], *, by: str = "labeler") -> str:
    """Submit a draft, and return its status."""
    return str(get_data(submit(workspace, draft, by=by))["status"])


def _predicted(workspace: Workspace, **policy: Any) -> dict[str, Any]:
    """A draft that began with a model's tags."""
    draft = workspace.draft(
        workspace.artifact(workspace.schema(auto_accept_confidence=0.8, **policy))
    )
    tags = [tag("number", "A", **SURE), tag("note", "B", confidence=0.9)]
    saved = workspace.save(draft, tags).json["data"]
    workspace.mark_tags_as_predicted(saved)
    return dict(workspace.org.api("labeler").get(f"/tag-sets/{saved['id']}").json["data"])


@pytest.mark.parametrize("source", [None, "human", "model", "import"])
def test_a_persons_confidence_spares_no_review(workspace: Workspace, source: str | None) -> None:
    draft = workspace.draft(workspace.artifact(workspace.schema(auto_accept_confidence=0.8)))
    said = {} if source is None else {"source": source}
    saved = workspace.save(draft, [tag("number", "A", **SURE, **said)]).json["data"]
    assert (saved["tags"][0]["source"], saved["tags"][0]["confidence"]) == ("human", 1.0)
    assert _submit(workspace, saved) == "submitted"


def test_a_models_tags_stay_its_own_while_they_are_unchanged(workspace: Workspace) -> None:
    draft = _predicted(workspace)
    saved = workspace.save(draft, draft["tags"][::-1]).json["data"]
    assert [one["source"] for one in saved["tags"]] == ["model", "model"]
    assert _submit(workspace, saved) == "accepted"


@pytest.mark.parametrize(
    "change", [{"value": "C"}, {"confidence": 0.95}, {"evidence": [{"page": 1}]}]
)
def test_a_tag_that_a_person_changed_is_theirs(
    workspace: Workspace, change: dict[str, Any]
) -> None:
    draft = _predicted(workspace)
    saved = workspace.save(draft, [draft["tags"][0], {**draft["tags"][1], **change}]).json["data"]
    assert [one["source"] for one in saved["tags"]] == ["model", "human"]
    assert _submit(workspace, saved) == "submitted"


def _begin_with_prediction(
    workspace: Workspace, artifact_id: Any, tags: list[Any]
) -> dict[str, Any]:
    """A draft that began as a copy of what a model said."""
    workspace.predict(artifact_id, tags)
    return get_data(start_draft(workspace, artifact_id, source="prediction"))


LINES = [tag("lines.item", "rope", row=n, **SURE) for n in (0, 1)]


@pytest.mark.parametrize(
    ("doubtful", "kept", "status"),
    [
        (0.9, [0, 1, 2, 3], "accepted"),
        (0.9, [3, 2, 1, 0], "accepted"),
        (0.5, [0, 1, 2, 3], "submitted"),
        (0.5, [0, 2, 3], "submitted"),
        (None, [0, 2, 3], "submitted"),
        (0.9, [0, 2, 3], "submitted"),
        (0.9, [0, 1, 2], "submitted"),
    ],
)
def test_removing_tags_of_the_prediction_is_reviewed(
    workspace: Workspace, doubtful: float | None, kept: list[int], status: str
) -> None:
    artifact_id = workspace.artifact(workspace.schema(auto_accept_confidence=0.8))
    tags = [tag("number", "A", **SURE), tag("note", "B", confidence=doubtful), *LINES]
    draft = _begin_with_prediction(workspace, artifact_id, tags)
    saved = workspace.save(draft, [draft["tags"][n] for n in kept]).json["data"]
    assert {one["source"] for one in saved["tags"]} == {"model"}
    assert _submit(workspace, saved) == status


def test_tags_that_were_removed_in_an_earlier_save_count(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(auto_accept_confidence=0.8))
    tags = [tag("number", "A", **SURE), tag("note", "B", confidence=0.1)]
    draft = _begin_with_prediction(workspace, artifact_id, tags)
    for _ in range(2):
        draft = workspace.save(draft, draft["tags"][:1]).json["data"]
    assert _submit(workspace, draft) == "submitted"


def test_tags_of_a_later_prediction_are_its_models_and_are_reviewed(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(auto_accept_confidence=0.8))
    draft = workspace.draft(artifact_id)
    model = {"confidence": 0.95, "source": "model"}
    predicted = [tag("number", "A", **model), tag("lines.item", "rope", row=0, **model)]
    workspace.predict(artifact_id, predicted)
    suggested = [*predicted, {**predicted[1], "row": 1}]
    saved = workspace.save(draft, suggested).json["data"]
    assert [one["source"] for one in saved["tags"]] == ["model", "model", "human"]
    again = workspace.save(saved, saved["tags"][:2]).json["data"]
    assert [one["source"] for one in again["tags"]] == ["model", "model"]
    assert _submit(workspace, again) == "submitted"


def test_tags_of_a_hidden_prediction_are_their_persons(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    draft = workspace.draft(artifact_id)
    predicted = [tag("number", "A", confidence=0.95, source="model")]
    workspace.predict(artifact_id, predicted)
    saved = workspace.save(draft, predicted).json["data"]
    assert [one["source"] for one in saved["tags"]] == ["human"]


def test_a_copy_of_a_predicted_tag_is_its_persons(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(auto_accept_confidence=0.8))
    draft = _begin_with_prediction(workspace, artifact_id, [tag("number", "A", **SURE), LINES[0]])
    saved = workspace.save(draft, [*draft["tags"], {**draft["tags"][1], "row": 1}]).json["data"]
    assert sorted(one["source"] for one in saved["tags"]) == ["human", "model", "model"]
    assert _submit(workspace, saved) == "submitted"


def test_confidence_spares_no_review_once_a_tag_set_was_rejected(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    schema_id = workspace.schema(auto_accept_confidence=0.8)
    draft = _begin_with_prediction(
        workspace, workspace.artifact(schema_id), [tag("number", "A", **SURE)]
    )
    changed = workspace.save(draft, [tag("number", "B")]).json["data"]
    assert _submit(workspace, changed) == "submitted"
    answer = reject(workspace, changed, send_to="pool")
    assert answer.status_code == 200, answer.json
    copy = start_draft(workspace, changed["artifact_id"], source="prediction", by="second")
    second = get_data(copy)
    assert [copied["source"] for copied in second["tags"]] == ["model"]
    assert _submit(workspace, second, by="second") == "submitted"


def test_a_reviewer_does_not_pass_for_a_machine_either(workspace: Workspace) -> None:
    tags = [tag("number", "B", **SURE, source="model")]
    answer = accept(workspace, workspace.submitted(), tags=tags)
    assert answer.json["data"]["tags"][0]["source"] == "human"


def test_another_system_says_itself_what_its_models_made(workspace: Workspace) -> None:
    api = workspace.org.key("labeler", maker="admin")
    artifact_id = workspace.artifact(workspace.schema(auto_accept_confidence=0.8))
    draft = api.post(f"/artifacts/{artifact_id}/tag-sets", json={}).json["data"]
    tags = {"tags": [tag("number", "A", **SURE, source="model")], "revision": 1}
    path = f"/tag-sets/{draft['id']}"
    saved = api.put(f"{path}/tags", json=tags)
    assert saved.json["data"]["tags"][0]["source"] == "model", saved.json
    assert api.post(f"{path}/submit").json["data"]["status"] == "accepted"
