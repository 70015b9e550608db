"""Passwords: reset by mail, changed by their owner."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

import pytest
from argon2 import PasswordHasher
from sqlalchemy import text

from app.kit import db, secrets
from tests.factories.emails import list_emails_to
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.identity.auth.conftest import PASSWORD, Person, address, code

NEW = "another river meets here"
REQUEST, CONFIRM = "/auth/password-reset/request", "/auth/password-reset/confirm"
CHANGE = "/auth/password/change"
MAIL_CONFIRM = "/auth/email-change/confirm"


def test_a_reset_sets_the_password_and_ends_every_session(person: Person) -> None:
    other = person.sign_in()
    answer = person.device().post(CONFIRM, {"token": person.request_reset_token(), "password": NEW})
    assert answer.status_code == 200
    data = answer.json["data"]
    assert data["user"]["email"] == person.email
    fresh = person.device(data["access_token"])
    assert fresh.get("/users/me").json["data"]["email_verified"] is True
    for api in (person.api, other):
        assert code(api.get("/users/me")) == "token_expired"
    assert person.log_in().status_code == 401
    assert person.log_in(NEW).status_code == 200
    assert person.emails()[-1].subject == "Your password was changed"


def test_the_response_does_not_reveal_accounts(person: Person) -> None:
    def ask(email: str) -> tuple[int, bytes, float]:
        started = time.perf_counter()
        answer = person.device().post(REQUEST, {"email": email})
        return answer.status_code, answer.data, time.perf_counter() - started

    pairs = [(ask(person.email), ask(address())) for _ in range(15)]
    assert {answer[:2] for pair in pairs for answer in pair} == {
        (202, b'{"data":{"expires_in":3600},"meta":{}}')
    }
    known, unknown = (median(pair[side][2] for pair in pairs) for side in (0, 1))
    assert 1 / 3 < known / unknown < 3
    assert len([email for email in person.emails() if "Reset" in email.subject]) == 1


def test_the_mail_goes_to_the_stored_address(person: Person) -> None:
    typed = person.email.upper().replace("E", "\u0415")
    person.device().post(REQUEST, {"email": typed})
    assert person.token("Reset")
    assert not list_emails_to(typed)


@pytest.mark.parametrize("kind", ["no one", "disabled"])
def test_nothing_is_mailed_to_who_has_no_account(person: Person, kind: str) -> None:
    email = person.email if kind == "disabled" else address()
    if kind == "disabled":
        person.sql("UPDATE users SET disabled_at = now() WHERE email = :e")
    before = len(person.emails(email))
    assert person.device().post(REQUEST, {"email": email}).status_code == 202
    assert len(person.emails(email)) == before


def test_addresses_do_not_lie_open_in_the_table_of_jobs(person: Person) -> None:
    person.device().post(REQUEST, {"email": person.email})
    with person.app.app_context(), db.engine().begin() as connection:
        connection.execute(text("SELECT set_config('app.all_organizations', 'on', true)"))
        look = "SELECT count(*) FROM jobs WHERE args::text LIKE '%' || :e || '%'"
        assert connection.execute(text(look), {"e": person.email}).scalar_one() == 0


def test_a_stranger_who_asks_again_and_again_keeps_nobody_out(person: Person) -> None:
    """Nor fills their mailbox; and one link that was used takes the others with it."""
    tokens = [person.request_reset_token()]
    for _ in range(7):
        person.skip_link_interval()
        tokens.append(person.request_reset_token())
    assert len(set(tokens)) == 5
    assert person.device().post(CONFIRM, {"token": tokens[0], "password": NEW}).status_code == 200
    refused = person.device().post(CONFIRM, {"token": tokens[-1], "password": f"{NEW} too"})
    check_error(refused, 400, "validation_error", field="token")
    assert person.log_in(NEW).status_code == 200


def test_a_link_works_once_and_of_two_at_once_for_one(person: Person) -> None:
    token = person.request_reset_token()

    def confirm(password: str) -> int:
        body = {"token": token, "password": password}
        return int(person.device().post(CONFIRM, body).status_code)

    with ThreadPoolExecutor(2) as pool:
        statuses = list(pool.map(confirm, [NEW, f"{NEW} too"]))
    assert sorted(statuses) == [200, 400]
    won = [NEW, f"{NEW} too"][statuses.index(200)]
    assert person.log_in(won).status_code == 200
    assert confirm("yet another river") == 400


def test_links_of_two_kinds_at_once_wait_for_each_other(
    register: Callable[..., Person],
) -> None:
    """Each makes the other worthless: neither may hold what the other waits for."""
    for _ in range(3):
        person, new = register(), address()
        person.device().post(MAIL_CONFIRM, {"token": person.token("Confirm")})
        asked = person.api.post("/auth/email-change/request", {"email": new, "password": PASSWORD})
        assert asked.status_code == 202
        bodies = [
            (CONFIRM, {"token": person.request_reset_token(), "password": NEW}),
            (MAIL_CONFIRM, {"token": person.token("Confirm", new)}),
        ]
        with ThreadPoolExecutor(2) as pool:
            answers = [pool.submit(person.device().post, *sent) for sent in bodies]
            statuses = sorted(future.result().status_code for future in answers)
        assert statuses == [200, 400]


def test_an_expired_link_is_refused(person: Person) -> None:
    token = person.request_reset_token()
    person.sql("UPDATE mailed_tokens SET expires_at = now() WHERE email = :e")
    assert person.device().post(CONFIRM, {"token": token, "password": NEW}).status_code == 400
    assert person.log_in().status_code == 200


@pytest.mark.parametrize("token", ["", "x", "\u20ac" * 43, "A" * 43, "../" * 20])
def test_a_token_nobody_mailed_is_refused(person: Person, token: str) -> None:
    answer = person.device().post(CONFIRM, {"token": token, "password": NEW})
    check_error(answer, 400, "validation_error", field="token")


def test_a_refused_password_leaves_the_link_good(person: Person) -> None:
    token = person.request_reset_token()
    for weak in ("short", "password123!", "Nora-Berg-1999"):
        answer = person.device().post(CONFIRM, {"token": token, "password": weak})
        check_error(answer, 400, "validation_error", field="password")
    assert person.device().post(CONFIRM, {"token": token, "password": NEW}).status_code == 200


@pytest.mark.parametrize(
    ("password", "reason"),
    [
        ("short", "too_short"),
        ("password123!", "common"),
        ("Nora-Berg-1999", "personal"),
    ],
)
def test_a_refused_password_says_why(person: Person, password: str, reason: str) -> None:
    answer = person.device().post(
        CONFIRM, {"token": person.request_reset_token(), "password": password}
    )
    assert answer.json["error"]["details"] == {"reason": reason}


def test_only_a_hash_of_the_token_is_kept(person: Person) -> None:
    token = person.request_reset_token()
    row = person.sql("SELECT * FROM mailed_tokens WHERE email = :e AND purpose = 'password_reset'")
    assert token not in str(row.all())


def test_a_reset_makes_links_of_whoever_registered_worthless(person: Person) -> None:
    """Who takes somebody's address first must not get the account back once its owner has it."""
    stranger, new_email = person, address()
    person.skip_link_interval()
    body = {"email": new_email, "password": PASSWORD}
    assert stranger.api.post("/auth/email-change/request", body).status_code == 202
    kept = stranger.token("Confirm", new_email)
    reset = {"token": person.request_reset_token(), "password": NEW}
    assert person.device().post(CONFIRM, reset).status_code == 200
    assert person.device().post(MAIL_CONFIRM, {"token": kept}).status_code == 400


