"""The page of the link for setting a new password."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from app.kit import db
from tests.identity.auth.conftest import PASSWORD, Person
from tests.identity.pages.conftest import NEW, Visitor

LINK = "/reset-password"


def test_a_new_password_is_set(person: Person, visitor: Visitor, reset_link: str) -> None:
    page = visitor.open(reset_link)
    assert (page.status, page.heading) == (200, "Choose a new password")
    assert page.field("email").get("value") == person.email
    done = visitor.send(page, password=NEW, repeat=NEW)
    assert (done.status, done.heading) == (200, "Your password was changed")
    assert not done.has_form
    assert person.log_in(PASSWORD).status_code == 401
    assert person.log_in(NEW).status_code == 200
    assert person.api.get("/users/me").status_code == 401
    assert person.emails()[-1].subject == "Your password was changed"


def test_the_page_leaves_no_session(person: Person, visitor: Visitor, reset_link: str) -> None:
    """The browser gets no token, so no session may remain."""
    done = visitor.send(visitor.open(reset_link), password=NEW, repeat=NEW)
    assert "Set-Cookie" not in done.answer.headers
    live = (
        "SELECT count(*) FROM sessions JOIN users ON users.id = user_id"
        " WHERE email = :e AND revoked_at IS NULL"
    )
    assert person.sql(live).scalar_one() == 0


def test_opening_the_page_keeps_the_link_valid(visitor: Visitor, reset_link: str) -> None:
    """Mail scanners and previews open links by GET and HEAD."""
    for _ in range(3):
        assert visitor.open(reset_link).has_form
        assert visitor.client.head(reset_link).status_code == 200
    done = visitor.send(visitor.open(reset_link), password=NEW, repeat=NEW)
    assert done.heading == "Your password was changed"


@pytest.mark.parametrize(
    ("password", "repeat", "field", "says"),
    [
        ("", "", "password", "Enter a password."),
        ("short", "short", "password", "Use at least 10 characters for the password."),
        ("password123!", "password123!", "password", "easy to guess"),
        ("Nora-Berg-1999", "Nora-Berg-1999", "password", "made of your name"),
        ("x" * 1500, "x" * 1500, "password", "at most 1024"),
        (NEW, "another river", "repeat", "not the same"),
    ],
)
def test_a_refused_password_keeps_the_link_valid(
    visitor: Visitor, reset_link: str, password: str, repeat: str, field: str, says: str
) -> None:
    page = visitor.open(reset_link)
    again = visitor.send(page, password=password, repeat=repeat)
    assert again.status == 400
    assert len(again.problems) == 1
    assert says in again.problems[0]
    assert again.title.startswith("Error: ")
    alert = again.tree.xpath("//*[@role='alert']")[0]
    assert alert.get("autofocus") is not None
    assert alert.xpath(".//a/@href") == [f"#{field}"]
    shown = again.field(field)
    assert shown.get("aria-invalid") == "true"
    described = shown.get("aria-describedby").split()
    assert f"{field}-error" in described
    assert says in again.tree.get_element_by_id(f"{field}-error").text_content()
    # The page does not repeat the input.
    assert {again.field(name).get("value") for name in ("password", "repeat")} == {""}
    assert visitor.send(again, password=NEW, repeat=NEW).status == 200


@pytest.mark.parametrize("token", ["", "x", "%00", "%ff", "€", "A" * 43, "A" * 5000, "../" * 20])
def test_an_unknown_token(visitor: Visitor, token: str) -> None:
    page = visitor.open(f"{LINK}?token={token}")
    assert (page.status, page.has_form) == (400, False)
    assert page.problems == [
        "This link is not valid. It may have been used already, or it has expired."
    ]
    assert "Ask for a new link" in page.text


def test_no_token_at_all(visitor: Visitor) -> None:
    assert visitor.open(LINK).status == 400
    assert visitor.client.post(LINK).status_code == 400


def test_a_used_and_an_expired_link(person: Person, visitor: Visitor, reset_link: str) -> None:
    page = visitor.open(reset_link)
    person.sql("UPDATE mailed_tokens SET expires_at = now() WHERE email = :e")
    for late in (visitor.open(reset_link), visitor.send(page, password=NEW, repeat=NEW)):
        assert (late.status, late.has_form) == (400, False)
        assert "not valid" in late.problems[0]
    person.sql("UPDATE mailed_tokens SET expires_at = now() + interval '1 hour' WHERE email = :e")
    assert visitor.send(page, password=NEW, repeat=NEW).status == 200
    again = visitor.send(page, password=f"{NEW} too", repeat=f"{NEW} too")
    assert (again.status, again.has_form) == (400, False)
    assert person.log_in(NEW).status_code == 200


def test_only_one_of_two_concurrent_requests_succeeds(
    person: Person, visitor: Visitor, reset_link: str
) -> None:
    page = visitor.open(reset_link)

    def send(password: str) -> int:
        other = Visitor(person.app.test_client())
        return other.send(page, password=password, repeat=password).status

    with ThreadPoolExecutor(2) as pool:
        statuses = list(pool.map(send, [NEW, f"{NEW} too"]))
    assert sorted(statuses) == [200, 400]
    won = [NEW, f"{NEW} too"][statuses.index(200)]
    assert person.log_in(won).status_code == 200


def test_a_disabled_account(person: Person, visitor: Visitor, reset_link: str) -> None:
    page = visitor.open(reset_link)
    person.sql("UPDATE users SET disabled_at = now() WHERE email = :e")
    assert visitor.open(reset_link).status == 400
    assert visitor.send(page, password=NEW, repeat=NEW).status == 400


def test_the_audit_log_has_the_same_entries_as_the_operation(
    person: Person, visitor: Visitor, reset_link: str
) -> None:
    visitor.send(visitor.open(reset_link), password=NEW, repeat=NEW)
    by_page = _entries(person)
    person.skip_link_interval()
    body = {"token": person.request_reset_token(), "password": f"{NEW} too"}
    answer = person.device().post("/auth/password-reset/confirm", body)
    assert answer.status_code == 200, answer.json
    by_operation = _entries(person)[len(by_page) :]
    assert by_operation
    # The page revokes its unused session, so there are additional entries.
    assert set(by_operation) <= set(by_page)
    assert {entry[0] for entry in by_page} == {"confirm_password_reset"}


def _entries(person: Person) -> list[tuple[str, str, str]]:
    statement = text(
        "SELECT operation, action, target_type FROM audit_entries WHERE actor_kind = 'user'"
        " AND actor_id = (SELECT id FROM users WHERE email = :e) AND ip_address IS NOT NULL"
        " AND operation = 'confirm_password_reset' ORDER BY at, id"
    )
    with person.app.app_context(), db.engine().begin() as connection:
        connection.execute(text("SELECT set_config('app.all_organizations', 'on', true)"))
        rows = connection.execute(statement, {"e": person.email})
        return [(row.operation, row.action, row.target_type) for row in rows]
