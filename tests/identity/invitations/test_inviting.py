"""Inviting: whom, as what, and what they find in their mail."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from sqlalchemy import text

from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.teams import make_team
from tests.identity.auth.conftest import PASSWORD, code
from tests.identity.invitations.conftest import Workspace, address, check_ended


def test_an_invitation_is_mailed_with_its_token(workspace: Workspace) -> None:
    email = address()
    answer = workspace.invite(email.upper(), "reviewer")
    assert answer.status_code == 201
    made = answer.json["data"]
    assert (made["email"], made["role"], made["status"]) == (email, "reviewer", "open")
    assert made["invited_by"] == {
        "id": str(workspace.org.users["admin"]),
        "email": workspace.org.email("admin"),
        "name": "Admin",
    }
    expires = datetime.fromisoformat(made["expires_at"])
    created = datetime.fromisoformat(made["created_at"])
    assert timedelta(days=7) - timedelta(minutes=1) < expires - created <= timedelta(days=7)
    (message,) = workspace.emails(email)
    assert message.subject == "Admin invites you to Test"
    assert f"/accept-invitation?token={message.token}" in message.text
    assert "as reviewer" in message.text
    assert message.token not in answer.text


def test_only_a_keyed_hash_of_the_token_is_kept(workspace: Workspace) -> None:
    token = workspace.invite_and_get_token(address())
    with workspace.org.app.app_context(), tenancy.organization(workspace.org.id):
        stored_rows = (
            db.session().execute(text("SELECT i::text FROM invitations i")).scalars().all()
        )
        jobs = db.session().execute(text("SELECT j::text FROM jobs j")).scalars().all()
    assert stored_rows
    assert not any(token in row for row in [*stored_rows, *jobs])


def test_again_it_is_sent_anew_and_the_token_before_is_worth_nothing(workspace: Workspace) -> None:
    email = address()
    first = workspace.invite_and_get_token(email)
    data = get_data(workspace.invite(email, "reviewer"), 201)
    second = workspace.token(email)
    assert second != first
    assert workspace.get_preview(first).status_code == 404
    assert workspace.get_preview(second).json["data"]["role"] == "reviewer"
    listed = workspace.org.api().get(workspace.path).json
    assert listed["meta"]["total"] == 1
    assert listed["data"] == [data]


def test_one_mailbox_has_one_invitation_however_it_is_spelled(workspace: Workspace) -> None:
    email = address()
    workspace.invite(email)
    workspace.invite(email.replace("guest", "GUEST"))
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda _: workspace.invite(email).status_code, range(4)))
    assert set(codes) == {201}
    assert workspace.org.api().get(workspace.path).json["meta"]["total"] == 1


def test_an_expired_one_is_sent_anew_too(workspace: Workspace) -> None:
    email = address()
    workspace.invite_and_get_token(email)
    workspace.sql("UPDATE invitations SET expires_at = now() - interval '1 second'")
    assert workspace.org.api().get(workspace.path).json["data"] == []
    assert len(workspace.org.api().get(f"{workspace.path}?status=expired").json["data"]) == 1
    assert workspace.invite(email).status_code == 201
    assert workspace.get_preview(workspace.token(email)).status_code == 200


@pytest.mark.parametrize(
    "email",
    ["", "nobody", "a@b@c.example", "a\r\nBcc: x@y.example@z.example", "\x00@x.example", "a@"],
)
def test_addresses_that_are_none_are_named(workspace: Workspace, email: str) -> None:
    answer = workspace.invite(email)
    assert answer.status_code in (400, 422)
    assert answer.json["error"]["field"] == "email"


def test_members_are_not_invited_again(workspace: Workspace) -> None:
    answer = workspace.invite(workspace.org.email("viewer").upper(), "owner", by="owner")
    check_error(answer, 409, "conflict", field="email")


def test_nobody_invites_above_their_own_role(workspace: Workspace) -> None:
    check_error(workspace.invite(address(), "owner", by="admin"), 403, "insufficient_role")
    assert workspace.invite(address(), "admin", by="admin").status_code == 201
    assert workspace.invite(address(), "owner", by="owner").status_code == 201


def test_a_key_invites_nobody(workspace: Workspace) -> None:
    key = workspace.org.key("admin")
    email = address()
    for role in ("viewer", "admin", "owner"):
        answer = key.post(workspace.path, {"email": email, "role": role})
        assert (answer.status_code, code(answer)) == (403, "permission_denied")
    assert workspace.emails(email) == []
    assert key.get(workspace.path).status_code == 200


def test_teams_must_be_ones_of_the_organization(workspace: Workspace, other_org: Org) -> None:
    mine, foreign = make_team(workspace.org)["id"], make_team(other_org)["id"]
    for wrong in (foreign, str(uuid7())):
        answer = workspace.invite(address(), team_ids=[mine, wrong])
        assert (answer.status_code, answer.json["error"]["field"]) == (400, "team_ids")
        assert answer.json["error"]["details"] == {"team_ids": [wrong]}
    made = workspace.invite(address(), team_ids=[mine, mine])
    assert made.json["data"]["team_ids"] == [mine]


def test_a_withdrawn_one_is_no_longer_good(workspace: Workspace) -> None:
    email = address()
    token = workspace.invite_and_get_token(email)
    (made,) = workspace.org.api().get(workspace.path).json["data"]
    path = f"{workspace.path}/{made['id']}"
    assert workspace.org.api("admin").delete(path).status_code == 204
    assert workspace.org.api("admin").delete(path).status_code == 404
    for answer in (workspace.get_preview(token), workspace.join(token)):
        check_ended(answer, "revoked")
    assert workspace.org.api().get(f"{workspace.path}?status=revoked").json["meta"]["total"] == 1


def test_an_accepted_one_cannot_be_withdrawn(workspace: Workspace) -> None:
    token = workspace.invite_and_get_token(address())
    (made,) = workspace.org.api().get(workspace.path).json["data"]
    assert workspace.join(token).status_code == 200
    check_error(workspace.org.api().delete(f"{workspace.path}/{made['id']}"), 409, "conflict")


def test_the_email_is_in_the_words_of_its_reader(workspace: Workspace) -> None:
    settings = {"time_zone": "Asia/Tokyo"}
    body = {"settings": settings}
    workspace.org.api().patch(f"/organizations/{workspace.org.slug}", json=body)
    email = address()
    workspace.invite(email)
    assert "Japan Standard Time" in " ".join(workspace.emails(email)[0].text.split())


def test_names_do_not_write_headers(workspace: Workspace) -> None:
    with workspace.org.app.app_context(), db.transaction() as session:
        session.get_one(User, workspace.org.users["admin"]).name = "Eve\r\nBcc: victim@test.example"
    email = address()
    workspace.invite(email)
    (message,) = workspace.emails(email)
    assert message.subject == "Eve Bcc: victim@test.example invites you to Test"
    assert workspace.emails("victim@test.example") == []


def test_people_join_nobody_by_a_password_alone(workspace: Workspace) -> None:
    assert workspace.accept("x" * 43, name="Nora", password=PASSWORD).status_code == 404
