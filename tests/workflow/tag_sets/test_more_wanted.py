"""A schema asks for more label sets than before, in the middle of the work."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.documents.artifacts.conftest import create_text
from tests.factories import Org
from tests.factories.desk import Desk, counts

Work = Callable[[], None]


def _sent(answer: Any) -> dict[str, Any]:
    assert answer.status_code < 300, answer.json
    return dict(answer.json["data"])


def _publish(org: Org, schema: dict[str, Any], wanted: int, **policy: Any) -> None:
    path = f"/schemas/{schema['id']}"
    held = _sent(org.api("admin").get(path))
    policy = {"labels_per_artifact": wanted, "sample_rate": 1.0, **policy}
    body = {"review_policy": policy, "revision": held["revision"]}
    _sent(org.api("admin").patch(path, body))
    _sent(org.api("admin").post(f"{path}/publish", {}))


@pytest.fixture
def schema(org: Org) -> dict[str, Any]:
    """Asks for one label set."""
    body = {
        "name": "Invoices",
        "fields": [{"key": "number", "type": "text", "required": True}],
        "review_policy": {"labels_per_artifact": 1, "sample_rate": 1.0},
    }
    made = _sent(org.api("admin").post("/schemas", body))
    path = f"/schemas/{made['id']}"
    _sent(org.api("admin").post(f"{path}/publish", {}))
    return _sent(org.api("admin").post(f"{path}/activate"))


@pytest.fixture
def first(desk: Desk, schema: dict[str, Any], work: Work) -> dict[str, Any]:
    """Submitted when one was asked for; now two are."""
    document = create_text(desk.org.api("labeler"), "text", schema_id=schema["id"])
    work()
    made = desk.submitted(document["id"])
    assert desk.artifact_row(document["id"]).status == "in_review"
    _publish(desk.org, schema, 2)
    work()
    desk.org.add_user("second", "labeler")
    return made


def _second(desk: Desk) -> dict[str, Any]:
    """The label set that is missing, by whom the draw gives the document."""
    drawn = _sent(desk.org.api("second").post("/artifacts/next", {}))
    return desk.submitted(drawn["id"], by="second")


def _act(desk: Desk, made: dict[str, Any], verb: str, **body: Any) -> Any:
    return desk.org.api("reviewer").post(f"/tag-sets/{made['id']}/{verb}", json=body)


@pytest.mark.parametrize("older_first", [True, False])
def test_the_older_one_is_one_of_those_asked_for(
    desk: Desk, first: dict[str, Any], older_first: bool
) -> None:
    row = desk.artifact_row(first["artifact_id"])
    assert row.status == "in_progress"
    assert desk.org.api("labeler").post("/artifacts/next", {}).json["data"] is None
    second = _second(desk)
    assert second["artifact_id"] == first["artifact_id"]
    for made in (first, second) if older_first else (second, first):
        assert _sent(_act(desk, made, "accept"))["status"] == "accepted"
    row = desk.artifact_row(first["artifact_id"])
    assert (row.status, row.label_counts) == ("done", counts(accepted=2))


def test_both_are_accepted_by_one_call(desk: Desk, first: dict[str, Any]) -> None:
    second = _second(desk)
    body = {"tag_set_ids": [second["id"], first["id"]]}
    done = _sent(desk.org.api("reviewer").post("/review-queue/bulk-accept", body))
    assert done["succeeded"] == 2


def test_no_third_one_is_accepted(desk: Desk, first: dict[str, Any]) -> None:
    desk.org.add_user("third", "labeler")
    path = f"/artifacts/{first['artifact_id']}"
    second = desk.saved(first["artifact_id"], by="second")
    desk.release(first["artifact_id"], by="second")
    third = desk.saved(first["artifact_id"], by="third")
    for by, made in (("second", second), ("third", third)):
        _sent(desk.org.api(by).post(f"/tag-sets/{made['id']}/submit"))
    for made in (third, second):
        assert _sent(_act(desk, made, "accept"))["status"] == "accepted"
    refused = _act(desk, first, "accept")
    assert refused.status_code == 409
    assert refused.json["error"]["details"]["labels_per_artifact"] == 2
    assert desk.org.api("viewer").get(path).json["data"]["status"] == "done"


def test_what_was_rejected_may_be_reopened_beside_the_newer_one(
    desk: Desk, first: dict[str, Any]
) -> None:
    _sent(_act(desk, first, "reject", reason="No", send_to="pool"))
    second = _second(desk)
    reopened = _act(desk, first, "reopen", reason="It was right", to="review")
    assert _sent(reopened)["status"] == "submitted"
    for made in (second, first):
        assert _sent(_act(desk, made, "accept"))["status"] == "accepted"


def test_it_is_sent_to_nobody_who_has_labeled_the_document(
    desk: Desk, first: dict[str, Any]
) -> None:
    second = _second(desk)
    refused = _act(desk, first, "reject", reason="No", send_to=str(desk.org.users["second"]))
    assert refused.status_code == 409
    assert refused.json["error"]["details"] == {"tag_set_id": second["id"]}


@pytest.mark.parametrize("older_last", [True, False])
def test_agreement_counts_both(
    desk: Desk, schema: dict[str, Any], work: Work, older_last: bool
) -> None:
    agreeing = {"auto_accept_agreement": 0.9}
    _publish(desk.org, schema, 1, **agreeing)
    document = create_text(desk.org.api("labeler"), "text", schema_id=schema["id"])
    work()
    older = desk.saved(document["id"])
    _publish(desk.org, schema, 2, **agreeing)
    work()
    desk.org.add_user("second", "labeler")
    desk.release(document["id"])
    newer = desk.saved(document["id"], by="second")
    sets = [("labeler", older), ("second", newer)]
    for by, made in reversed(sets) if older_last else sets:
        _sent(desk.org.api(by).post(f"/tag-sets/{made['id']}/submit"))
    assert desk.artifact_row(document["id"]).label_counts == counts(accepted=2)
