"""A schema asks for more label sets than before, in the middle of the work."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.documents.artifacts.conftest import create_text
from tests.factories import Org
from tests.factories.workspace import Workspace, counts

Work = Callable[[], None]


def _get_data(answer: Any) -> dict[str, Any]:
    assert answer.status_code < 300, answer.json
    return dict(answer.json["data"])


def _publish(org: Org, schema: dict[str, Any], wanted: int, **policy: Any) -> None:
    path = f"/schemas/{schema['id']}"
    held = _get_data(org.api("admin").get(path))
    policy = {"labels_per_artifact": wanted, "sample_rate": 1.0, **policy}
    body = {"review_policy": policy, "revision": held["revision"]}
    _get_data(org.api("admin").patch(path, body))
    _get_data(org.api("admin").post(f"{path}/publish", {}))


@pytest.fixture
def schema(org: Org) -> dict[str, Any]:
    """Asks for one label set."""
    body = {
        "name": "Invoices",
        "fields": [{"key": "number", "type": "text", "required": True}],
        "review_policy": {"labels_per_artifact": 1, "sample_rate": 1.0},
    }
    made = _get_data(org.api("admin").post("/schemas", body))
    path = f"/schemas/{made['id']}"
    _get_data(org.api("admin").post(f"{path}/publish", {}))
    return _get_data(org.api("admin").post(f"{path}/activate"))


@pytest.fixture
def first(workspace: Workspace, schema: dict[str, Any], work: Work) -> dict[str, Any]:
    """Submitted when one was asked for; now two are."""
    document = create_text(workspace.org.api("labeler"), "text", schema_id=schema["id"])
    work()
    made = workspace.submitted(document["id"])
    assert workspace.artifact_row(document["id"]).status == "in_review"
    _publish(workspace.org, schema, 2)
    work()
    workspace.org.add_user("second", "labeler")
    return made


def _submit_second_tag_set(workspace: Workspace) -> dict[str, Any]:
    """The label set that is missing, by whom the draw gives the document."""
    next_artifact = _get_data(workspace.org.api("second").post("/artifacts/next", {}))
    return workspace.submitted(next_artifact["id"], by="second")


def _act(workspace: Workspace, made: dict[str, Any], verb: str, **body: Any) -> Any:
    return workspace.org.api("reviewer").post(f"/tag-sets/{made['id']}/{verb}", json=body)


@pytest.mark.parametrize("older_first", [True, False])
def test_the_older_one_is_one_of_those_asked_for(
    workspace: Workspace, first: dict[str, Any], older_first: bool
) -> None:
    row = workspace.artifact_row(first["artifact_id"])
    assert row.status == "in_progress"
    assert workspace.org.api("labeler").post("/artifacts/next", {}).json["data"] is None
    second = _submit_second_tag_set(workspace)
    assert second["artifact_id"] == first["artifact_id"]
    for made in (first, second) if older_first else (second, first):
        assert _get_data(_act(workspace, made, "accept"))["status"] == "accepted"
    row = workspace.artifact_row(first["artifact_id"])
    assert (row.status, row.label_counts) == ("done", counts(accepted=2))


def test_both_are_accepted_by_one_call(workspace: Workspace, first: dict[str, Any]) -> None:
    second = _submit_second_tag_set(workspace)
    body = {"tag_set_ids": [second["id"], first["id"]]}
    done = _get_data(workspace.org.api("reviewer").post("/review-queue/bulk-accept", body))
    assert done["succeeded"] == 2


def test_no_third_one_is_accepted(workspace: Workspace, first: dict[str, Any]) -> None:
    workspace.org.add_user("third", "labeler")
    path = f"/artifacts/{first['artifact_id']}"
    second = workspace.saved(first["artifact_id"], by="second")
    workspace.release(first["artifact_id"], by="second")
    third = workspace.saved(first["artifact_id"], by="third")
    for by, made in (("second", second), ("third", third)):
        _get_data(workspace.org.api(by).post(f"/tag-sets/{made['id']}/submit"))
    for made in (third, second):
        assert _get_data(_act(workspace, made, "accept"))["status"] == "accepted"
    refused = _act(workspace, first, "accept")
    assert refused.status_code == 409
    assert refused.json["error"]["details"]["labels_per_artifact"] == 2
    assert workspace.org.api("viewer").get(path).json["data"]["status"] == "done"


def test_what_was_rejected_may_be_reopened_beside_the_newer_one(
    workspace: Workspace, first: dict[str, Any]
) -> None:
    _get_data(_act(workspace, first, "reject", reason="No", send_to="pool"))
    second = _submit_second_tag_set(workspace)
    reopened = _act(workspace, first, "reopen", reason="It was right", to="review")
    assert _get_data(reopened)["status"] == "submitted"
    for made in (second, first):
        assert _get_data(_act(workspace, made, "accept"))["status"] == "accepted"


def test_it_is_sent_to_nobody_who_has_labeled_the_document(
    workspace: Workspace, first: dict[str, Any]
) -> None:
    second = _submit_second_tag_set(workspace)
    refused = _act(
        workspace, first, "reject", reason="No", send_to=str(workspace.org.users["second"])
    )
    assert refused.status_code == 409
    assert refused.json["error"]["details"] == {"tag_set_id": second["id"]}


@pytest.mark.parametrize("older_last", [True, False])
def test_agreement_counts_both(
    workspace: Workspace, schema: dict[str, Any], work: Work, older_last: bool
) -> None:
    agreeing = {"auto_accept_agreement": 0.9}
    _publish(workspace.org, schema, 1, **agreeing)
    document = create_text(workspace.org.api("labeler"), "text", schema_id=schema["id"])
    work()
    older = workspace.saved(document["id"])
    _publish(workspace.org, schema, 2, **agreeing)
    work()
    workspace.org.add_user("second", "labeler")
    workspace.release(document["id"])
    newer = workspace.saved(document["id"], by="second")
    sets = [("labeler", older), ("second", newer)]
    for by, made in reversed(sets) if older_last else sets:
        _get_data(workspace.org.api(by).post(f"/tag-sets/{made['id']}/submit"))
    assert workspace.artifact_row(document["id"]).label_counts == counts(accepted=2)
