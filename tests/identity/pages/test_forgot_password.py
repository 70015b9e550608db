"""The page that sends a link for setting a new password."""

from itertools import count

import pytest

from tests.factories.emails import list_emails_to
from tests.identity.auth.conftest import Person, address
from tests.identity.pages.conftest import NEW, Visitor, link_of

PAGE = "/forgot-password"
_addresses = (f"198.19.{n // 250}.{n % 250 + 1}" for n in count())


def _list_reset_links(person: Person) -> list[str]:
    return [link_of(email) for email in person.emails() if "Reset" in email.subject]


def test_a_link_for_a_new_password_is_sent(person: Person, visitor: Visitor) -> None:
    page = visitor.open(PAGE)
    assert (page.status, page.heading) == (200, "Set a new password")
    assert page.field("email").get("type") == "email"
    assert page.field("email").get("autocomplete") == "email"
    assert "token" not in page.hidden
    done = visitor.send(page, email=f" {person.email} ")
    assert (done.status, done.heading, done.has_form) == (202, "Check your email", False)
    (link,) = _list_reset_links(person)
    assert visitor.send(visitor.open(link), password=NEW, repeat=NEW).status == 200
    assert person.log_in(NEW).status_code == 200


def test_the_response_is_the_same_for_every_address(person: Person, visitor: Visitor) -> None:
    page = visitor.open(PAGE)
    person.sql("UPDATE users SET disabled_at = now() WHERE email = :e")
    unknown, known = address(), person.email
    answers = [
        visitor.send(page, email=address).answer for address in (unknown, known, "a@b", "@\x7f@")
    ]
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.data for answer in answers}) == 1
    assert not _list_reset_links(person)
    assert not list_emails_to(unknown)


def test_opening_the_page_sends_nothing(person: Person, visitor: Visitor) -> None:
    for _ in range(3):
        assert (
            visitor.open(f"{PAGE}?email={person.email}&token=x").field("email").get("value") == ""
        )
        assert visitor.client.head(PAGE).status_code == 200
    assert not _list_reset_links(person)


@pytest.mark.parametrize(
    ("email", "says"),
    [
        ("", "Enter your email address."),
        (" \t", "Enter your email address."),
        ("nora", "Enter an email address, such as name@example.com."),
        (f"{'x' * 400}@test.example", "Enter an email address, such as name@example.com."),
        ('"><script>', "Enter an email address, such as name@example.com."),
    ],
)
def test_an_invalid_address_is_reported(visitor: Visitor, email: str, says: str) -> None:
    again = visitor.send(visitor.open(PAGE), email=email)
    assert (again.status, again.problems) == (400, [says])
    assert again.title.startswith("Error: ")
    (alert,) = again.tree.xpath("//*[@role='alert']")
    assert alert.get("autofocus") is not None
    assert alert.xpath(".//a/@href") == ["#email"]
    shown = again.field("email")
    assert shown.get("aria-invalid") == "true"
    assert "email-error" in shown.get("aria-describedby").split()
    assert shown.get("value") == email
    assert not again.tree.xpath("//script")


def test_an_invalid_link_leads_to_this_page(person: Person, visitor: Visitor) -> None:
    person.request_reset_token()
    (link,) = _list_reset_links(person)
    german = link.replace("lang=en", "lang=de")
    good = visitor.open(german)
    assert not good.tree.xpath("//main//a")
    person.sql("UPDATE mailed_tokens SET expires_at = now() WHERE email = :e")
    for late in (visitor.open(german), visitor.send(good, password=NEW, repeat=NEW)):
        assert late.status == 400
        (target,) = late.tree.xpath("//main//a/@href")
        page = visitor.open(target)
        assert (page.heading, page.language) == ("Setze ein neues Passwort", "de")
    person.sql("UPDATE mailed_tokens SET created_at = now() - interval '1 hour' WHERE email = :e")
    sent = visitor.send(page, email=person.email)
    assert (sent.status, sent.heading) == (202, "Sieh in deine E-Mails")
    assert len(_list_reset_links(person)) == 2


@pytest.mark.usefixtures("rate_limits")
def test_it_counts_against_the_limit_of_the_operation(person: Person, visitor: Visitor) -> None:
    here = {"REMOTE_ADDR": next(_addresses)}
    visitor.client.environ_base.update(here)
    page = visitor.open(PAGE)
    for number in range(5):
        email = {"email": address()}
        if number % 2:
            assert visitor.send(page, **email).status == 202
        else:
            path = "/auth/password-reset/request"
            assert person.device().post(path, email, environ_base=here).status_code == 202
    # An incomplete form does not count for the rate limit.
    assert visitor.send(page, email="").status == 400
    refused = visitor.send(page, email=person.email)
    assert refused.status == 429
    assert int(refused.answer.headers["Retry-After"]) >= 1
    assert refused.problems[0].startswith("Too many attempts.")
    assert refused.field("email").get("value") == person.email
    assert not _list_reset_links(person)


def test_the_page_needs_no_database(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ConnectionError("gone")

    monkeypatch.setattr("sqlalchemy.orm.Session.execute", fail)
    assert visitor.open(PAGE).status == 200


def test_another_site_cannot_send_the_form(person: Person, visitor: Visitor) -> None:
    headers = {"Sec-Fetch-Site": "cross-site"}
    answer = visitor.client.post(PAGE, data={"email": person.email}, headers=headers)
    assert answer.status_code == 403
    assert "Open the page again" in answer.text
    assert not _list_reset_links(person)
