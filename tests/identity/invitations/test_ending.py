"""Open invitations end with their inviter's right to invite, and with a removal of the invited."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.identity.control_plane import accounts
from app.identity.invitations import queries
from app.kit import db
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.teams import make_team
from tests.identity.invitations.conftest import Workspace, address, check_ended

End = Callable[[Workspace], None]


def _build_path(workspace: Workspace, name: str = "admin") -> str:
    return f"/organizations/{workspace.org.slug}/members/{workspace.org.users[name]}"


def _remove(workspace: Workspace) -> None:
    assert workspace.org.api("owner").delete(_build_path(workspace)).status_code == 204


def _leave(workspace: Workspace) -> None:
    assert workspace.org.api("admin").delete(_build_path(workspace)).status_code == 204


def _demote(workspace: Workspace) -> None:
    _change_role(workspace, "admin", "reviewer")


def _disable(workspace: Workspace) -> None:
    with workspace.org.app.app_context(), db.transaction():
        accounts.disable_user(workspace.org.email("admin"))


def _change_role(workspace: Workspace, name: str, role: str) -> None:
    answer = workspace.org.api("owner").patch(_build_path(workspace, name), json={"role": role})
    assert answer.status_code == 200, answer.json


@pytest.mark.parametrize("end", [_remove, _leave, _demote, _disable], ids=lambda e: e.__name__)
def test_an_invitation_ends_with_its_inviter(
    workspace: Workspace, other_org: Org, end: End
) -> None:
    other_email = address()
    assert workspace.invite(other_email, by="owner").status_code == 201
    token = workspace.invite_and_get_token(address(), by="admin")
    end(workspace)
    check_ended(workspace.get_preview(token), "revoked")
    check_ended(workspace.join(token), "revoked")
    listed = workspace.org.api("owner").get(workspace.path).json["data"]
    assert [invitation["email"] for invitation in listed] == [other_email]
    ended = workspace.org.api("owner").get(f"{workspace.path}?status=revoked").json["data"]
    assert [invitation["invited_by"]["id"] for invitation in ended] == [
        str(workspace.org.users["admin"])
    ]


def test_a_demoted_owner_leaves_no_invitation_to_own(workspace: Workspace) -> None:
    to_own, to_label = (
        workspace.invite_and_get_token(address(), "owner", by="owner"),
        workspace.invite_and_get_token(address()),
    )
    workspace.org.add_user("second", "owner")
    second, path = workspace.org.api("second"), _build_path(workspace, "owner")
    assert second.patch(path, json={"role": "admin"}).status_code == 200
    check_ended(workspace.get_preview(to_own), "revoked")
    assert workspace.get_preview(to_label).status_code == 200


def test_a_promotion_ends_nothing(workspace: Workspace) -> None:
    token = workspace.invite_and_get_token(address(), by="admin")
    _change_role(workspace, "admin", "owner")
    assert workspace.get_preview(token).status_code == 200


def test_an_invitation_from_before_the_removal_lets_nobody_in_again(workspace: Workspace) -> None:
    """Somebody was invited, joined another way and was removed."""
    email = workspace.org.email("labeler")
    labeler = workspace.org.users["labeler"]
    set_email = "UPDATE users SET email = :email, email_key = :email WHERE id = :id"
    run_sql(workspace.org, set_email, email=f"was.{email}", id=labeler)
    token = workspace.invite_and_get_token(email, "owner", by="owner")
    run_sql(workspace.org, set_email, email=email, id=labeler)
    assert workspace.org.api("admin").delete(_build_path(workspace, "labeler")).status_code == 204
    check_ended(workspace.get_preview(token), "revoked")


def test_inviting_while_one_is_removed_leaves_nothing_open(workspace: Workspace) -> None:
    emails = [address() for _ in range(6)]
    with ThreadPoolExecutor(4) as pool:
        sent = [pool.submit(workspace.invite, email, by="admin") for email in emails[:3]]
        gone = pool.submit(_remove, workspace)
        sent += [pool.submit(workspace.invite, email, by="admin") for email in emails[3:]]
        gone.result()
        assert {future.result().status_code for future in sent} <= {201, 403}
    assert workspace.org.api("owner").get(workspace.path).json["data"] == []
    assert run_sql(workspace.org, "SELECT 1 FROM invitations WHERE revoked_at IS NULL") == []


def test_accepting_while_the_inviter_is_removed(
    workspace: Workspace, run_while_locked: Any
) -> None:
    """Both lock the invitation and the team in which the inviter is."""
    team = make_team(workspace.org, lead_id=str(workspace.org.users["admin"]))
    token = workspace.invite_and_get_token(address(), by="admin", team_ids=[team["id"]])
    removal = run_while_locked(queries, "lock_open_invitation", lambda: _remove(workspace))
    accepted = workspace.join(token)
    removal[0].result(60)
    assert accepted.status_code == 200, accepted.json
    members = workspace.org.api("owner").get(f"/teams/{team['id']}").json["data"]["members"]
    assert [member["user"]["id"] for member in members] == [accepted.json["data"]["user"]["id"]]


def test_nobody_is_invited_again_while_they_accept(
    workspace: Workspace, run_while_locked: Any
) -> None:
    email = address()
    token = workspace.invite_and_get_token(email)
    again = run_while_locked(
        queries, "lock_open_invitation", lambda: workspace.invite(email, "admin")
    )
    assert workspace.join(token).status_code == 200
    refused = again[0].result(60)
    assert (refused.status_code, refused.json["error"]["field"]) == (409, "email")
    assert workspace.org.api("owner").get(workspace.path).json["data"] == []
