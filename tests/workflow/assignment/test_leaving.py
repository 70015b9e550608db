"""What becomes of documents that wait for somebody who leaves, or does not label any more."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from tests.factories.desk import Desk
from tests.workflow.assignment.conftest import Draw

_HOWS = pytest.mark.parametrize("role", [None, "viewer"])


def _leave(desk: Desk, name: str, role: str | None) -> None:
    """Take somebody out, or give them another role."""
    path = f"/organizations/{desk.org.slug}/members/{desk.org.users[name]}"
    owner = desk.org.api("owner")
    answer = owner.patch(path, json={"role": role}) if role else owner.delete(path)
    assert answer.status_code in (200, 204), answer.json


def _reject(desk: Desk, sent: dict[str, Any], **body: Any) -> Any:
    body = {"reason": "Look again", **body}
    return desk.org.api("reviewer").post(f"/tag-sets/{sent['id']}/reject", json=body)


def _reserved(desk: Desk, artifact_id: Any) -> list[UUID]:
    statement = "SELECT reserved_for FROM artifacts WHERE id = :id"
    return list(desk.sql(statement, id=str(artifact_id))[0].reserved_for)


@_HOWS
def test_what_was_sent_back_to_them_is_free_for_others(
    desk: Desk, draw: Draw, work: Callable[[], None], role: str | None
) -> None:
    desk.org.add_user("second", "labeler")
    sent = desk.submitted()
    assert _reject(desk, sent).status_code == 200
    desk.release(sent["artifact_id"])
    assert draw("second") is None
    _leave(desk, "labeler", role)
    work()
    assert _reserved(desk, sent["artifact_id"]) == []
    assert str(draw("second")) == sent["artifact_id"]


def test_who_labels_on_in_another_role_keeps_it(
    desk: Desk, draw: Draw, work: Callable[[], None]
) -> None:
    desk.org.add_user("second", "labeler")
    sent = desk.submitted()
    assert _reject(desk, sent).status_code == 200
    _leave(desk, "labeler", "reviewer")
    work()
    assert _reserved(desk, sent["artifact_id"]) == [desk.org.users["labeler"]]
    assert desk.artifact_row(sent["artifact_id"]).claim_user_id == desk.org.users["labeler"]
    assert draw("second") is None


def test_who_becomes_a_viewer_holds_and_is_assigned_nothing(
    desk: Desk, draw: Draw, work: Callable[[], None]
) -> None:
    desk.org.add_user("second", "labeler")
    schema_id = desk.schema()
    held, assigned = desk.artifact(schema_id), desk.artifact(schema_id)
    assert desk.org.api("labeler").post(f"/artifacts/{held}/claim").status_code == 200
    body = {"user_ids": [str(desk.org.users["labeler"])]}
    path = f"/artifacts/{assigned}/assign"
    assert desk.org.api("reviewer").post(path, json=body).status_code == 200
    _leave(desk, "labeler", "viewer")
    work()
    assert desk.artifact_row(held).claim_user_id is None
    assert desk.events("artifact.released")[-1]["reason"] == "role_changed"
    shown = desk.org.api("viewer").get(f"/artifacts/{assigned}").json["data"]
    assert shown["assignees"] == []


@_HOWS
def test_nothing_is_sent_back_to_who_does_not_label_any_more(
    desk: Desk, work: Callable[[], None], role: str | None
) -> None:
    sent = desk.submitted()
    _leave(desk, "labeler", role)
    work()
    refused = _reject(desk, sent)
    assert (refused.status_code, refused.json["error"]["field"]) == (400, "send_to")
    body = {"tag_set_ids": [sent["id"]], "reason": "x", "send_to": "labeler"}
    answer = desk.org.api("reviewer").post("/review-queue/bulk-reject", json=body)
    (outcome,) = answer.json["data"]["outcomes"]
    assert (outcome["ok"], outcome["code"]) == (False, "validation_error")
    assert _reject(desk, sent, send_to="pool").status_code == 200


def test_a_disabled_account_holds_and_is_assigned_nothing(
    desk: Desk, draw: Draw, work: Callable[[], None]
) -> None:
    desk.org.add_user("second", "labeler")
    labeler = str(desk.org.users["labeler"])
    schema_id = desk.schema()
    held, assigned = desk.artifact(schema_id), desk.artifact(schema_id)
    kept = desk.submitted(desk.artifact(schema_id))
    assert _reject(desk, kept).status_code == 200
    desk.release(kept["artifact_id"])
    assert desk.org.api("labeler").post(f"/artifacts/{held}/claim").status_code == 200
    api, path = desk.org.api("reviewer"), f"/artifacts/{assigned}/assign"
    assert api.post(path, json={"user_ids": [labeler]}).status_code == 200
    desk.disable("labeler")
    work()
    assert desk.artifact_row(held).claim_user_id is None
    assert desk.events("artifact.released")[-1]["reason"] == "account_disabled"
    shown = desk.org.api("viewer").get(f"/artifacts/{assigned}").json["data"]
    assert shown["assignees"] == []
    assert api.post(path, json={"user_ids": [labeler]}).status_code == 400
    assert _reserved(desk, kept["artifact_id"]) == []


def test_nothing_is_sent_back_to_a_disabled_account(desk: Desk) -> None:
    sent = desk.submitted()
    desk.disable("labeler")
    refused = _reject(desk, sent)
    assert (refused.status_code, refused.json["error"]["field"]) == (400, "send_to")
    assert _reject(desk, sent, send_to="pool").status_code == 200
    assert _reserved(desk, sent["artifact_id"]) == []
