"""Accepting: with a new account, with one that exists, and only once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest
from sqlalchemy import text

from app.identity.auth import ports
from app.identity.teams import queries
from app.identity.users.models import User
from app.kit import db, errors, tenancy
from app.kit.api import http
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import PASSWORD as OLD_PASSWORD
from tests.factories.orgs import get_data
from tests.factories.teams import make_team
from tests.identity.auth.conftest import PASSWORD, code
from tests.identity.invitations.conftest import Workspace, address, check_ended


def _is_verified(org: Org, email: str) -> bool:
    with org.app.app_context():
        user = db.session().query(User).filter_by(email=email).one()
        return user.email_verified_at is not None


def test_a_token_shows_its_invitation(workspace: Workspace) -> None:
    email = address()
    token = workspace.invite_and_get_token(email, "reviewer")
    preview = get_data(workspace.get_preview(token))
    assert preview.pop("expires_at")
    assert preview == {
        "organization": {"slug": workspace.org.slug, "name": "Test"},
        "email": email,
        "role": "reviewer",
        "inviter_name": "Admin",
        "has_account": False,
    }


@pytest.mark.parametrize("token", ["x", "é", "a" * 5000, "..%2f", "%F0%9F%8E%89"])
def test_an_unknown_token_is_not_found(workspace: Workspace, token: str) -> None:
    assert workspace.get_preview(token).status_code == 404
    assert workspace.join(token).status_code == 404


def test_a_new_account_is_made_verified_and_signed_in(workspace: Workspace) -> None:
    email = address()
    team = make_team(workspace.org)
    token = workspace.invite_and_get_token(email, "reviewer", team_ids=[team["id"]])
    data = get_data(workspace.join(token))
    assert data["user"]["email"] == email
    assert data["organizations"] == [
        {"slug": workspace.org.slug, "name": "Test", "role": "reviewer"}
    ]
    guest = workspace.guest(data["access_token"])
    guest.slug = workspace.org.slug
    assert guest.get("/review-queue").status_code == 200
    assert guest.get("/users/me").json["data"]["email_verified"] is True
    members = workspace.org.api().get(f"/teams/{team['id']}").json["data"]["members"]
    assert [m["user"]["email"] for m in members] == [email]
    login = workspace.guest().post("/auth/login", json={"email": email, "password": PASSWORD})
    assert login.status_code == 200


def test_a_team_that_has_gone_meanwhile_is_passed_over(workspace: Workspace) -> None:
    team = make_team(workspace.org)
    token = workspace.invite_and_get_token(address(), team_ids=[team["id"]])
    assert workspace.org.api().delete(f"/teams/{team['id']}").status_code == 204
    assert workspace.join(token).status_code == 200


def test_a_team_that_is_being_deleted(workspace: Workspace, run_while_locked: Any) -> None:
    """The new member refers to the team and counts in it."""
    team = make_team(workspace.org)
    token = workspace.invite_and_get_token(address(), team_ids=[team["id"]])
    path = f"/teams/{team['id']}"
    deletion = run_while_locked(
        queries, "lock_existing_teams", lambda: workspace.org.api().delete(path)
    )
    assert workspace.join(token).status_code == 200
    assert deletion[0].result(60).status_code == 204


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "Nora"}, "password"),
        ({"password": PASSWORD}, "name"),
        ({"name": "Nora", "password": "short"}, "password"),
        ({"name": "Nora", "password": "password1234"}, "password"),
    ],
)
def test_a_new_account_needs_name_and_a_good_password(
    workspace: Workspace, body: dict[str, Any], field: str
) -> None:
    token = workspace.invite_and_get_token(address())
    check_error(workspace.accept(token, **body), 400, "validation_error", field=field)
    assert workspace.join(token).status_code == 200


def test_an_existing_account_joins_with_its_password(workspace: Workspace, other_org: Org) -> None:
    email = other_org.email("viewer")
    token = workspace.invite_and_get_token(email)
    assert workspace.get_preview(token).json["data"]["has_account"] is True
    for body, status in (({}, 400), ({"password": "wrong-password"}, 401)):
        assert workspace.accept(token, **body).status_code == status
    data = get_data(workspace.accept(token, password=OLD_PASSWORD))
    slugs = {o["slug"] for o in data["organizations"]}
    assert slugs == {workspace.org.slug, other_org.slug}


def test_an_existing_account_joins_with_its_token(workspace: Workspace, other_org: Org) -> None:
    email = other_org.email("viewer")
    with workspace.org.app.app_context(), db.transaction() as session:
        session.get_one(User, other_org.users["viewer"]).email_verified_at = None
    token = workspace.invite_and_get_token(email)
    data = get_data(workspace.accept(token, bearer=other_org.tokens["viewer"]))
    assert data["access_token"] == other_org.tokens["viewer"]
    assert 0 < data["expires_in"] <= 24 * 3600
    assert workspace.roles()[email] == "labeler"
    assert _is_verified(workspace.org, email)


def test_nobody_joins_in_anothers_place(workspace: Workspace, other_org: Org) -> None:
    known, unknown = (
        workspace.invite_and_get_token(other_org.email("viewer")),
        workspace.invite_and_get_token(address()),
    )
    for token in (known, unknown):
        answer = workspace.accept(
            token, bearer=other_org.tokens["owner"], name="x", password=PASSWORD
        )
        assert (answer.status_code, code(answer)) == (403, "permission_denied")
    garbled = workspace.accept(known, bearer="nope", password=OLD_PASSWORD)
    assert (garbled.status_code, code(garbled)) == (401, "invalid_credentials")
    assert other_org.email("owner") not in workspace.roles()


def test_no_password_is_made_where_single_sign_on_rules(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = workspace.invite_and_get_token(address())
    refusal = errors.denied("Sign in elsewhere.")
    refusing = replace(ports.single_sign_on.get(), find_address_error=lambda _email: refusal)
    monkeypatch.setattr(ports.single_sign_on, "_bound", [refusing])
    assert code(workspace.join(token)) == "permission_denied"
    monkeypatch.undo()
    assert workspace.join(token).status_code == 200


def test_an_account_of_a_look_alike_address_is_somebody_elses(workspace: Workspace) -> None:
    email = address()
    assert workspace.join(workspace.invite_and_get_token(email)).status_code == 200
    twin = email.replace("guest", "gu\u0435st")
    answer = workspace.invite(twin)
    if answer.status_code == 201:
        token = workspace.token(twin)
        assert workspace.get_preview(token).json["data"]["has_account"] is False
        assert workspace.join(token).status_code == 409
    else:
        assert answer.status_code in (400, 409)
    assert twin not in workspace.roles()


def test_a_second_acceptance_is_refused(workspace: Workspace) -> None:
    token = workspace.invite_and_get_token(address())
    assert workspace.join(token).status_code == 200
    for answer in (workspace.join(token), workspace.get_preview(token)):
        check_ended(answer, "accepted")


def test_an_expired_invitation_is_refused(workspace: Workspace) -> None:
    token = workspace.invite_and_get_token(address())
    workspace.sql("UPDATE invitations SET expires_at = now()")
    for answer in (workspace.join(token), workspace.get_preview(token)):
        check_ended(answer, "expired")


@pytest.mark.parametrize("_again", range(3))
def test_two_acceptances_in_one_instant_make_one_membership(
    workspace: Workspace, _again: int
) -> None:
    email = address()
    token = workspace.invite_and_get_token(email)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: workspace.join(token), range(4)))
    assert sorted(a.status_code for a in answers) == [200, 409, 409, 409]
    assert [e for e in workspace.roles() if e == email] == [email]


@pytest.mark.parametrize("_again", range(3))
def test_two_acceptances_of_an_account_in_one_instant(
    workspace: Workspace, other_org: Org, _again: int
) -> None:
    token = workspace.invite_and_get_token(other_org.email("viewer"))

    def accept(bearer: str | None) -> int:
        body = {} if bearer else {"password": OLD_PASSWORD}
        return int(workspace.accept(token, bearer=bearer, **body).status_code)

    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(accept, [None, other_org.tokens["viewer"]]))
    assert statuses == [200, 409]


def test_the_same_idempotency_key_answers_again(workspace: Workspace) -> None:
    path = f"/auth/invitations/{workspace.invite_and_get_token(address())}/accept"
    body, headers = {"name": "Nora", "password": PASSWORD}, {"Idempotency-Key": "again"}
    first = workspace.guest().post(path, json=body, headers=headers)
    again = workspace.guest().post(path, json=body, headers=headers)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json == first.json


def test_only_the_same_person_is_answered_again(workspace: Workspace, other_org: Org) -> None:
    path = f"/auth/invitations/{workspace.invite_and_get_token(other_org.email('viewer'))}/accept"
    own = {"Idempotency-Key": "mine"}
    signed_in = own | {"Authorization": f"Bearer {other_org.tokens['viewer']}"}
    first = workspace.guest().post(path, json={}, headers=signed_in)
    assert first.status_code == 200, first.json
    stranger = workspace.guest().post(path, json={}, headers=own)
    assert "Idempotency-Replayed" not in stranger.headers
    assert stranger.status_code >= 400
    again = workspace.guest().post(path, json={}, headers=signed_in)
    assert (again.status_code, again.json) == (200, first.json)


def test_a_suspended_organization_takes_nobody_and_a_closed_one_is_gone(
    workspace: Workspace,
) -> None:
    token = workspace.invite_and_get_token(address())
    workspace.sql("UPDATE organizations SET status = 'suspended' WHERE id = :org")
    assert workspace.get_preview(token).status_code == 200
    assert workspace.join(token).status_code == 403
    workspace.sql("UPDATE organizations SET status = 'closed' WHERE id = :org")
    assert workspace.join(token).json["error"]["details"] == {"state": "revoked"}
    assert workspace.get_preview(token).status_code == 409


def test_the_token_is_in_no_log(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    token, logger = workspace.invite_and_get_token(address()), Mock()
    monkeypatch.setattr(http, "log", logger)
    workspace.get_preview(token)
    assert logger.info.call_args.kwargs["path"] == "/api/v1/auth/invitations/***"
    # One slip, and no operation has the path; the token is as good as before.
    for slip in (f"{token}/", f"{token}/accept/", f"{token}/accept", f"%20{token}", f"x/{token}"):
        workspace.guest().get(f"/auth/invitations/{slip}")
    workspace.guest().post(f"/auth/invitations/{token}")
    assert token not in str(logger.mock_calls)
    assert workspace.get_preview(token).status_code == 200


def test_the_audit_log_records_who_invited_and_who_accepted(workspace: Workspace) -> None:
    email = address()
    token = workspace.invite_and_get_token(email)
    assert workspace.join(token).status_code == 200
    with workspace.org.app.app_context(), tenancy.across_organizations(reason="reads the log"):
        sql = text(
            "SELECT action, actor_label, target_label, changes::text FROM audit_entries"
            " WHERE organization_id = :id AND target_type IN ('invitations', 'members')"
            " AND at > now() - interval '1 minute' ORDER BY id"
        )
        rows = db.session().execute(sql, {"id": workspace.org.id}).all()
    notifications = [
        tuple(row[:3]) for row in rows if row.actor_label in (email, workspace.org.email("admin"))
    ]
    assert notifications == [
        ("invitations.create", workspace.org.email("admin"), email),
        ("invitations.accept", email, email),
        ("members.create", email, email),
    ]
    assert token not in str(rows)
    assert "sort_name" not in str(rows[-1])
