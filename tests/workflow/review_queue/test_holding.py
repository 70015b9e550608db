"""One item: read, claimed, given back, handed on."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.teams import create_team
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import accept, reject, submit


@pytest.fixture
def item(workspace: Workspace) -> dict[str, Any]:
    """A label set that waits for review; there are two reviewers."""
    workspace.org.add_user("other", "reviewer")
    return workspace.submitted()


def _post(
    workspace: Workspace, item: dict[str, Any], what: str, by: str = "reviewer", **body: Any
) -> Any:
    return workspace.org.api(by).post(f"/review-queue/{item['id']}/{what}", json=body or None)


def _get_result(
    workspace: Workspace, item: dict[str, Any], what: str, by: str = "reviewer", **body: Any
) -> Any:
    return get_data(_post(workspace, item, what, by, **body))


def _get_error(answer: Any) -> tuple[int, str, Any]:
    error = answer.json["error"]
    return answer.status_code, error["code"], error.get("details") or error.get("field")


def _get_user_id(workspace: Workspace, name: str) -> str:
    return str(workspace.org.users[name])


def test_an_item_shows_all_of_its_label_set_its_document_and_the_prediction(
    workspace: Workspace,
) -> None:
    artifact_id = workspace.artifact(name="a.pdf")
    sent = workspace.submitted(artifact_id)
    read = workspace.org.api("reviewer").get
    shown = read(f"/review-queue/{sent['id']}").json["data"]
    listed = read("/review-queue").json["data"][0]
    assert {k: v for k, v in shown.items() if k not in ("document", "prediction")} == listed
    assert shown["tag_set"] == sent
    assert shown["document"] == read(f"/artifacts/{artifact_id}").json["data"]
    assert shown["prediction"] is None
    for number in ("old", "new"):
        workspace.predict(artifact_id, [tag("number", number)])
    prediction = read(f"/review-queue/{sent['id']}").json["data"]["prediction"]
    assert (prediction["source"], prediction["tags"][0]["value"]) == ("model", "new")


def test_only_what_waits_is_an_item(workspace: Workspace, other_org: Org) -> None:
    draft, decided = workspace.draft(), workspace.submitted()
    accept(workspace, decided)
    waiting = workspace.submitted()
    for org, tag_set in ((workspace.org, draft), (workspace.org, decided), (other_org, waiting)):
        api, path = org.api("admin"), f"/review-queue/{tag_set['id']}"
        escalation = {"user_id": str(org.users["owner"]), "reason": "x"}
        answers = [
            api.get(path),
            api.post(f"{path}/claim"),
            api.post(f"{path}/release"),
            api.post(f"{path}/escalate", json=escalation),
        ]
        assert {a.status_code for a in answers} == {404}
        assert {a.data for a in answers} == {api.get(f"/review-queue/{uuid7()}").data}


def test_a_claim_is_exclusive_renewed_and_leaves_the_revision(
    workspace: Workspace, item: dict[str, Any]
) -> None:
    first = _get_result(workspace, item, "claim")
    assert first["claim"]["user_id"] == _get_user_id(workspace, "reviewer")
    assert first["tag_set"]["revision"] == item["revision"]
    assert first["updated_at"] == item["updated_at"]
    lost = _get_error(_post(workspace, item, "claim", "other"))
    assert lost == (409, "conflict", {"claim": first["claim"]})
    workspace.settings(claim_minutes=90)
    again = _get_result(workspace, item, "claim")["claim"]
    assert again["expires_at"] > first["claim"]["expires_at"]
    refused = accept(workspace, item, by="other")
    assert _get_error(refused) == (409, "conflict", {"claim": again})


def test_an_admin_takes_an_item_over(workspace: Workspace, item: dict[str, Any]) -> None:
    _get_result(workspace, item, "claim")
    claim = _get_result(workspace, item, "claim", "admin")["claim"]
    assert claim["user_id"] == _get_user_id(workspace, "admin")
    assert _post(workspace, item, "claim").status_code == 409


def test_ones_own_label_set_is_not_for_oneself(workspace: Workspace) -> None:
    own = workspace.submitted(by="reviewer")
    escalation = {"user_id": _get_user_id(workspace, "admin"), "reason": "x"}
    for what, body in (("claim", {}), ("escalate", escalation)):
        assert _get_error(_post(workspace, own, what, **body))[:2] == (403, "permission_denied")
    workspace.settings(allow_self_review=True)
    _get_result(workspace, own, "claim")


def test_what_is_assigned_to_others_is_left_to_them(
    workspace: Workspace, item: dict[str, Any]
) -> None:
    other, team = workspace.org.users["other"], create_team(workspace.org, "other")
    for column, value in (("assignee_id", other), ("assignee_team_id", team)):
        assign = f"UPDATE tag_sets SET {column} = :value WHERE id = :id"
        workspace.sql(assign, value=value, id=item["id"])
        expected = (409, "conflict", {column: str(value)})
        assert _get_error(_post(workspace, item, "claim")) == expected
        assert _get_error(accept(workspace, item)) == expected
        assert _get_error(reject(workspace, item)) == expected
        for by in ("other", "admin"):
            _get_result(workspace, item, "claim", by)
            _get_result(workspace, item, "release", by)
        workspace.sql(assign, value=None, id=item["id"])
    _get_result(workspace, item, "claim")


def test_giving_back(workspace: Workspace, item: dict[str, Any]) -> None:
    assert _get_error(_post(workspace, item, "release"))[:2] == (409, "conflict")
    _get_result(workspace, item, "claim")
    assert _get_error(_post(workspace, item, "release", "other"))[:2] == (403, "permission_denied")
    assert _get_result(workspace, item, "release")["claim"] is None
    _get_result(workspace, item, "claim", "other")
    assert _get_result(workspace, item, "release", "admin")["claim"] is None


def test_an_escalated_item_is_its_recipients(workspace: Workspace, item: dict[str, Any]) -> None:
    _get_result(workspace, item, "claim")
    reviewer, other = (_get_user_id(workspace, name) for name in ("reviewer", "other"))
    shown = _get_result(workspace, item, "escalate", user_id=other, reason="Too hard")
    assert (shown["assignee_id"], shown["assignee_team_id"]) == (other, None)
    assert (shown["claim"], shown["escalated"]) == (None, True)
    escalation = shown["escalation"]
    assert (escalation["by"], escalation["reason"]) == (reviewer, "Too hard")
    assert datetime.now(UTC) - datetime.fromisoformat(escalation["at"]) < timedelta(minutes=1)
    assert workspace.events("reviews.assigned") == [
        {
            "tag_set_ids": [item["id"]],
            "user_ids": [other],
            "team_id": None,
            "by": reviewer,
            "escalated": True,
            "reason": "Too hard",
        }
    ]
    assert _post(workspace, item, "claim").status_code == 409
    next_item = workspace.org.api("other").post("/review-queue/next", json={}).json["data"]
    assert next_item["id"] == item["id"]
    assert accept(workspace, item, by="other").status_code == 200


def test_an_escalation_may_name_the_revision(workspace: Workspace, item: dict[str, Any]) -> None:
    current = item["revision"]
    body = {"user_id": _get_user_id(workspace, "other"), "reason": "Too hard"}
    stale = _get_error(_post(workspace, item, "escalate", **body, revision=current - 1))
    assert stale == (409, "stale_precondition", {"current_revision": current})
    path, headers = f"/review-queue/{item['id']}/escalate", {"If-Match": f'"{current - 1}"'}
    answer = workspace.org.api("reviewer").post(path, json=body, headers=headers)
    assert _get_error(answer) == stale
    assert workspace.events("reviews.assigned") == []
    shown = _get_result(workspace, item, "escalate", **body, revision=current)
    assert shown["tag_set"]["revision"] == current


def test_an_item_is_escalated_to_a_team(workspace: Workspace, item: dict[str, Any]) -> None:
    team = create_team(workspace.org, "other", "labeler")
    shown = _get_result(workspace, item, "escalate", team_id=team, reason="Theirs")
    assert (shown["assignee_id"], shown["assignee_team_id"]) == (None, team)
    assert workspace.events("reviews.assigned")[0]["team_id"] == team
    data = workspace.org.api("other").get(f"/review-queue?team_id={team}&mine=true").json["data"]
    assert [one["id"] for one in data] == [item["id"]]


def test_a_decision_ends_what_was_of_the_review(workspace: Workspace, item: dict[str, Any]) -> None:
    other = _get_user_id(workspace, "other")
    _get_result(workspace, item, "escalate", user_id=other, reason="Too hard")
    reject(workspace, item, by="other")
    submit(workspace, item)
    (again,) = workspace.org.api("reviewer").get("/review-queue").json["data"]
    assert (again["escalated"], again["escalation"], again["assignee_id"]) == (False, None, None)


def test_who_may_not_escalate(workspace: Workspace, item: dict[str, Any]) -> None:
    admin, owner = (_get_user_id(workspace, name) for name in ("admin", "owner"))
    claim = _get_result(workspace, item, "claim", "other")["claim"]
    refused = _get_error(_post(workspace, item, "escalate", user_id=admin, reason="x"))
    assert refused == (409, "conflict", {"claim": claim})
    shown = _get_result(workspace, item, "escalate", "admin", user_id=owner, reason="x")
    assert shown["assignee_id"] == owner
    refused = _get_error(_post(workspace, item, "escalate", user_id=admin, reason="x"))
    assert refused == (409, "conflict", {"assignee_id": owner})


def test_to_whom_nothing_is_escalated(
    workspace: Workspace, item: dict[str, Any], other_org: Org
) -> None:
    cases: list[tuple[str, Any]] = [
        ("user_id", _get_user_id(workspace, "labeler")),
        ("user_id", _get_user_id(workspace, "reviewer")),
        ("user_id", str(other_org.users["reviewer"])),
        ("user_id", str(uuid7())),
        ("team_id", create_team(other_org, "reviewer")),
        ("team_id", str(uuid7())),
        ("team_id", create_team(workspace.org, "labeler")),
    ]
    for field, value in cases:
        answer = _post(workspace, item, "escalate", **{field: value, "reason": "x"})
        assert _get_error(answer) == (400, "validation_error", field), value
    own = workspace.submitted(by="other")
    for field, value in (
        ("user_id", _get_user_id(workspace, "other")),
        ("team_id", create_team(workspace.org, "other")),
    ):
        answer = _post(workspace, own, "escalate", **{field: value, "reason": "x"})
        assert _get_error(answer) == (400, "validation_error", field)
    assert workspace.events("reviews.assigned") == []


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("user_id", {"reason": "x"}),
        ("user_id", {"reason": "x", "user_id": str(uuid7()), "team_id": str(uuid7())}),
        ("reason", {"user_id": str(uuid7()), "reason": " "}),
        ("reason", {"user_id": str(uuid7())}),
        ("reason", {"user_id": str(uuid7()), "reason": "x" * 5001}),
    ],
)
def test_garbled_escalations_are_refused(
    workspace: Workspace, item: dict[str, Any], field: str, body: dict[str, Any]
) -> None:
    answer = _post(workspace, item, "escalate", **body)
    assert (answer.status_code, answer.json["error"]["field"]) == (422, field)
