"""Organizations that the operator makes for somebody."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.kit import container, db
from app.kit.ids import uuid7
from tests.factories import Org, operator
from tests.factories.emails import list_emails_to, list_messages_to
from tests.factories.errors import check_error
from tests.factories.orgs import PASSWORD, Api, get_data
from tests.factories.queueing import run_concurrently

PATH = "/internal/organizations"


def body(**owner: str) -> dict[str, Any]:
    number = uuid7().hex[-12:]
    person = {"email": f"grace.{number}@test.example", "name": "Grace", **owner}
    return {"organization": {"name": "Åre AB", "slug": f"are-{number}"}, "owner": person}


def log_in(app: Flask, email: str, password: str) -> Api:
    anonymous = Api(app.test_client(), None, None)
    data = get_data(anonymous.post("/auth/login", json={"email": email, "password": password}))
    return Api(app.test_client(), data["access_token"], None)


def test_a_new_owner_chooses_a_password_by_the_link(app: Flask, work: Callable[[], None]) -> None:
    sent = {**body(), "plan": "business"}
    email = sent["owner"]["email"]
    data = get_data(operator(app).post(PATH, json=sent), 201)
    assert (data["slug"], data["plan"], data["status"]) == (
        sent["organization"]["slug"],
        "business",
        "active",
    )
    assert data["limits"] == {}
    assert data["owner"] == {
        "id": data["owner"]["id"],
        "email": email,
        "name": "Grace",
        "created": True,
    }
    work()
    (message,) = list_messages_to(email)
    assert message["Subject"] == "Your organization Åre AB is ready"
    plain = message.get_body(("plain",)).get_content()
    link = re.search(r"https?://\S+", plain)
    assert link is not None
    start = f"{container.settings().public_url}/reset-password?token="
    assert link[0].startswith(start)
    token = link[0].removeprefix(start).partition("&")[0]
    anonymous = Api(app.test_client(), None, None)
    chosen = {"token": token, "password": "correct horse battery"}
    get_data(anonymous.post("/auth/password-reset/confirm", json=chosen))
    (mine,) = log_in(app, email, chosen["password"]).get("/organizations").json["data"]
    assert (mine["slug"], mine["role"]) == (data["slug"], "owner")
    assert anonymous.post("/auth/password-reset/confirm", json=chosen).status_code == 400


def test_an_account_that_is_there_is_the_owner(org: Org, work: Callable[[], None]) -> None:
    email = org.email("viewer")
    answer = operator(org.app).post(PATH, json=body(email=email.upper(), name="Somebody"))
    assert answer.status_code == 201
    owner = answer.json["data"]["owner"]
    assert (owner["id"], owner["email"]) == (str(org.users["viewer"]), email)
    assert (owner["name"], owner["created"]) == ("Viewer", False)
    work()
    (message,) = list_messages_to(email)
    assert "token" not in message.get_body(("plain",)).get_content()
    organizations = log_in(org.app, email, PASSWORD).get("/organizations").json["data"]
    assert {organization["role"] for organization in organizations} == {"viewer", "owner"}


def test_the_same_key_makes_one_organization(app: Flask) -> None:
    sent, headers = body(), {"Idempotency-Key": uuid7().hex}
    first = operator(app).post(PATH, json=sent, headers=headers)
    again = operator(app).post(
        PATH, json=sent, headers=headers, environ_base={"REMOTE_ADDR": "10.9.8.7"}
    )
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json == again.json
    assert again.headers["Idempotency-Replayed"] == "true"
    check_error(operator(app).post(PATH, json=body(), headers=headers), 409, "conflict")


def test_a_slug_that_is_taken_leaves_nothing_behind(org: Org) -> None:
    sent = body()
    sent["organization"]["slug"] = org.slug
    check_error(operator(org.app).post(PATH, json=sent), 409, "conflict", field="organization.slug")
    with org.app.app_context():
        count = text("SELECT count(*) FROM users WHERE email = :email")
        assert db.session().scalar(count, {"email": sent["owner"]["email"]}) == 0


def test_without_a_slug_one_is_made(app: Flask) -> None:
    sent = body()
    del sent["organization"]["slug"]
    slugs = [operator(app).post(PATH, json={**sent}).json["data"]["slug"] for _ in range(2)]
    assert slugs[0] != slugs[1]
    assert all(slug.startswith("are-ab") for slug in slugs)


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"owner": {"email": "nobody", "name": "N"}}, 400, "owner.email"),
        ({"owner": {"email": "a@b.example\r\nBcc: x@y.z", "name": "N"}}, 400, "owner.email"),
        ({"owner": {"email": "a@b.example", "name": "N\r\nBcc: x"}}, 422, "owner.name"),
        ({"organization": {"name": "N", "slug": "api"}}, 400, "organization.slug"),
        ({"organization": {"name": "N", "slug": "No Slug"}}, 400, "organization.slug"),
        ({"organization": {"name": "", "slug": "abc"}}, 422, "organization.name"),
        ({"plan": "gold"}, 422, "plan"),
        ({"owner": None}, 422, "owner"),
    ],
)
def test_what_is_refused(app: Flask, change: dict[str, Any], status: int, field: str) -> None:
    answer = operator(app).post(PATH, json={**body(), **change})
    assert (answer.status_code, answer.json["error"]["field"]) == (status, field)


def test_a_look_alike_address_and_a_disabled_account_are_conflicts(org: Org) -> None:
    with org.app.app_context(), db.transaction() as session:
        disable = text("UPDATE users SET disabled_at = now() WHERE id = :id")
        session.execute(disable, {"id": org.users["labeler"]})
    alike = org.email("viewer").replace("viewer", "vi\u0435wer")
    for email in (alike, org.email("labeler")):
        answer = operator(org.app).post(PATH, json=body(email=email))
        check_error(answer, 409, "conflict", field="owner.email")


def test_one_owner_of_several_made_at_once_has_one_account(app: Flask) -> None:
    email = f"at-once.{uuid7().hex}@test.example"

    def create_organization() -> Any:
        return operator(app).post(PATH, json=body(email=email))

    answers = run_concurrently(*[create_organization] * 4)
    assert [answer.status_code for answer in answers] == [201] * 4
    owners = [answer.json["data"]["owner"] for answer in answers]
    assert len({owner["id"] for owner in owners}) == 1
    assert sorted(owner["created"] for owner in owners) == [False, False, False, True]


def _register(app: Flask, email: str) -> Api:
    """Register an account whose address is not verified, and return a client that is signed in."""
    sent = {"email": email, "password": PASSWORD, "name": "Mallory"}
    data = get_data(Api(app.test_client(), None, None).post("/auth/register", json=sent), 201)
    return Api(app.test_client(), data["access_token"], None)


def test_whoever_registered_the_owners_address_loses_the_account(
    app: Flask, work: Callable[[], None]
) -> None:
    sent = body()
    email = sent["owner"]["email"]
    stranger, anonymous = _register(app, email), Api(app.test_client(), None, None)
    work()
    (message,) = list_emails_to(email)
    assert get_data(operator(app).post(PATH, json=sent), 201)["owner"]["created"] is False

    assert stranger.get("/auth/session").status_code == 401
    login = {"email": email, "password": PASSWORD}
    assert anonymous.post("/auth/login", json=login).status_code == 401
    confirmed = anonymous.post("/auth/email-change/confirm", json={"token": message.token})
    assert confirmed.status_code == 400, "the link is from before"
    with app.app_context():
        verified_at = text("SELECT email_verified_at FROM users WHERE email = :email")
        assert db.session().scalar(verified_at, {"email": email}) is None

    work()
    *_, welcome = list_emails_to(email)
    assert "is ready" in welcome.subject
    chosen = {"token": welcome.token, "password": "correct horse battery"}
    get_data(anonymous.post("/auth/password-reset/confirm", json=chosen))
    (mine,) = log_in(app, email, chosen["password"]).get("/organizations").json["data"]
    assert (mine["slug"], mine["role"]) == (sent["organization"]["slug"], "owner")


def test_a_second_organization_before_the_link_is_used_sends_a_new_link(
    app: Flask, work: Callable[[], None]
) -> None:
    first = body()
    second = {**body(), "owner": first["owner"]}
    for sent in (first, second):
        assert operator(app).post(PATH, json=sent).status_code == 201
    work()
    welcomes = list_emails_to(first["owner"]["email"])
    statuses = {
        Api(app.test_client(), None, None)
        .post(
            "/auth/password-reset/confirm",
            json={"token": welcome.token, "password": "correct horse battery"},
        )
        .status_code
        for welcome in welcomes
    }
    assert (len(welcomes), statuses) == (2, {200, 400})
