"""Behavior of every page: headers, languages, origin of forms, rate limits, outages."""

import dataclasses
import re
from itertools import count
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.identity.auth import links as mailed_links
from app.identity.pages import rendering
from app.identity.pages.token_pages import FORM_PAGES, TOKEN_PAGES, FormPage
from app.kit import container
from tests.identity.auth.conftest import Person
from tests.identity.invitations.conftest import Workspace, address
from tests.identity.pages.conftest import NEW, Visitor, link_of

PAGES = [
    "/reset-password?token=x",
    "/confirm-email?token=x",
    "/accept-invitation?token=x",
    "/confirm-sign-on?token=x",
    "/forgot-password",
    "/open/acme/users/me/assignments",
    "/open/acme/nothing",
]
_addresses = (f"198.18.{n // 250}.{n % 250 + 1}" for n in count())


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_headers(visitor: Visitor, path: str, method: str) -> None:
    headers = visitor.client.open(path, method=method).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "unsafe" not in policy
    assert "script-src" not in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Request-ID"]
    assert "Set-Cookie" not in headers


@pytest.mark.parametrize("path", PAGES)
def test_pages_have_no_scripts_and_no_external_resources(visitor: Visitor, path: str) -> None:
    page = visitor.open(path)
    assert not page.tree.xpath("//script | //style | //iframe | //object | //@style | //@onclick")
    for address_ in page.tree.xpath("//link/@href | //@src"):
        assert address_.startswith("/pages/static/")
        asset = visitor.client.get(address_)
        assert asset.status_code == 200
        assert asset.headers["Content-Type"].startswith(("text/css", "image/svg+xml"))
    (viewport,) = page.tree.xpath("//meta[@name='viewport']/@content")
    assert "maximum-scale" not in viewport
    assert page.tree.xpath("//meta[@name='robots']/@content") == ["noindex"]


def test_the_form_does_not_repeat_the_token_in_its_address(
    visitor: Visitor, reset_link: str
) -> None:
    """URLs are logged, remembered and shown, so the token is sent in the body."""
    page = visitor.open(reset_link)
    (form,) = page.tree.xpath("//form")
    assert form.get("action") == "/reset-password"
    assert page.hidden["token"] in reset_link
    assert page.hidden["token"] not in str(page.tree.xpath("//@href"))


@pytest.mark.parametrize(
    ("lang", "accept", "language"),
    [
        ("", "", "en"),
        ("de", "", "de"),
        ("de-AT", "en", "de"),
        ("DE", "en", "de"),
        ("fr", "de;q=0.8,en;q=0.9", "en"),
        ("fr", "fr, de;q=0.8, en;q=0.7", "de"),
        ("", "de-CH, en;q=0.5", "de"),
        ("x" * 5000, "a-" * 3000, "en"),
        ("../../etc/passwd", "*", "en"),
        ("%00", ",,;q=x", "en"),
    ],
)
def test_the_language_comes_from_the_link_or_the_browser(
    visitor: Visitor, lang: str, accept: str, language: str
) -> None:
    path = f"/reset-password?token=x&lang={lang}"
    page = visitor.open(path, headers={"Accept-Language": accept})
    assert (page.status, page.language) == (400, language)
    assert page.answer.headers["Content-Language"] == language
    expected = {"en": "Error: Choose a new password", "de": "Fehler: Wähle ein neues Passwort"}
    assert page.title.startswith(expected[language])


def test_errors_use_the_same_language(person: Person, visitor: Visitor, reset_link: str) -> None:
    assert reset_link.endswith("&lang=en")
    page = visitor.open(reset_link.replace("lang=en", "lang=de"))
    again = visitor.send(page, password="kurz", repeat="kurz")
    assert again.language == "de"
    assert again.problems == ["Verwende mindestens 10 Zeichen für das Passwort."]
    assert visitor.send(again, password=NEW, repeat=NEW).heading == "Dein Passwort wurde geändert"


def test_links_carry_the_readers_language(person: Person) -> None:
    assert person.api.patch("/users/me", json={"locale": "de-AT"}).status_code == 200
    forget_in_german = person.device().post("/auth/password-reset/request", {"email": person.email})
    assert forget_in_german.status_code == 202
    (message,) = [email for email in person.emails() if "Passwort" in email.subject]
    assert link_of(message).endswith("&lang=de-AT")


def test_every_language_has_all_phrases(app: Flask) -> None:
    def names(phrases: dict[str, Any]) -> dict[str, set[str]]:
        return {
            key: {part.text for part in parts if part.is_variable} for key, parts in phrases.items()
        }

    with app.app_context():
        languages = rendering.PHRASES.phrases_by_language
        assert set(languages) == set(mailed_links.emails.templates.templates_by_language)
        assert "de" in languages
        for language, phrases in languages.items():
            assert names(phrases) == names(languages["en"]), language