def test_changing_the_password_answers_the_only_good_token(person: Person) -> None:
    other = person.sign_in()
    body = {"current_password": PASSWORD, "new_password": NEW}
    fresh = person.device(get_data(person.api.post(CHANGE, body))["access_token"])
    assert fresh.get("/auth/session").status_code == 200
    assert len(fresh.get("/auth/sessions").json["data"]) == 1
    for api in (person.api, other):
        assert code(api.get("/auth/session")) == "token_expired"
    assert person.log_in().status_code == 401
    assert person.log_in(NEW).status_code == 200
    assert person.emails()[-1].subject == "Your password was changed"


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"current_password": "not this one", "new_password": NEW}, 401, None),
        ({"current_password": PASSWORD, "new_password": "short"}, 400, "new_password"),
        ({"current_password": PASSWORD, "new_password": "sunshine2024"}, 400, "new_password"),
        ({"current_password": PASSWORD, "new_password": PASSWORD}, 400, "new_password"),
        ({"current_password": PASSWORD}, 422, "new_password"),
    ],
)
def test_a_refused_change_changes_nothing(
    person: Person, body: dict[str, str], status: int, field: str | None
) -> None:
    answer = person.api.post(CHANGE, body)
    assert answer.status_code == status
    assert answer.json["error"].get("field") == field
    assert person.api.get("/users/me").status_code == 200
    assert person.log_in().status_code == 200


