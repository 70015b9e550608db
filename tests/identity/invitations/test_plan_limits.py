"""Nobody joins an organization beyond the members that its plan allows."""

from app.kit.plan_limits import Meter
from tests.factories.usage import find_usage_differences, set_plan
from tests.identity.invitations.conftest import Workspace, address


def test_an_invitation_waits_until_there_is_room(workspace: Workspace) -> None:
    org, email = workspace.org, address()
    members = len(workspace.roles())
    token = workspace.invite_and_get_token(email)
    set_plan(org, "team", {"members": members})
    answer = workspace.join(token)
    assert (answer.status_code, answer.json["error"]["code"]) == (402, "plan_limit_reached")
    assert answer.json["error"]["details"] == {
        "meter": Meter.MEMBERS, "limit": members, "used": members, "plan": "team",
    }  # fmt: skip
    # Nothing has changed: no account, no membership, and the invitation is still open.
    assert len(workspace.roles()) == members
    assert workspace.get_preview(token).json["data"]["has_account"] is False
    set_plan(org, "team", {"members": members + 1})
    assert workspace.join(token).status_code == 200
    assert workspace.roles()[email] == "labeler"
    assert find_usage_differences(org) == []


def test_a_removed_member_makes_room(workspace: Workspace) -> None:
    org = workspace.org
    set_plan(org, "team", {"members": len(workspace.roles())})
    token = workspace.invite_and_get_token(address())
    path = f"/organizations/{org.slug}/members/{org.users['viewer']}"
    assert org.api("owner").delete(path).status_code == 204
    assert workspace.join(token).status_code == 200
    assert find_usage_differences(org) == []


def test_a_member_needs_no_room(workspace: Workspace) -> None:
    org = workspace.org
    token = workspace.invite_and_get_token(address())
    set_plan(org, "team", {"members": 1})
    # More members than allowed can go on working; only new ones are refused.
    assert org.api("viewer").get("/artifacts").status_code == 200
    assert workspace.join(token).status_code == 402
