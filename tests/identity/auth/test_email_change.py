"""Another address, or proof of the present one."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from sqlalchemy import text

from app.kit import db, secrets, tenancy
from tests.factories.errors import check_error
from tests.factories.waiting import wait_until
from tests.identity.auth.conftest import PASSWORD, Person, address, code

REQUEST, CONFIRM = "/auth/email-change/request", "/auth/email-change/confirm"


@pytest.fixture
def verified_person(person: Person) -> Person:
    """Somebody whose address was verified a while ago."""
    person.device().post(CONFIRM, {"token": person.token("Confirm")})
    return person


def request_email_change(person: Person, email: str, password: str = PASSWORD) -> Any:
    return person.api.post(REQUEST, {"email": email, "password": password})


def test_a_new_address_is_taken_over_once_it_is_confirmed(verified_person: Person) -> None:
    new = address()
    assert request_email_change(verified_person, new.upper()).status_code == 202
    assert verified_person.api.get("/users/me").json["data"]["email"] == verified_person.email
    token = verified_person.token("Confirm", new)
    answer = verified_person.device().post(CONFIRM, {"token": token})
    assert answer.json["data"] == {"email": new, "email_verified": True}
    # The token version is raised: what was signed in under the old address is out.
    assert code(verified_person.api.get("/users/me")) == "token_expired"
    notice = verified_person.emails()[-1]
    assert notice.subject == "The email address of your account was changed"
    assert new in notice.text
    assert verified_person.log_in().status_code == 401
    verified_person.email = new
    me = verified_person.sign_in().get("/users/me").json["data"]
    assert (me["email"], me["email_verified"]) == (new, True)


def test_the_present_address_can_be_verified_again_while_it_is_not(person: Person) -> None:
    first = person.token("Confirm")
    person.sql("UPDATE mailed_tokens SET created_at = now() - interval '1 minute' WHERE email = :e")
    assert request_email_change(person, person.email).status_code == 202
    second = person.token("Confirm")
    assert person.device().post(CONFIRM, {"token": first}).status_code == 400
    assert person.device().post(CONFIRM, {"token": second}).status_code == 200
    assert person.api.get("/users/me").json["data"]["email_verified"] is True
    check_error(request_email_change(person, person.email), 400, "validation_error", field="email")


def end_waiting(person: Person) -> None:
    scope = tenancy.across_organizations(reason="accounts belong to no organization")
    with person.app.app_context(), scope, db.transaction() as session:
        age = "UPDATE mailed_tokens SET created_at = now() - interval '1 minute' WHERE email = :e"
        session.execute(text(age), {"e": person.email})
        due = (
            "UPDATE jobs SET due_at = now() FROM users"
            " WHERE unique_key = 'auth.mail_confirmation/' || users.id AND email = :e"
        )
        session.execute(text(due), {"e": person.email})


def test_links_follow_each_other_no_faster_than_every_half_minute(person: Person) -> None:
    mistyped, corrected = address(), address()
    assert request_email_change(person, mistyped).status_code == 202
    assert request_email_change(person, corrected).status_code == 202
    assert person.emails(mistyped) == person.emails(corrected) == []
    end_waiting(person)
    assert len(person.emails(corrected)) == 1
    assert person.emails(mistyped) == [], "the second request replaced the first"
    assert person.device().post(CONFIRM, {"token": person.token("Confirm", corrected)}).json


def test_a_wrong_password_mails_nothing(verified_person: Person) -> None:
    new = address()
    assert (
        code(request_email_change(verified_person, new, "not this one at all"))
        == "invalid_credentials"
    )
    assert verified_person.emails(new) == []


def test_an_address_of_somebody_else_answers_the_same_and_is_left_alone(
    verified_person: Person, register: Any
) -> None:
    other, asks = register(), register()
    asks.device().post(CONFIRM, {"token": asks.token("Confirm")})
    before = len(other.emails())
    taken, free = (
        request_email_change(verified_person, other.email),
        request_email_change(asks, address()),
    )
    assert taken.status_code == free.status_code == 202
    assert taken.data == free.data
    assert len(other.emails()) == before
    # Both must wait for the next email: a wait of the one alone would tell them apart.
    new_addresses = [address(), address()]
    taken, free = (
        request_email_change(verified_person, new_addresses[0]),
        request_email_change(asks, new_addresses[1]),
    )
    assert taken.status_code == free.status_code == 202
    assert taken.data == free.data
    assert [verified_person.emails(new) for new in new_addresses] == [[], []]


def test_an_address_that_somebody_took_meanwhile_is_a_conflict(
    verified_person: Person, register: Any
) -> None:
    new = address()
    request_email_change(verified_person, new)
    token = verified_person.token("Confirm", new)
    register(email=new.replace("e", "\u0435"))
    answer = verified_person.device().post(CONFIRM, {"token": token})
    assert answer.status_code == 409
    assert verified_person.api.get("/users/me").json["data"]["email"] == verified_person.email


def test_of_two_who_confirm_one_mailbox_at_once_one_gets_it(
    verified_person: Person, register: Any
) -> None:
    other, new = register(), address()
    other.device().post(CONFIRM, {"token": other.token("Confirm")})
    tokens = []
    for person, spelling in ((verified_person, new), (other, new.replace("o", "\u043e"))):
        assert request_email_change(person, spelling).status_code == 202
        tokens.append(person.token("Confirm", spelling))
    with ThreadPoolExecutor(2) as pool:
        statuses = pool.map(
            lambda t: verified_person.device().post(CONFIRM, {"token": t}).status_code, tokens
        )
    assert sorted(statuses) == [200, 409]


def test_a_change_makes_a_reset_mailed_to_the_old_address_worthless(
    verified_person: Person,
) -> None:
    verified_person.device().post("/auth/password-reset/request", {"email": verified_person.email})
    reset, new = verified_person.token("Reset"), address()
    request_email_change(verified_person, new)
    verified_person.device().post(CONFIRM, {"token": verified_person.token("Confirm", new)})
    body = {"token": reset, "password": "another river meets here"}
    assert verified_person.device().post("/auth/password-reset/confirm", body).status_code == 400


@pytest.mark.parametrize("email", ["nora", "nora@x@y.example", "a@b.example\r\nBcc: c@d.example"])
def test_what_is_no_address_is_refused(verified_person: Person, email: str) -> None:
    answer = request_email_change(verified_person, email)
    check_error(answer, 400, "validation_error", field="email")


def test_a_link_asked_for_before_the_password_changed_is_not_mailed_after(
    verified_person: Person,
) -> None:
    """The worker may be late: a thief's request must not outlive the theft's end."""
    new = address()
    assert request_email_change(verified_person, new).status_code == 202
    body = {"current_password": PASSWORD, "new_password": "another river meets"}
    assert verified_person.api.post("/auth/password/change", body).status_code == 200
    assert verified_person.emails(new) == []


class SlowHasher:
    """A hasher that does not finish checking `PASSWORD` until it is let go on."""

    def __init__(self) -> None:
        self.checks = 0
        self.opened = Event()
        self.original = secrets._hasher
        self.hash = self.original.hash
        self.check_needs_rehash = self.original.check_needs_rehash

    def verify(self, stored_hash: str, password: bytes) -> bool:
        if password == PASSWORD.encode():
            self.checks += 1
            assert self.opened.wait(60)
        return self.original.verify(stored_hash, password)


def test_requests_of_one_user_keep_nobody_else_from_signing_in(
    verified_person: Person, register: Callable[..., Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    other_password = "another river meets here"
    other, hasher = register(password=other_password), SlowHasher()
    monkeypatch.setattr(secrets, "_hasher", hasher)
    monkeypatch.setattr(secrets, "hashing_slots", secrets.HashingSlots())
    body = {"email": address(), "password": PASSWORD}
    devices = [verified_person.device(verified_person.api.token) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(devices[0].post, REQUEST, body)
        wait_until(lambda: hasher.checks, "the first check")
        second = pool.submit(devices[1].post, REQUEST, body)
        wait_until(lambda: second.done() or hasher.checks > 1, "the second request")
        status = other.log_in(other_password).status_code
        hasher.opened.set()
        refused = second.result()
        assert first.result().status_code == 202
    assert status == 200
    assert (refused.status_code, code(refused)) == (503, "service_unavailable")
    assert refused.headers["Retry-After"] == "1"
    assert request_email_change(verified_person, address()).status_code == 202
