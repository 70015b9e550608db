"""Links in emails: defined in one module, to this service or to the front end."""

import dataclasses
import re
from pathlib import Path

import pytest
from flask import Flask

from app.kit import container, links
from app.kit.links import WebPage
from tests.factories import Org
from tests.factories.emails import list_emails_to
from tests.identity.invitations.conftest import Workspace, address

APP = Path(__file__).parents[2] / "app"


def test_a_token_link_escapes_what_it_carries() -> None:
    link = links.build_token_link(WebPage.RESET_PASSWORD, token="a&b", language="de-AT")
    assert link == "/reset-password?token=a%26b&lang=de-AT"


@pytest.mark.parametrize(
    ("api_path", "expected"),
    [
        ("/api/v1/artifacts/1", "/open/acme/artifacts/1?lang=en"),
        (
            "/api/v1/tag-sets?status=rejected&labeler_id=1",
            "/open/acme/tag-sets?status=rejected&labeler_id=1&lang=en",
        ),
    ],
)
def test_an_open_link_names_the_organization(api_path: str, expected: str) -> None:
    assert links.build_open_link(api_path, org_slug="acme", language="en") == expected


def test_no_other_place_knows_a_page() -> None:
    """The documentation and the front end rely on one definition of the paths."""
    literal = re.compile("|".join(re.escape(page) for page in WebPage if page != WebPage.OPEN))
    found = {
        str(file.relative_to(APP))
        for file in APP.rglob("*.py")
        if literal.search(file.read_text(encoding="utf-8"))
    }
    assert found == {"kit/links.py"}


def test_with_a_front_end_links_lead_there(
    app: Flask, org: Org, monkeypatch: pytest.MonkeyPatch, work: object
) -> None:
    before = container.settings()
    front = dataclasses.replace(before, frontend_url="https://front.example/app")
    monkeypatch.setattr(container.current(), "settings", front)
    workspace = Workspace(org, work)  # type: ignore[arg-type]
    email = address()
    assert workspace.invite(email).status_code == 201
    (message,) = workspace.emails(email)
    assert (
        f"https://front.example/app/accept-invitation?token={message.token}&lang=en" in message.text
    )
    # The footer still contains the URL of the service itself.
    assert f"It runs at {before.public_url}." in message.text
    assert list_emails_to(email) == [message]


def test_the_documented_contract_names_every_page() -> None:
    docs = (APP.parent / "docs/integrators/front-end.md").read_text(encoding="utf-8")
    for page in WebPage:
        assert f"`{page}" in docs, page
