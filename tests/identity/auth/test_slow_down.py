"""Failed log-ins slow down, alike for accounts that are there and that are not."""

from typing import Any

import pytest

from app.identity.auth import attempts
from app.kit import container
from tests.factories.errors import check_error
from tests.factories.orgs import Api, get_data
from tests.identity.auth.conftest import PASSWORD, Person, address, code

WRONG = "not this one at all"


def fail(
    api: Api, email: str, times: int = attempts.FAILURES_BEFORE_WAIT, **kwargs: Any
) -> list[int]:
    body = {"email": email, "password": WRONG}
    return [api.post("/auth/login", body, **kwargs).status_code for _ in range(times)]


def end_wait(person: Person) -> None:
    """Let the wait be over, as the clock would."""
    end = "UPDATE login_failures SET blocked_until = now() WHERE subject = :s"
    person.sql(end, s=attempts.get_address_subject(person.email))


def get_wait_seconds(api: Api, email: str) -> int:
    answer = api.post("/auth/login", {"email": email, "password": WRONG})
    check_error(answer, 429, "rate_limited")
    seconds = int(answer.headers["Retry-After"])
    assert answer.json["error"]["details"] == {"retry_after": seconds}
    return seconds


def test_the_sixth_attempt_has_to_wait_whatever_its_password(person: Person) -> None:
    assert fail(person.device(), person.email) == [401] * attempts.FAILURES_BEFORE_WAIT
    answer = person.log_in()
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= attempts.MIN_WAIT_SECONDS


def test_waits_double_up_to_the_longest(person: Person) -> None:
    api = person.device()
    fail(api, person.email)
    waits = [get_wait_seconds(api, person.email)]
    for _ in range(7):
        end_wait(person)
        assert fail(api, person.email, 1) == [401]
        waits.append(get_wait_seconds(api, person.email))
    rounded = [30 * round(seconds / 30) for seconds in waits]
    assert rounded == [30, 60, 120, 240, 480, 900, 900, 900]


def test_the_right_password_after_the_wait_starts_over(person: Person) -> None:
    api = person.device()
    fail(api, person.email)
    end_wait(person)
    assert person.log_in().status_code == 200
    assert fail(api, person.email) == [401] * attempts.FAILURES_BEFORE_WAIT


def test_an_unknown_address_slows_down_just_the_same(person: Person) -> None:
    api, unknown_email = person.device(), address()
    known = [api.post("/auth/login", {"email": person.email, "password": WRONG}) for _ in range(7)]
    unknown = [
        api.post("/auth/login", {"email": unknown_email, "password": WRONG}) for _ in range(7)
    ]
    statuses = [answer.status_code for answer in known]
    assert statuses == [answer.status_code for answer in unknown] == [401] * 5 + [429] * 2
    assert [a.data for a in known[:5]] == [a.data for a in unknown[:5]]
    for a, b in zip(known[5:], unknown[5:], strict=True):
        # The same wait, less what the machine took between the attempts.
        waits = [int(answer.headers["Retry-After"]) for answer in (a, b)]
        assert all(
            attempts.MIN_WAIT_SECONDS / 2 < wait <= attempts.MIN_WAIT_SECONDS for wait in waits
        )
        assert set(a.headers.keys()) == set(b.headers.keys())


def test_another_spelling_is_no_way_around(person: Person) -> None:
    api = person.device()
    spellings = [person.email, person.email.upper(), person.email.replace("e", "\u0435")]
    status_lists = [fail(api, email, 2) for email in spellings]
    assert status_lists == [[401, 401], [401, 401], [401, 429]]


def test_an_emptied_store_forgets_nothing(person: Person) -> None:
    fail(person.device(), person.email)
    container.current().redis(timeout=5).flushall()
    assert person.log_in().status_code == 429


def test_others_are_not_slowed_down(person: Person, register: Any) -> None:
    other = register()
    fail(person.device(), person.email)
    assert other.log_in().status_code == 200


def test_a_token_of_the_account_is_a_way_in_during_an_attack(person: Person) -> None:
    fail(person.device(), person.email)
    person.sql(
        "UPDATE sessions SET expires_at = now() - interval '1 hour'"
        " WHERE user_id = (SELECT id FROM users WHERE email = :e)"
    )
    assert person.api.get("/users/me").status_code == 401
    known = {"Authorization": f"Bearer {person.api.token}"}
    assert person.log_in(headers=known).status_code == 200
    # It is counted too, apart from the rest of the world.
    assert fail(person.device(), person.email, 6, headers=known) == [401] * 5 + [429]


def test_whose_token_was_revoked_is_no_acquaintance(person: Person, register: Any) -> None:
    other = register()
    session = person.sign_in()
    session.post("/auth/logout")
    fail(person.device(), person.email)
    for token in (session.token, other.api.token, "rubbish", f"{person.api.token}x"):
        answer = person.log_in(headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 429, token
    person.api.post("/auth/sessions/revoke-all")
    assert person.log_in(headers={"Authorization": f"Bearer {person.api.token}"}).status_code == 429


def test_a_reset_by_mail_ends_the_wait_and_signs_in(person: Person) -> None:
    fail(person.device(), person.email)
    person.device().post("/auth/password-reset/request", {"email": person.email})
    body = {"token": person.token("Reset"), "password": "another river meets here"}
    token = get_data(person.device().post("/auth/password-reset/confirm", body))["access_token"]
    assert person.device(token).get("/users/me").status_code == 200
    assert person.log_in("another river meets here").status_code == 200


def test_asking_for_the_password_once_more_slows_down_as_well(person: Person) -> None:
    body = {"current_password": WRONG, "new_password": "another river meets here"}
    statuses = [person.api.post("/auth/password/change", body).status_code for _ in range(6)]
    assert statuses == [401] * 5 + [429]
    # Whoever has the token cannot lock the owner out of logging in.
    assert person.log_in().status_code == 200


def test_a_reset_by_mail_ends_the_wait_of_signed_in_users_as_well(person: Person) -> None:
    guess = {"current_password": WRONG, "new_password": "another river meets here"}
    statuses = [person.api.post("/auth/password/change", guess).status_code for _ in range(6)]
    assert statuses == [401] * 5 + [429]
    person.device().post("/auth/password-reset/request", {"email": person.email})
    reset = {"token": person.token("Reset"), "password": "another river meets here"}
    answer = person.device().post("/auth/password-reset/confirm", reset)
    api = person.device(answer.json["data"]["access_token"])
    change = {"current_password": reset["password"], "new_password": "a third river meets here"}
    assert api.post("/auth/password/change", change).status_code == 200


def test_failures_of_long_ago_are_forgotten(person: Person) -> None:
    fail(person.device(), person.email)
    person.sql(
        "UPDATE login_failures SET blocked_until = now() - interval '25 hours',"
        " last_failed_at = now() - interval '25 hours' WHERE subject = :s",
        s=attempts.get_address_subject(person.email),
    )
    assert fail(person.device(), person.email) == [401] * attempts.FAILURES_BEFORE_WAIT


@pytest.mark.parametrize("password", [PASSWORD, WRONG])
def test_a_disabled_account_answers_like_none(person: Person, password: str) -> None:
    person.sql("UPDATE users SET disabled_at = now() WHERE email = :e")
    gone = person.log_in(password)
    none = person.device().post("/auth/login", {"email": address(), "password": password})
    assert gone.status_code == none.status_code == 401
    assert gone.data == none.data
    assert code(person.api.get("/users/me")) == "token_expired"
