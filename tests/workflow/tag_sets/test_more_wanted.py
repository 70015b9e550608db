"""A schema asks for more label sets than before, in the middle of the work."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.documents.artifacts.conftest import create_text
from tests.factories.workspace import Workspace, counts
from tests.workflow.actions import accept, get_data, publish, reject, reopen, submit

Work = Callable[[], None]


@pytest.fixture
def schema_id(workspace: Workspace) -> str:
    """Return the id of a schema that requires one tag set."""
    return str(workspace.schema())


@pytest.fixture
def first(workspace: Workspace, schema_id: str, work: Work) -> dict[str, Any]:
    """Submitted when one was asked for; now two are."""
    document = create_text(workspace.org.api("labeler"), "text", schema_id=schema_id)
    work()
    tag_set = workspace.submitted(document["id"])
    assert workspace.artifact_row(document["id"]).status == "in_review"
    publish(workspace, schema_id, labels_per_artifact=2, sample_rate=1.0)
    workspace.org.add_user("second", "labeler")
    return tag_set


def _submit_second_tag_set(workspace: Workspace) -> dict[str, Any]:
    """The label set that is missing, by whom the draw gives the document."""
    next_artifact = get_data(workspace.org.api("second").post("/artifacts/next", {}))
    return workspace.submitted(next_artifact["id"], by="second")


@pytest.mark.parametrize("older_first", [True, False])
def test_the_older_one_is_one_of_those_asked_for(
    workspace: Workspace, first: dict[str, Any], older_first: bool
) -> None:
    row = workspace.artifact_row(first["artifact_id"])
    assert row.status == "in_progress"
    assert workspace.org.api("labeler").post("/artifacts/next", {}).json["data"] is None
    second = _submit_second_tag_set(workspace)
    assert second["artifact_id"] == first["artifact_id"]
    for tag_set in (first, second) if older_first else (second, first):
        assert get_data(accept(workspace, tag_set))["status"] == "accepted"
    row = workspace.artifact_row(first["artifact_id"])
    assert (row.status, row.label_counts) == ("done", counts(accepted=2))


def test_both_are_accepted_by_one_call(workspace: Workspace, first: dict[str, Any]) -> None:
    second = _submit_second_tag_set(workspace)
    body = {"tag_set_ids": [second["id"], first["id"]]}
    done = get_data(workspace.org.api("reviewer").post("/review-queue/bulk-accept", body))
    assert done["succeeded"] == 2


def test_no_third_one_is_accepted(workspace: Workspace, first: dict[str, Any]) -> None:
    workspace.org.add_user("third", "labeler")
    path = f"/artifacts/{first['artifact_id']}"
    second = workspace.saved(first["artifact_id"], by="second")
    workspace.release(first["artifact_id"], by="second")
    third = workspace.saved(first["artifact_id"], by="third")
    for by, draft in (("second", second), ("third", third)):
        assert submit(workspace, draft, by=by).status_code == 200
    for tag_set in (third, second):
        assert get_data(accept(workspace, tag_set))["status"] == "accepted"
    refused = accept(workspace, first)
    assert refused.status_code == 409
    assert refused.json["error"]["details"]["labels_per_artifact"] == 2
    assert workspace.org.api("viewer").get(path).json["data"]["status"] == "done"


def test_what_was_rejected_may_be_reopened_beside_the_newer_one(
    workspace: Workspace, first: dict[str, Any]
) -> None:
    assert reject(workspace, first, send_to="pool").status_code == 200
    second = _submit_second_tag_set(workspace)
    assert get_data(reopen(workspace, first))["status"] == "submitted"
    for tag_set in (second, first):
        assert get_data(accept(workspace, tag_set))["status"] == "accepted"


def test_it_is_sent_to_nobody_who_has_labeled_the_document(
    workspace: Workspace, first: dict[str, Any]
) -> None:
    second = _submit_second_tag_set(workspace)
    refused = reject(workspace, first, send_to=str(workspace.org.users["second"]))
    assert refused.status_code == 409
    assert refused.json["error"]["details"] == {"tag_set_id": second["id"]}


@pytest.mark.parametrize("older_last", [True, False])
def test_agreement_counts_both(
    workspace: Workspace, schema_id: str, work: Work, older_last: bool
) -> None:
    policy = {"sample_rate": 1.0, "auto_accept_agreement": 0.9}
    publish(workspace, schema_id, labels_per_artifact=1, **policy)
    document = create_text(workspace.org.api("labeler"), "text", schema_id=schema_id)
    work()
    older = workspace.saved(document["id"])
    publish(workspace, schema_id, labels_per_artifact=2, **policy)
    workspace.org.add_user("second", "labeler")
    workspace.release(document["id"])
    newer = workspace.saved(document["id"], by="second")
    drafts = [("labeler", older), ("second", newer)]
    for by, draft in reversed(drafts) if older_last else drafts:
        assert submit(workspace, draft, by=by).status_code == 200
    assert workspace.artifact_row(document["id"]).label_counts == counts(accepted=2)
