"""The pages in a real browser: forms, errors, focus, and axe-core, at two widths."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from flask import Flask
from werkzeug.serving import make_server

from tests.factories import Org
from tests.factories.emails import list_emails_to
from tests.identity.auth.conftest import Person
from tests.identity.invitations.conftest import Workspace, address
from tests.identity.pages.conftest import NEW, link_of
from tests.identity.pages.driver import Browser
from tests.identity.sso.conftest import Browser as ProviderBrowser
from tests.identity.sso.conftest import Configure
from tests.identity.sso.conftest import callback as callback  # noqa: PLC0414 - a fixture
from tests.identity.sso.conftest import configure as configure  # noqa: PLC0414 - a fixture
from tests.identity.sso.conftest import issuer as issuer  # noqa: PLC0414 - a fixture
from tests.identity.sso.conftest import person as person_at_provider

pytestmark = pytest.mark.xdist_group("browser")
HOST = "127.0.0.1"
NARROW = 320


@pytest.fixture(scope="module")
def base(app: Flask) -> Iterator[str]:
    """Serve the application on a port, for a real browser."""
    server = make_server(HOST, 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://{HOST}:{server.server_port}"
    server.shutdown()
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    started_browser = Browser()
    yield started_browser
    started_browser.close()


@contextmanager
def _open_at_each_width(browser: Browser, url: str, language: str = "en") -> Iterator[None]:
    """Check the page on a narrow screen, then again on a wide one."""
    browser.begin(language, width=NARROW)
    browser.open(url)
    browser.check_accessibility()
    browser.begin(language)
    yield


def test_reset_password(browser: Browser, base: str, person: Person, reset_link: str) -> None:
    url = base + reset_link
    with _open_at_each_width(browser, url):
        page = browser.open(url)
    assert (page["heading"], page["status"]) == ("Choose a new password", 200)
    browser.check_accessibility()
    browser.fill(New_password="short", Repeat_the_new_password="short")
    refused = browser.submit()
    assert refused["problems"] == ["Use at least 10 characters for the password."]
    assert refused["title"].startswith("Error: ")
    # Screen readers read the summary first; its link leads to the field.
    assert refused["focused"]["role"] == "alert"
    assert refused["outline"] == "solid"
    assert "token=" not in refused["url"]
    browser.check_accessibility()
    browser.press("Tab")
    assert browser.press("Enter")["focused"]["id"] == "password"
    browser.fill(New_password=NEW, Repeat_the_new_password=NEW)
    done = browser.submit()
    assert (done["heading"], done["status"]) == ("Your password was changed", 200)
    browser.check_accessibility()
    assert person.log_in(NEW).status_code == 200
    used = browser.open(url)
    assert (used["status"], used["focused"]["role"]) == (400, "alert")
    browser.check_accessibility()


def test_forgot_password(browser: Browser, base: str, person: Person) -> None:
    browser.begin("de")
    expired = browser.open(f"{base}/reset-password?token=expired&lang=de")
    assert expired["focused"]["role"] == "alert"
    browser.check_accessibility()
    # After the summary, the only focusable element is the link to request another email.
    browser.press("Tab")
    page = browser.follow()
    assert (page["heading"], page["language"]) == ("Setze ein neues Passwort", "de")
    with _open_at_each_width(browser, f"{base}/forgot-password"):
        page = browser.open(f"{base}/forgot-password")
    assert (page["heading"], page["status"]) == ("Set a new password", 200)
    browser.check_accessibility()
    refused = browser.submit()
    assert refused["problems"] == ["Enter your email address."]
    assert refused["focused"]["role"] == "alert"
    browser.check_accessibility()
    browser.press("Tab")
    assert browser.press("Enter")["focused"]["id"] == "email"
    browser.fill(Email_address=person.email)
    done = browser.submit()
    assert (done["heading"], done["status"]) == ("Check your email", 202)
    assert person.email not in done["url"]
    browser.check_accessibility()
    assert person.token("Reset")


def test_confirm_email(browser: Browser, base: str, person: Person) -> None:
    link = link_of(person.get_email("Confirm"))
    url = base + link.replace("lang=en", "lang=")
    with _open_at_each_width(browser, url, "de"):
        page = browser.open(url)
    assert (page["heading"], page["language"]) == ("Bestätige deine E-Mail-Adresse", "de")
    browser.check_accessibility()
    done = browser.submit()
    assert done["heading"] == "Deine E-Mail-Adresse ist bestätigt"
    assert done["language"] == "de"
    browser.check_accessibility()
    assert person.api.get("/users/me").json["data"]["email_verified"] is True
    used = browser.open(url)
    assert used["focused"]["role"] == "alert"
    assert used["problems"][0].startswith("Dieser Link ist nicht gültig.")
    browser.check_accessibility()


def test_accept_invitation(browser: Browser, base: str, org: Org, work: Callable[[], None]) -> None:
    workspace, email = Workspace(org, work), address()
    assert workspace.invite(email).status_code == 201
    url = base + link_of(workspace.emails(email)[-1])
    with _open_at_each_width(browser, url):
        browser.open(url)
    browser.check_accessibility()
    refused = browser.submit()
    assert refused["problems"] == ["Enter your name.", "Enter a password."]
    assert refused["focused"]["role"] == "alert"
    browser.check_accessibility()
    browser.fill(Your_name="Nora Berg", New_password=NEW, Repeat_the_new_password=NEW)
    done = browser.submit()
    assert done["heading"] == "You are a member of Test"
    browser.check_accessibility()
    assert workspace.roles()[email] == "labeler"


def test_confirm_sign_on(
    browser: Browser, base: str, org: Org, configure: Configure, work: Callable[[], None]
) -> None:
    configure(org)
    who = person_at_provider(email=org.email("labeler"))
    beginning = ProviderBrowser(org.app)
    assert beginning.complete_sign_in(org, who).json["data"]["confirmation"] == "email"
    work()
    url = base + link_of(list_emails_to(who.email)[-1])
    browser.begin()
    elsewhere = browser.open(url)
    assert elsewhere["problems"] == [
        "Open this link in the browser that you began to sign in with."
    ]
    assert elsewhere["focused"]["role"] == "alert"
    browser.check_accessibility()
    cookie = beginning.service.get_cookie("sso")
    assert cookie is not None
    stored_cookie = {
        "name": "sso",
        "value": cookie.value,
        "domain": HOST,
        "path": "/",
        "httpOnly": True,
    }
    browser.begin(cookies=[{**stored_cookie, "sameSite": "Lax"}])
    page = browser.open(url)
    assert page["heading"] == "Confirm your single sign-on"
    browser.check_accessibility()
    assert browser.submit()["heading"] == "Your single sign-on is confirmed"
    browser.check_accessibility()
    assert ProviderBrowser(org.app).token(org, who)


def test_open(browser: Browser, base: str) -> None:
    record = "0190c0de-0000-7000-8000-000000000001"
    url = f"{base}/open/acme/tag-sets?status=rejected&labeler_id={record}&lang=en"
    with _open_at_each_width(browser, url):
        page = browser.open(url)
    assert page["heading"] == "Open your tag sets"
    assert f"labeler_id={record}" in page["text"]
    browser.check_accessibility()
    # The style sheet and the icon are served by this service.
    assert {urlsplit(asset_url).netloc for asset_url in page["urls"]} == {urlsplit(base).netloc}
    assert any(urlsplit(asset_url).path == "/pages/static/pages.css" for asset_url in page["urls"])
    assert browser.open(f"{base}/open/acme/nothing")["focused"]["role"] == "alert"
    browser.check_accessibility()
