"""Who made a tag: a person's confidence spares no review, and nobody passes for a machine."""

from typing import Any

import pytest

from tests.factories.desk import Desk, tag
from tests.factories.orgs import Api

SURE = {"confidence": 1}


def _submit(desk: Desk, tag_set: dict[str, Any]) -> str:
    answer = desk.org.api("labeler").post(f"/tag-sets/{tag_set['id']}/submit")
    assert answer.status_code == 200, answer.json
    return str(answer.json["data"]["status"])


def _predicted(desk: Desk, **policy: Any) -> dict[str, Any]:
    """A draft that began with a model's tags."""
    draft = desk.draft(desk.artifact(desk.schema(auto_accept_confidence=0.8, **policy)))
    tags = [tag("number", "A", **SURE), tag("note", "B", confidence=0.9)]
    saved = desk.save(draft, tags).json["data"]
    desk.mark_as_models(saved)
    return dict(desk.org.api("labeler").get(f"/tag-sets/{saved['id']}").json["data"])


@pytest.mark.parametrize("source", [None, "human", "model", "import"])
def test_a_persons_confidence_spares_no_review(desk: Desk, source: str | None) -> None:
    draft = desk.draft(desk.artifact(desk.schema(auto_accept_confidence=0.8)))
    said = {} if source is None else {"source": source}
    saved = desk.save(draft, [tag("number", "A", **SURE, **said)]).json["data"]
    assert (saved["tags"][0]["source"], saved["tags"][0]["confidence"]) == ("human", 1.0)
    assert _submit(desk, saved) == "submitted"


def test_a_models_tags_stay_its_own_while_they_are_unchanged(desk: Desk) -> None:
    draft = _predicted(desk)
    saved = desk.save(draft, draft["tags"][::-1]).json["data"]
    assert [one["source"] for one in saved["tags"]] == ["model", "model"]
    assert _submit(desk, saved) == "accepted"


@pytest.mark.parametrize(
    "change", [{"value": "C"}, {"confidence": 0.95}, {"evidence": [{"page": 1}]}]
)
def test_a_tag_that_a_person_changed_is_theirs(desk: Desk, change: dict[str, Any]) -> None:
    draft = _predicted(desk)
    saved = desk.save(draft, [draft["tags"][0], {**draft["tags"][1], **change}]).json["data"]
    assert [one["source"] for one in saved["tags"]] == ["model", "human"]
    assert _submit(desk, saved) == "submitted"


def test_a_reviewer_does_not_pass_for_a_machine_either(desk: Desk) -> None:
    sent = desk.submitted()
    body = {"tags": [tag("number", "B", **SURE, source="model")]}
    answer = desk.org.api("reviewer").post(f"/tag-sets/{sent['id']}/accept", json=body)
    assert answer.json["data"]["tags"][0]["source"] == "human"


def test_another_system_says_itself_what_its_models_made(desk: Desk) -> None:
    body = {"name": "Model", "role": "labeler"}
    made = desk.org.api("admin").post(f"/organizations/{desk.org.slug}/api-keys", json=body)
    assert made.status_code == 201, made.json
    api = Api(desk.org.app.test_client(), None, None, made.json["data"]["key"])
    artifact_id = desk.artifact(desk.schema(auto_accept_confidence=0.8))
    draft = api.post(f"/artifacts/{artifact_id}/tag-sets", json={}).json["data"]
    tags = {"tags": [tag("number", "A", **SURE, source="model")], "revision": 1}
    path = f"/tag-sets/{draft['id']}"
    saved = api.put(f"{path}/tags", json=tags)
    assert saved.json["data"]["tags"][0]["source"] == "model", saved.json
    assert api.post(f"{path}/submit").json["data"]["status"] == "accepted"