def test_a_service_with_a_path_prefix(
    visitor: Visitor, reset_link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = dataclasses.replace(
        container.settings(),
        public_url="https://example.com/labels",
        mail_from="Acme <a@b.example>",
    )
    monkeypatch.setattr(container.current(), "settings", below)
    page = visitor.open(reset_link)
    assert page.tree.xpath("//form/@action") == ["/labels/reset-password"]
    assert "/labels/pages/static/pages.css" in page.tree.xpath("//link/@href")
    assert page.tree.xpath("string(//header)").strip() == "Acme"


def test_the_page_shows_the_service_name(app: Flask, visitor: Visitor) -> None:
    page = visitor.open("/reset-password")
    assert page.tree.xpath("string(//header)").strip() == container.settings().service_name
    assert container.settings().service_name == "Labeling Service"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("page", FORM_PAGES, ids=lambda page: page.name)
def test_a_cross_site_form_is_refused(visitor: Visitor, page: FormPage, site: str) -> None:
    answer = visitor.client.post(str(page.page), headers={"Sec-Fetch-Site": site})
    assert answer.status_code == 403
    assert "another website" in answer.text


def test_a_same_origin_form_is_accepted(person: Person, visitor: Visitor, reset_link: str) -> None:
    page = visitor.open(reset_link)
    elsewhere = visitor.send(
        page, password=NEW, repeat=NEW, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert elsewhere.status == 403
    here = visitor.send(page, password=NEW, repeat=NEW, headers={"Sec-Fetch-Site": "same-origin"})
    assert here.status == 200


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b'{"token": "x"}', "application/json", 415),
        (b"token=x", "multipart/form-data; boundary=b", 415),
        (b"token=x&token=y", "application/x-www-form-urlencoded", 422),
        (b"other=x", "application/x-www-form-urlencoded", 422),
        (b"token=%ff", "application/x-www-form-urlencoded", 422),
        (b"token=%00", "application/x-www-form-urlencoded", 422),
        (b"token=" + b"x" * 500, "application/x-www-form-urlencoded", 422),
        (b"token=" + b"x" * 20_000, "application/x-www-form-urlencoded", 413),
        (b"&" * 200 + b"=&" * 100, "application/x-www-form-urlencoded", 422),
    ],
)
@pytest.mark.parametrize("page", FORM_PAGES, ids=lambda page: page.name)
def test_an_invalid_form_body(
    visitor: Visitor, page: FormPage, body: bytes, content_type: str, status: int
) -> None:
    answer = visitor.client.post(str(page.page), data=body, content_type=content_type)
    assert answer.status_code == status
    assert answer.mimetype == "text/html"
    assert "could not be read" in answer.text


def test_other_methods_are_not_allowed(visitor: Visitor) -> None:
    answer = visitor.client.put("/reset-password")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS, POST")


@pytest.mark.usefixtures("rate_limits")
def test_the_page_counts_against_the_limit_of_the_operation(
    person: Person, visitor: Visitor, reset_link: str
) -> None:
    page = visitor.open(reset_link)
    here = {"REMOTE_ADDR": next(_addresses)}
    visitor.client.environ_base.update(here)
    for _ in range(5):
        answer = person.device().post(
            "/auth/password-reset/confirm", {"token": "x", "password": NEW}, environ_base=here
        )
        assert answer.status_code == 400
    # Opening the page and sending an incomplete form do not count for the rate limit.
    assert visitor.open(reset_link).status == 200
    assert visitor.send(page).status == 400
    refused = visitor.send(page, password=NEW, repeat=NEW)
    assert refused.status == 429
    wait = int(refused.answer.headers["Retry-After"])
    assert 1 <= wait <= 60
    assert re.fullmatch(
        r"Too many attempts\. Try again in (1 minute|\d+ seconds?)\.", refused.problems[0]
    )
    assert refused.has_form
    visitor.client.environ_base["REMOTE_ADDR"] = next(_addresses)
    assert visitor.send(refused, password=NEW, repeat=NEW).status == 200


@pytest.mark.usefixtures("rate_limits")
def test_accepting_is_limited_to_three_attempts_per_hour(
    workspace: Workspace, visitor: Visitor
) -> None:
    invited = workspace.invite(address())
    assert invited.status_code == 201
    page = visitor.open(link_of(workspace.emails(invited.json["data"]["email"])[-1]))
    visitor.client.environ_base["REMOTE_ADDR"] = next(_addresses)
    whole = {"name": "Nora", "password": NEW, "repeat": NEW}
    for _ in range(4):
        weak = visitor.send(page, **{**whole, "password": "password1234", "repeat": "password1234"})
        assert weak.status == 400, "a weak password does not count"
    workspace.sql("UPDATE organizations SET status = 'suspended' WHERE id = :org")
    for _ in range(3):
        assert visitor.send(page, **whole).status == 403
    refused = visitor.send(page, **whole)
    assert refused.status == 429
    assert "in 1 hour" in refused.problems[0]


@pytest.mark.parametrize("page", TOKEN_PAGES, ids=lambda page: page.name)
def test_without_the_database(
    visitor: Visitor, page: FormPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("SELECT 1", {}, Exception("gone"))

    monkeypatch.setattr("sqlalchemy.orm.Session.execute", fail)
    for answer in (
        visitor.client.get(f"{page.page}?token=x"),
        visitor.client.post(str(page.page), data={"token": "x"}),
    ):
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) >= 1
        assert "at the moment" in answer.text


def test_the_pages_are_not_in_the_description(visitor: Visitor) -> None:
    paths = visitor.client.get("/openapi.json").json["paths"]
    assert all(path.startswith("/api/v1/") for path in paths)
