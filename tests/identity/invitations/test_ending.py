"""Open invitations end with their inviter's right to invite, and with a removal of the invited."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.identity.control_plane import accounts
from app.identity.invitations import queries
from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.teams import make_team
from tests.identity.auth.conftest import code
from tests.identity.invitations.conftest import Workspace, address

End = Callable[[Workspace], None]


def _remove(workspace: Workspace) -> None:
    path = f"/organizations/{workspace.org.slug}/members/{workspace.org.users['admin']}"
    assert workspace.org.api("owner").delete(path).status_code == 204


def _leave(workspace: Workspace) -> None:
    path = f"/organizations/{workspace.org.slug}/members/{workspace.org.users['admin']}"
    assert workspace.org.api("admin").delete(path).status_code == 204


def _demote(workspace: Workspace) -> None:
    _change_role(workspace, "admin", "reviewer")


def _disable(workspace: Workspace) -> None:
    with workspace.org.app.app_context(), db.transaction():
        accounts.disable_user(workspace.org.email("admin"))


def _change_role(workspace: Workspace, name: str, role: str) -> None:
    path = f"/organizations/{workspace.org.slug}/members/{workspace.org.users[name]}"
    answer = workspace.org.api("owner").patch(path, json={"role": role})
    assert answer.status_code == 200, answer.json


def _check_revoked(answer: Any) -> None:
    assert (answer.status_code, code(answer)) == (409, "conflict")
    assert answer.json["error"]["details"] == {"state": "revoked"}


@pytest.mark.parametrize("end", [_remove, _leave, _demote, _disable], ids=lambda e: e.__name__)
def test_an_invitation_ends_with_its_inviter(
    workspace: Workspace, other_org: Org, end: End
) -> None:
    other_email = address()
    assert workspace.invite(other_email, by="owner").status_code == 201
    token = workspace.invite_and_get_token(address(), by="admin")
    end(workspace)
    _check_revoked(workspace.get_preview(token))
    _check_revoked(workspace.join(token))
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
    path = f"/organizations/{workspace.org.slug}/members/{workspace.org.users['owner']}"
    assert workspace.org.api("second").patch(path, json={"role": "admin"}).status_code == 200
    _check_revoked(workspace.get_preview(to_own))
    assert workspace.get_preview(to_label).status_code == 200


def test_a_promotion_ends_nothing(workspace: Workspace) -> None:
    token = workspace.invite_and_get_token(address(), by="admin")
    _change_role(workspace, "admin", "owner")
    assert workspace.get_preview(token).status_code == 200


def test_an_invitation_from_before_the_removal_lets_nobody_in_again(workspace: Workspace) -> None:
    """Somebody was invited, joined another way and was removed."""
    email = workspace.org.email("labeler")
    with workspace.org.app.app_context(), db.transaction() as session:
        session.execute(
            text("UPDATE users SET email = :e, email_key = :e WHERE id = :u"),
            {"e": f"was.{email}", "u": workspace.org.users["labeler"]},
        )
    token = workspace.invite_and_get_token(email, "owner", by="owner")
    with workspace.org.app.app_context(), db.transaction() as session:
        session.execute(
            text("UPDATE users SET email = :e, email_key = :e WHERE id = :u"),
            {"e": email, "u": workspace.org.users["labeler"]},
        )
    path = f"/organizations/{workspace.org.slug}/members/{workspace.org.users['labeler']}"
    assert workspace.org.api("admin").delete(path).status_code == 204
    _check_revoked(workspace.get_preview(token))


def test_inviting_while_one_is_removed_leaves_nothing_open(
    app: Flask, workspace: Workspace
) -> None:
    emails = [address() for _ in range(6)]
    with ThreadPoolExecutor(4) as pool:
        sent = [pool.submit(workspace.invite, email, by="admin") for email in emails[:3]]
        gone = pool.submit(_remove, workspace)
        sent += [pool.submit(workspace.invite, email, by="admin") for email in emails[3:]]
        gone.result()
        assert {future.result().status_code for future in sent} <= {201, 403}
    assert workspace.org.api("owner").get(workspace.path).json["data"] == []
    with app.app_context(), tenancy.organization(workspace.org.id):
        open_count = db.session().scalar(
            text("SELECT count(*) FROM invitations WHERE revoked_at IS NULL")
        )
    assert open_count == 0


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
