"""The page of an invitation: with a new account, and with an existing one."""

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.usage import set_plan
from tests.identity.auth.conftest import Person
from tests.identity.invitations.conftest import Workspace, address
from tests.identity.pages.conftest import NEW, ShownPage, Visitor, link_of

BAD_NAME = "Use at most 200 characters for the name, and no control characters."


def _invite(workspace: Workspace, email: str, role: str = "labeler") -> str:
    """Invite an address, and return the link in the email."""
    get_data(workspace.invite(email, role), 201)
    return link_of(
        [message for message in workspace.emails(email) if "invites you" in message.subject][-1]
    )


def _join(visitor: Visitor, page: ShownPage, **changes: str) -> ShownPage:
    return visitor.send(page, **{"name": "Nora Berg", "password": NEW, "repeat": NEW, **changes})


def test_a_new_account(workspace: Workspace, visitor: Visitor) -> None:
    email = address()
    page = visitor.open(_invite(workspace, email, "reviewer"))
    assert (page.status, page.heading) == (200, "Accept the invitation")
    assert "Admin invites you to join Test as reviewer" in page.text
    assert page.field("email").get("value") == email
    assert email not in workspace.roles(), "GET changes nothing"
    done = _join(visitor, page)
    assert (done.status, done.heading) == (200, "You are a member of Test")
    assert workspace.roles()[email] == "reviewer"
    body = {"email": email, "password": NEW}
    data = get_data(workspace.guest().post("/auth/login", body))
    assert data["user"]["name"] == "Nora Berg"
    mine = workspace.guest(data["access_token"])
    # The page revoked its own session, because the browser gets no token.
    assert len(mine.get("/auth/sessions").json["data"]) == 1


def test_an_account_that_exists(workspace: Workspace, person: Person, visitor: Visitor) -> None:
    page = visitor.open(_invite(workspace, person.email))
    assert "You already have an account" in page.text
    assert not page.tree.xpath("//input[@name='name' or @name='repeat']")
    wrong = visitor.send(page, password="not the password")
    assert wrong.status == 401
    assert wrong.problems == ["The password is wrong."]
    assert visitor.send(page).problems == ["Enter a password."]
    done = visitor.send(wrong, password="three rivers meet here")
    assert (done.status, done.heading) == (200, "You are a member of Test")
    assert workspace.roles()[person.email] == "labeler"


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"name": ""}, ["Enter your name."]),
        ({"name": " ", "password": ""}, ["Enter your name.", "Enter a password."]),
        ({"name": "\u200b"}, ["Enter your name."]),
        (
            {"name": "x" * 201},
            [BAD_NAME],
        ),
        (
            {"name": "a\x07b"},
            [BAD_NAME],
        ),
        ({"repeat": "another"}, ["The two passwords are not the same."]),
        (
            {"password": "password1234", "repeat": "password1234"},
            ["This password is easy to guess. Choose another one."],
        ),
        (
            {"password": "nora.berg.99", "repeat": "nora.berg.99"},
            ["This password is made of your name or your address. Choose another one."],
        ),
    ],
)
def test_a_refused_form_leaves_the_invitation_open(
    workspace: Workspace, visitor: Visitor, changes: dict[str, str], problems: list[str]
) -> None:
    email = address()
    again = _join(visitor, visitor.open(_invite(workspace, email)), **changes)
    assert again.problems == problems
    assert 400 <= again.status < 500
    assert again.field("name").get("value") == changes.get("name", "Nora Berg")
    assert email not in workspace.roles()
    assert _join(visitor, again).status == 200


def test_an_accepted_revoked_or_expired_invitation(workspace: Workspace, visitor: Visitor) -> None:
    email = address()
    link = _invite(workspace, email)
    page = visitor.open(link)
    assert _join(visitor, page).status == 200
    for used in (visitor.open(link), _join(visitor, page)):
        assert (used.status, used.has_form) == (409, False)
        assert used.problems == [
            "This invitation was accepted already. If you accepted it, you are a member: sign in."
        ]
    withdrawn = _invite(workspace, address())
    workspace.sql("UPDATE invitations SET revoked_at = now() WHERE accepted_at IS NULL")
    assert visitor.open(withdrawn).problems == ["This invitation was withdrawn."]
    over = _invite(workspace, address())
    workspace.sql("UPDATE invitations SET expires_at = now() WHERE accepted_at IS NULL")
    assert visitor.open(over).problems == ["This invitation has expired."]
    assert visitor.open(over).status == 409


def test_a_person_who_became_a_member_in_between(
    workspace: Workspace, person: Person, visitor: Visitor
) -> None:
    """They keep their role."""
    link = _invite(workspace, person.email)
    token = parse_qs(urlsplit(link).query)["token"][0]
    accepted = workspace.accept(token, password="three rivers meet here")
    assert accepted.status_code == 200
    workspace.sql("UPDATE invitations SET accepted_at = NULL, role = 'viewer'")
    page = visitor.open(link)
    assert visitor.send(page, password="three rivers meet here").status == 200
    assert workspace.roles()[person.email] == "labeler"


@pytest.mark.parametrize("token", ["", "x", "%00", "%F0%9F%8E%89", "a" * 5000])
def test_an_unknown_invitation(visitor: Visitor, token: str) -> None:
    page = visitor.open(f"/accept-invitation?token={token}")
    assert (page.status, page.has_form) == (404, False)
    assert "not valid" in page.problems[0]
    assert "new invitation" in page.text


def test_a_suspended_organization(workspace: Workspace, visitor: Visitor) -> None:
    page = visitor.open(_invite(workspace, address()))
    workspace.sql("UPDATE organizations SET status = 'suspended' WHERE id = :org")
    refused = _join(visitor, page)
    assert refused.status == 403
    assert "The organization is suspended" in refused.problems[0]
    # The API's own message is marked as English.
    assert refused.tree.xpath("//*[@role='alert']//span/@lang") == ["en"]


def test_another_organization_shows_nothing(
    workspace: Workspace, other_org: Org, visitor: Visitor
) -> None:
    page = visitor.open(_invite(workspace, address()))
    assert other_org.slug not in page.answer.text
    assert str(other_org.id) not in page.answer.text


def test_passwords_are_turned_off_for_the_domain(
    workspace: Workspace, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.identity.auth import ports  # noqa: PLC0415
    from app.identity.sso.enforcement import _build_password_error  # noqa: PLC0415

    email = f"guest@d{uuid7().hex[-12:]}.example"
    link = _invite(workspace, email)

    def find_address_error(address: str) -> Any:
        return _build_password_error() if address == email else None

    refusing = replace(ports.single_sign_on.get(), find_address_error=find_address_error)
    monkeypatch.setattr(ports.single_sign_on, "_bound", [refusing])
    page = visitor.open(link)
    assert (page.status, page.has_form) == (403, False)
    assert "single sign-on" in page.problems[0]


def test_an_organization_without_room(workspace: Workspace, visitor: Visitor) -> None:
    email = address()
    page = visitor.open(_invite(workspace, email))
    set_plan(workspace.org, "team", {"members": len(workspace.roles())})
    full = _join(visitor, page)
    assert full.status == 402
    [problem] = full.problems
    assert problem.startswith("The organization's plan allows no more members. Ask ")
    assert email not in workspace.roles()
    set_plan(workspace.org, "team", {"members": len(workspace.roles()) + 1})
    assert _join(visitor, page).status == 200
