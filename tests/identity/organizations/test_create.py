"""Making organizations: who owns them, and what names them."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest

from app.identity.organizations import service, slugs
from app.identity.organizations.models import Organization
from app.kit import db
from app.kit.errors import ApiError
from tests.factories import Org


def _create(org: Org, **members: object) -> Organization:
    with org.app.app_context(), db.transaction():
        return service.create(owner_id=org.users["viewer"], **members)  # type: ignore[arg-type]


def test_who_creates_it_owns_it(org: Org) -> None:
    made = _create(org, name="Acme")
    answer = org.api("viewer").get("/organizations")
    found = {o["slug"]: o for o in answer.json["data"]}
    assert found[made.slug]["role"] == "owner"
    assert found[made.slug]["plan"] == "unlimited"
    assert found[made.slug]["status"] == "active"


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
        found = list(pool.map(ask, range(4)))
    assert found.count("conflict") == 3
