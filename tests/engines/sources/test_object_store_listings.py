"""Endless listings of object stores, and credentials that expire during a crawl."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from http import HTTPStatus
from itertools import islice
from typing import Any
from urllib.parse import quote_from_bytes

import jwt
import pytest
from requests import Response

from app.engines.sources import azure, gcs, limits
from app.engines.sources.model import HostError, HostErrorKind, SourceObject
from app.engines.sources.object_store import (
    ListingPage,
    ListingQuery,
    ObjectStoreSource,
    StoredObject,
)
from tests.engines.sources import azure_server, gcs_server
from tests.engines.sources.network import LoopbackNetwork
from tests.engines.sources.reading import expect_error, list_paths

Page = Callable[[int], ListingPage]


class FakeStore:
    """A store in which a function creates each page from its token, a number."""

    def __init__(self, build_page: Page, *, can_start_after: bool = False) -> None:
        self._build_page = build_page
        self.can_start_after = can_start_after
        self.pages = 0

    def list_page(self, query: ListingQuery, token: str | None) -> ListingPage:
        del query
        self.pages += 1
        return self._build_page(int(token or 0))

    def read(self, key: bytes) -> AbstractContextManager[Response]:
        del key
        response = Response()
        response.status_code = HTTPStatus.NOT_FOUND
        return nullcontext(response)

    def build_refusal_error(self, response: Response) -> HostError:
        raise NotImplementedError

    def close(self) -> None:
        pass


def _build_object(name: str) -> StoredObject:
    return StoredObject(name.encode(), "1", 1, None)


def _build_store(pages: list[list[str]], *, can_start_after: bool = False) -> FakeStore:
    """Return a store with these names on its pages."""

    def build_page(number: int) -> ListingPage:
        objects = [_build_object(name) for name in pages[number]]
        return ListingPage(objects, [], str(number + 1) if number + 1 < len(pages) else None)

    return FakeStore(build_page, can_start_after=can_start_after)


def _build_endless_page(number: int) -> ListingPage:
    return ListingPage([_build_object(f"{number}.txt")], [], str(number + 1))


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("lead", [0, 5])
def test_a_circle_of_pages_is_noticed(length: int, lead: int) -> None:
    def build_page(number: int) -> ListingPage:
        following = number + 1 if number < lead + length - 1 else lead
        return ListingPage([_build_object(f"{number}.txt")], [], str(following or length))

    store = FakeStore(build_page)
    with expect_error(HostErrorKind.PROTOCOL):
        list_paths(ObjectStoreSource(store, ""))
    assert store.pages < 40


def test_pages_without_names_end() -> None:
    store = FakeStore(lambda number: ListingPage([], [], str(number + 1)))
    with expect_error(HostErrorKind.PROTOCOL):
        ObjectStoreSource(store, "").browse("", 10)


def test_some_pages_without_names_are_normal() -> None:
    pages = [[] if number % 500 else [f"{number}.txt"] for number in range(5001)]
    assert len(list_paths(ObjectStoreSource(_build_store(pages), ""))) == 11


def test_a_listing_is_read_page_by_page() -> None:
    store = FakeStore(_build_endless_page)
    assert len(list(islice(ObjectStoreSource(store, "").list_objects(), 100))) == 100
    assert store.pages == 100


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("c.txt", ["a.txt", "d.txt"]),
        ("d.txt", []),
        ("gone.txt", ["b.txt", "c.txt", "a.txt", "d.txt"]),
    ],
)
def test_an_unsorted_listing_continues_after_a_name(after: str, expected: list[str]) -> None:
    store = _build_store([["in/b.txt", "in/c.txt"], ["in/a.txt"], ["in/d.txt"]])
    assert list_paths(ObjectStoreSource(store, "in"), after) == expected


def test_names_that_are_too_long_or_elsewhere_are_left_out() -> None:
    names = ["in/a.txt", "in/" + "a" * 9000, "out/a.txt", "in/folder/", "in/"]
    source = ObjectStoreSource(_build_store([names]), "in")
    assert list_paths(source) == ["a.txt"]
    assert [entry.path for entry in source.browse("", 10)] == ["a.txt"]


def test_google_gets_a_new_token_before_the_old_one_expires(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [time.time()]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    get_token = gcs._build_token_getter(gcs_server.build_key())
    first = get_token()
    assert get_token() == first
    claims = jwt.decode(first, options={"verify_signature": False})
    clock[0] = claims["exp"] - 300
    renewed = jwt.decode(get_token(), options={"verify_signature": False})
    assert renewed["exp"] > claims["exp"]


def test_azure_gets_a_new_signature_before_the_old_one_expires(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [time.time()]

    class FakeDatetime(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.fromtimestamp(clock[0], tz)

    monkeypatch.setattr(time, "time", lambda: clock[0])
    monkeypatch.setattr(azure, "datetime", FakeDatetime)
    settings = {"account": azure_server.ACCOUNT, "account_key": azure_server.KEY}
    source = azure.open_source({**settings, "container": "documents"}, LoopbackNetwork())
    get_signature = source._store._get_signature
    first = get_signature()
    assert get_signature() == first
    clock[0] += 13 * 3600
    assert get_signature() != first


def test_pages_that_repeat_a_name_are_an_error_in_a_sorted_store() -> None:
    store = _build_store([["x/"]] * 51, can_start_after=True)
    with expect_error(HostErrorKind.PROTOCOL):
        list_paths(ObjectStoreSource(store, ""))
    assert store.pages == 2


def test_each_page_without_documents_yields_a_position() -> None:
    pages = [["in/a/", "in/a/b/"], [], ["in/c.txt"], ["in/c.txt.parts/"], ["out/x.txt"]]
    source = ObjectStoreSource(_build_store(pages), "in")
    listed = list(source.list_objects())
    paths = [item.path for item in listed]
    assert paths == ["a/b/", None, "c.txt", "c.txt.parts/", None]
    assert [item.path for item in listed if isinstance(item, SourceObject)] == ["c.txt"]
    assert [item.path for item in source.list_objects("a/b/")] == [None, *paths[1:]]


def test_the_search_for_a_position_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    store = FakeStore(_build_endless_page)
    listing = ObjectStoreSource(store, "").list_objects("gone.txt")
    assert [item.path for item in islice(listing, 10)] == [None] * 10
    monkeypatch.setattr(limits, "SKIP_SECONDS", -1.0)
    with expect_error(HostErrorKind.PROTOCOL):
        list_paths(ObjectStoreSource(store, ""), "gone.txt")


@pytest.mark.parametrize("count", [55, 56, 57, 340])
def test_a_listing_starts_after_a_prefix_of_a_long_name(count: int) -> None:
    names = [f"in/{'字' * count}{end}.txt" for end in "abc"] + ["in/字a.txt", "in/雨.txt"]
    queries: list[ListingQuery] = []

    class Store(FakeStore):
        def list_page(self, query: ListingQuery, token: str | None) -> ListingPage:
            queries.append(query)
            return super().list_page(query, token)

    def build_page(_: int) -> ListingPage:
        after = queries[-1].after
        keys = sorted(name.encode() for name in names)
        return ListingPage(
            [StoredObject(key, "1", 1, None) for key in keys if key > after], [], None
        )

    paths = list_paths(ObjectStoreSource(Store(build_page, can_start_after=True), "in"))
    assert len(paths) == 5
    for number, path in enumerate(paths):
        source = ObjectStoreSource(Store(build_page, can_start_after=True), "in")
        assert list_paths(source, path) == paths[number + 1 :]
        after = queries[-1].after
        assert len(quote_from_bytes(after, safe="")) <= limits.MAX_START_CHARS
        assert f"in/{path}".startswith(after.decode())
