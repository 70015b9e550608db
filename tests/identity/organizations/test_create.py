"""Making organizations: who owns them, and what names them."""

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest

from app.identity.organizations import service, slugs
from app.identity.organizations.models import Organization
from app.kit import db
from app.kit.errors import ApiError
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import get_data


def _create(org: Org, **members: object) -> Organization:
    with org.app.app_context(), db.transaction():
        return service.create(owner_id=org.users["viewer"], **members)  # type: ignore[arg-type]


def test_who_creates_it_owns_it(org: Org) -> None:
    made = _create(org, name="Acme")
    answer = org.api("viewer").get("/organizations")
    organizations = {o["slug"]: o for o in answer.json["data"]}
    assert organizations[made.slug]["role"] == "owner"
    assert organizations[made.slug]["plan"] == "unlimited"
    assert organizations[made.slug]["status"] == "active"


def test_two_of_one_name_have_two_slugs(org: Org) -> None:
    name = f"Ärzte {uuid4().hex}"
    first, second = (_create(org, name=name) for _ in range(2))
    assert first.slug == f"arzte-{name.split()[1]}"
    assert second.slug.startswith(f"{first.slug}-")
    assert slugs.is_slug(second.slug)


@pytest.mark.parametrize("name", ["🎉", "x", "API", "--", "a" * 200, "日本", "\u202e\u202d"])
def test_every_name_gives_a_slug(org: Org, name: str) -> None:
    made = _create(org, name=name)
    assert slugs.is_slug(made.slug)
    assert made.slug not in slugs.RESERVED


@pytest.mark.parametrize("slug", ["api", "www", "internal", "Ab-c", "ab", "a--b", "-ab", "a" * 64])
def test_slugs_that_none_may_have(org: Org, slug: str) -> None:
    with pytest.raises(ApiError) as refused:
        _create(org, name="x", slug=slug)
    assert (refused.value.code, refused.value.field) == ("validation_error", "slug")


def test_a_slug_is_given_once_however_many_ask(org: Org) -> None:
    slug = f"asked-{uuid4().hex[:20]}"

    def ask(_: int) -> str | UUID:
        try:
            return _create(org, name="x", slug=slug).id
        except ApiError as refused:
            return refused.code

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(ask, range(4)))
    assert results.count("conflict") == 3


def test_one_is_created_over_the_api(org: Org) -> None:
    body = {"name": "  Ünder Öne  ", "settings": {"locale": "de", "claim_minutes": 10}}
    made = get_data(org.api("viewer").post("/organizations", json=body), 201)
    assert made["slug"].startswith("under-one")
    assert (made["name"], made["role"], made["status"]) == ("Ünder Öne", "owner", "active")
    assert made["settings"]["claim_minutes"] == 10
    read = org.api("viewer", slug=made["slug"]).get(f"/organizations/{made['slug']}")
    assert read.json["data"] == made


def test_a_taken_slug_is_a_conflict_and_a_reserved_one_invalid(org: Org) -> None:
    api = org.api("viewer")
    taken = api.post("/organizations", json={"name": "x", "slug": org.slug})
    check_error(taken, 409, "conflict", field="slug")
    reserved = api.post("/organizations", json={"name": "x", "slug": "internal"})
    assert (reserved.status_code, reserved.json["error"]["field"]) == (400, "slug")


def test_a_setting_that_cannot_be_leaves_nothing_behind(org: Org) -> None:
    slug = f"asked-{uuid4().hex[:20]}"
    body = {"name": "x", "slug": slug, "settings": {"locale": "xx"}}
    assert org.api("viewer").post("/organizations", json=body).status_code == 400
    body["settings"] = {}
    assert org.api("viewer").post("/organizations", json=body).status_code == 201


def test_the_same_idempotency_key_makes_one(org: Org) -> None:
    api, headers = org.api("viewer"), {"Idempotency-Key": "once"}
    first = api.post("/organizations", json={"name": "x"}, headers=headers)
    again = api.post("/organizations", json={"name": "x"}, headers=headers)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json == first.json


def test_a_model_server_may_be_named_when_the_organization_is_created(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo

    def getaddrinfo(host: str, *args: Any, **options: Any) -> Any:
        return real("127.0.0.2" if host == "models.example" else host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    provider = {"kind": "openai_compatible", "model": "m", "base_url": "https://models.example/v1"}
    body = {"name": "x", "settings": {"ai_provider": provider}}
    data = get_data(org.api("viewer").post("/organizations", json=body), 201)
    made = data["settings"]["ai_provider"]
    assert made["base_url"] == provider["base_url"]
    refused = {**provider, "base_url": "https://localhost/v1"}
    body["settings"] = {"ai_provider": refused}
    answer = org.api("viewer").post("/organizations", json=body)
    check_error(answer, 400, "validation_error", field="settings.ai_provider.base_url")
    assert answer.json["error"]["message"].startswith("This URL is not accepted: ")
