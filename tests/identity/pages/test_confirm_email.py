"""The page of the link that confirms an email address."""

from tests.identity.auth.conftest import PASSWORD, Person, address
from tests.identity.pages.conftest import Visitor, link_of


def _move(person: Person, new: str) -> str:
    """Request a change of the address, and return the link in the email."""
    person.skip_link_interval()
    answer = person.api.post("/auth/email-change/request", {"email": new, "password": PASSWORD})
    assert answer.status_code == 202
    return link_of(person.get_email("Confirm", new))


def test_the_current_address_is_confirmed(person: Person, visitor: Visitor) -> None:
    link = link_of(person.get_email("Confirm"))
    page = visitor.open(link)
    assert (page.status, page.heading) == (200, "Confirm your email address")
    assert person.email in page.text
    me = person.api.get("/users/me").json["data"]
    assert me["email_verified"] is False, "GET changes nothing"
    done = visitor.send(page)
    assert (done.status, done.heading) == (200, "Your email address is confirmed")
    assert person.api.get("/users/me").json["data"]["email_verified"] is True
    used = visitor.open(link)
    assert (used.status, used.has_form) == (400, False)
    assert visitor.send(page).status == 400


def test_a_new_address_is_confirmed(person: Person, visitor: Visitor) -> None:
    new = address()
    done = visitor.send(visitor.open(_move(person, new)))
    assert new in done.text
    assert person.api.get("/users/me").status_code == 401
    person.email = new
    assert person.sign_in().get("/users/me").json["data"]["email"] == new


def test_an_address_taken_by_another_account(person: Person, visitor: Visitor) -> None:
    new = address()
    page = visitor.open(_move(person, new))
    taken = {"email": new, "password": PASSWORD, "name": "Somebody Else"}
    assert person.device().post("/auth/register", taken).status_code == 201
    again = visitor.send(page)
    assert again.status == 409
    assert again.problems == ["This address now belongs to another account."]


def test_a_link_for_another_purpose(person: Person, visitor: Visitor) -> None:
    """A token for confirming an address cannot set a password, and vice versa."""
    token = person.token("Confirm")
    assert visitor.open(f"/reset-password?token={token}").status == 400


def test_a_name_that_looks_like_html_stays_text(person: Person, visitor: Visitor) -> None:
    new = f"<b>{address()}"
    link = link_of(person.get_email("Confirm"))
    person.sql("UPDATE mailed_tokens SET email = :new WHERE email = :e", new=new)
    page = visitor.open(link)
    assert not page.tree.xpath("//b")
    assert new in page.text
