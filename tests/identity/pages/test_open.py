"""The page of links in notifications: it explains the link, and shows nothing of a tenant."""

import dataclasses
import re
from pathlib import Path

import pytest

from app.delivery.notifications.service.collecting import TOPICS
from app.identity.pages.opening import PARAMETERS, TARGETS
from app.kit import container, links
from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.identity.pages.conftest import Visitor

APP = Path(__file__).parents[3] / "app"
ID = "0190c0de-0000-7000-8000-000000000001"


@pytest.mark.parametrize(
    ("resource", "heading"),
    [
        (f"artifacts/{ID}", "Open a document"),
        (f"tag-sets/{ID}", "Open a tag set"),
        (f"tag-sets/{ID}/comments", "Open the comments on a tag set"),
        (f"review-queue/{ID}", "Open a review"),
        ("review-queue?escalated=true", "Open the review queue"),
        ("users/me/assignments?kind=review", "Open your assignments"),
        (f"tag-sets?status=rejected&labeler_id={ID}", "Open your tag sets"),
        (f"webhooks/{ID}", "Open a webhook"),
        (f"connectors/{ID}/alerts", "Open a connector's alerts"),
        ("organizations/acme/api-keys", "Open the API keys"),
        ("organizations/acme/members", "Open the members"),
        ("billing/usage", "Open the usage"),
    ],
)
def test_it_explains_how_to_read_the_record(visitor: Visitor, resource: str, heading: str) -> None:
    link = links.build_open_link(f"/api/v1/{resource}", org_slug="acme", language="en")
    page = visitor.open(link)
    assert (page.status, page.heading) == (200, heading)
    shown = page.tree.xpath("string(//pre)").splitlines()
    public_url = container.settings().public_url
    assert shown == [
        f"GET {public_url}/api/v1/{resource}",
        "Authorization: Bearer …",
        "X-Org-Slug: acme",
    ]
    assert "acme" in page.text
    assert not page.has_form


def test_existing_and_missing_records_look_the_same(org: Org, visitor: Visitor) -> None:
    webhook = {"url": "https://127.0.0.2/hook", "events": ["artifact.ingested"]}
    there, other = get_data(org.api().post("/webhooks", webhook), 201)["id"], str(uuid7())
    pages = [
        visitor.open(f"/open/{org.slug}/webhooks/{webhook_id}") for webhook_id in (there, other)
    ]
    first, second = (page.answer.text for page in pages)
    assert first.replace(there, other) == second


@pytest.mark.parametrize(
    "path",
    [
        "/open/acme/artifacts/1",
        f"/open/acme/artifacts/{ID}/file",
        f"/open/ACME/artifacts/{ID}",
        f"/open/a%20b/artifacts/{ID}",
        "/open/acme/https://evil.example/",
        "/open/acme/%3Cscript%3E",
        "/open/acme/%00",
    ],
)
def test_any_other_link_is_not_found(visitor: Visitor, path: str) -> None:
    page = visitor.open(path)
    assert page.status == 404
    assert page.problems == ["This link is not valid. Open the link in the email again."]
    assert "evil" not in page.answer.text
    assert "<script" not in page.answer.text


@pytest.mark.parametrize("path", ["/open/acme//evil.example", f"/open/acme/artifacts/{ID}%0A"])
def test_other_paths_are_not_found(visitor: Visitor, path: str) -> None:
    assert visitor.client.get(path).status_code == 404


def test_other_parameters_are_omitted(visitor: Visitor) -> None:
    page = visitor.open("/open/acme/users/me/assignments?kind=review&say=evil&status=%3Cb%3E")
    assert "?kind=review\n" in page.tree.xpath("string(//pre)")
    assert "evil" not in page.answer.text


def test_with_a_front_end_the_page_links_to_it(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = dataclasses.replace(container.settings(), frontend_url="https://front.example/app")
    monkeypatch.setattr(container.current(), "settings", front)
    page = visitor.open("/open/acme/users/me/assignments?kind=review&lang=de")
    (button,) = page.tree.xpath("//a[@class='button']")
    expected = "https://front.example/app/open/acme/users/me/assignments?kind=review&lang=de"
    assert button.get("href") == expected
    assert page.tree.xpath("//pre")


def test_every_link_of_notifications_has_a_page() -> None:
    """A new link in notifications also needs a text on this page."""
    files = [*(APP / "delivery/notifications").rglob("*.py"), APP / "delivery/webhooks/recorder.py"]
    path = re.compile(r'"(?:{_API}|/api/v1)/([a-z](?:[^"{]|{[^}]*})*)"')
    in_code = [
        re.sub(r"{[^}]*}", ID, re.sub(r"{[^}]*\.slug}", "acme", found))
        for file in files
        for found in path.findall(file.read_text(encoding="utf-8"))
    ]
    assert {"billing/usage", "organizations/acme/members"} < set(in_code)
    for link in [*in_code, *(topic.link.format(user_id=ID) for topic in TOPICS.values())]:
        resource, _, query = link.partition("?")
        assert any(re.fullmatch(pattern, resource) for pattern in TARGETS), link
        for parameter in filter(None, query.split("&")):
            name, value = parameter.split("=")
            assert re.fullmatch(PARAMETERS[name], value), link


def test_the_page_for_front_ends_lists_every_target() -> None:
    page = (APP.parent / "docs/integrators/front-end.md").read_text(encoding="utf-8")
    table = page.partition("The targets of `/open/{org_slug}/`:")[2].partition("New targets")[0]
    paths = [path.partition("?")[0] for path in re.findall(r"`([a-z][^`]*)`", table)]
    resources = [path.replace("{id}", ID).replace("{slug}", "acme") for path in paths]
    described = {p for p in TARGETS for resource in resources if re.fullmatch(p, resource)}
    assert described == set(TARGETS)