def test_of_two_changes_at_once_one_wins(person: Person) -> None:
    def change(new: str) -> int:
        body = {"current_password": PASSWORD, "new_password": new}
        device = person.device(person.api.token)
        return int(device.post(CHANGE, body).status_code)

    with ThreadPoolExecutor(2) as pool:
        statuses = list(pool.map(change, [NEW, f"{NEW} too"]))
    assert statuses.count(200) == 1
    assert set(statuses) <= {200, 401, 409}
    assert person.log_in([NEW, f"{NEW} too"][statuses.index(200)]).status_code == 200


def test_an_account_that_is_disabled_meanwhile_is_not_changed(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify = secrets.verify_password

    def verify_beside_disabling(*arguments: Any) -> bool:
        disable = "UPDATE users SET disabled_at = now() WHERE email = :e"
        with ThreadPoolExecutor(1) as pool:
            pool.submit(person.sql, disable).result(60)
        return verify(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(secrets, "verify_password", verify_beside_disabling)
        answer = person.api.post(CHANGE, {"current_password": PASSWORD, "new_password": NEW})
    assert (answer.status_code, code(answer)) == (403, "permission_denied")
    person.sql("UPDATE users SET disabled_at = NULL WHERE email = :e")
    assert person.log_in().status_code == 200


@pytest.mark.usefixtures("service_hasher")
def test_an_old_hash_is_renewed_when_its_owner_logs_in(person: Person) -> None:
    weaker = PasswordHasher(time_cost=1, memory_cost=8 * 1024, parallelism=1).hash(PASSWORD)
    put = "UPDATE users SET password_hash = :h WHERE email = :e RETURNING revision"
    revision = person.sql(put, h=weaker).scalar_one()
    assert person.log_in("not this one").status_code == 401
    stored = person.sql("SELECT password_hash FROM users WHERE email = :e").scalar_one()
    assert stored == weaker
    assert person.log_in().status_code == 200
    row = person.sql("SELECT password_hash, revision FROM users WHERE email = :e").one()
    assert row.password_hash.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert row.revision == revision
    assert person.log_in().status_code == 200


def test_an_account_without_a_password_is_entered_by_none(person: Person) -> None:
    person.sql("UPDATE users SET password_hash = NULL WHERE email = :e")
    for password in (PASSWORD, "", "None"):
        assert person.log_in(password).status_code == 401
    body = {"current_password": PASSWORD, "new_password": NEW}
    assert code(person.api.post(CHANGE, body)) == "invalid_credentials"
    answer = person.device().post(CONFIRM, {"token": person.request_reset_token(), "password": NEW})
    assert answer.status_code == 200
