"""`flask user`."""

import re

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.emails import list_messages_to
from tests.factories.orgs import PASSWORD

NEW = "correct horse battery staple"


def _build_email() -> str:
    return f"lin.{uuid7().hex}@test.example"


def test_create_with_a_password_from_standard_input(flask, log_in) -> None:
    email = _build_email()
    made = flask.json(
        "user", "create", email, "--name", "Lin", "--password-stdin", stdin=f"{NEW}\n"
    )
    assert (made["email"], made["email_verified"], made["disabled"]) == (email, False, False)
    assert log_in(email, NEW) == 200


def test_create_asks_for_the_password_and_does_not_show_it(flask, log_in) -> None:
    email = _build_email()
    result = flask.run_ok(
        "user", "create", email, "--name", "Lin", "--verified", stdin=f"{NEW}\n{NEW}\n"
    )
    assert NEW not in result.output
    assert log_in(email, NEW) == 200


def test_no_password_is_ever_an_argument(flask) -> None:
    for arguments in (("user", "create", "a@b.example"), ("user", "set-password", "a@b.example")):
        result = flask.run(*arguments, "--password", NEW)
        assert result.exit_code == 2
        assert "No such option" in result.stderr


def test_create_with_an_invitation(flask, app, log_in, work) -> None:
    email = _build_email()
    flask.run_ok("user", "create", email, "--name", "Lin", "--invite")
    work()
    (message,) = list_messages_to(email)
    token = re.search(r"\?token=([\w-]+)", message.get_body(("plain",)).get_content())
    assert token is not None
    body = {"token": token[1], "password": NEW}
    answer = app.test_client().post("/api/v1/auth/password-reset/confirm", json=body)
    assert answer.status_code == 200
    assert log_in(email, NEW) == 200


@pytest.mark.parametrize(
    ("email", "arguments", "stdin", "expected_words"),
    [
        ("nobody", ("--name", "Lin"), NEW, "(email)"),
        ("a@b.example", ("--name", "L\x1bn"), NEW, "(name)"),
        ("a@b.example", ("--name", "Lin"), "short", "(password)"),
        ("a@b.example", ("--name", "Lin", "--locale", "xx-YY-zz"), NEW, "(locale)"),
    ],
)
def test_accounts_that_are_refused(flask, email, arguments, stdin, expected_words) -> None:
    message = flask.get_refusal(
        "user", "create", email, *arguments, "--password-stdin", stdin=f"{stdin}\n"
    )
    assert expected_words in message


def test_an_address_that_has_an_account(flask, org: Org) -> None:
    email = org.email("viewer").upper()
    arguments = ("user", "create", email, "--name", "V", "--invite")
    assert "(email)" in flask.get_refusal(*arguments)
    result = flask.run(
        "user", "create", _build_email(), "--name", "V", "--password-stdin", stdin=""
    )
    assert result.exit_code == 2


def test_list(flask, org: Org) -> None:
    rows = flask.json("user", "list", "--org", org.slug)
    assert [row["email"] for row in rows] == sorted(org.email(role) for role in org.users)
    assert flask.json("user", "list", "--org", org.slug, "--disabled") == []
    assert {row["email"] for row in flask.json("user", "list")} >= {r["email"] for r in rows}
    assert "no such organization" in flask.get_refusal("user", "list", "--org", "nope")


def test_disable_and_enable(flask, org: Org, log_in) -> None:
    email = org.email("owner")
    result = flask.run_ok("user", "disable", email)
    assert result.stderr == f"Organizations without another owner: {org.slug}.\n"
    assert org.api("owner").get("/artifacts").status_code == 401
    assert log_in(email, PASSWORD) == 401
    assert [r["email"] for r in flask.json("user", "list", "--org", org.slug, "--disabled")] == [
        email
    ]
    assert "disabled" in flask.get_refusal("user", "disable", email)
    flask.run_ok("user", "enable", email)
    assert log_in(email, PASSWORD) == 200
    assert org.api("owner").get("/artifacts").status_code == 401, "the old session stays ended"
    assert "not disabled" in flask.get_refusal("user", "enable", email)
    assert flask.run_ok("user", "disable", org.email("viewer")).stderr == ""


def test_set_password(flask, org: Org, log_in) -> None:
    email = org.email("labeler")
    flask.run_ok("user", "set-password", email, "--password-stdin", stdin=f"{NEW}\n")
    assert org.api("labeler").get("/artifacts").status_code == 401
    assert (log_in(email, PASSWORD), log_in(email, NEW)) == (401, 200)
    message = flask.get_refusal("user", "set-password", email, "--password-stdin", stdin="short\n")
    assert "(password)" in message
    assert log_in(email, NEW) == 200


def test_sessions(flask, org: Org, log_in) -> None:
    email = org.email("reviewer")
    log_in(email, PASSWORD)
    assert len(flask.json("user", "sessions", "list", email)) == 2
    assert flask.json("user", "sessions", "revoke", email) == {"revoked": 2}
    assert org.api("reviewer").get("/artifacts").status_code == 401
    assert flask.json("user", "sessions", "list", email) == []


@pytest.mark.parametrize(
    "arguments",
    [
        *(("disable",), ("enable",), ("sessions", "list"), ("sessions", "revoke")),
    ],
)
def test_unknown_accounts(flask, arguments: tuple[str, ...]) -> None:
    message = flask.get_refusal("user", *arguments, "nobody@test.example")
    assert message == "Error: No account has this email address. (email)\n"


def test_a_password_that_is_not_utf_8_is_refused_without_being_shown(flask, org: Org) -> None:
    result = flask.run(
        "user", "set-password", org.email("viewer"), "--password-stdin", stdin=b"\xffhush-hush-hush"
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert "not UTF-8" in result.stderr
    assert "hush" not in result.stderr
