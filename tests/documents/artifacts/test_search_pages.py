"""All ways to find a page of search hits return the same page; see `search_pages`."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.queries import search_pages, searching
from app.kit import tenancy
from tests.documents.artifacts.conftest import create_text, explain
from tests.factories import Org
from tests.factories.statements import record_statements

Calls = list[int]


@pytest.fixture
def document_names(org: Org) -> list[str]:
    """Create ten documents with the word "rope", every third archived.

    Returns their names, oldest first.
    """
    api, names = org.api("labeler"), []
    for number in range(20):
        document = create_text(api, f"{'rope' if number % 2 else 'wire'} {number}", f"{number:02}")
        if number % 2:
            names.append(document["name"])
        if number % 3 == 0:
            path = f"/artifacts/{document['id']}"
            answer = org.api("admin").patch(
                path, json={"archived": True}, headers={"If-Match": f'"{document["revision"]}"'}
            )
            assert answer.status_code == 200, answer.json
    return names


def _record(monkeypatch: pytest.MonkeyPatch, name: str) -> Calls:
    """Record the calls of `name`: return a list of the numbers of documents that they find."""
    calls: Calls = []
    find = getattr(search_pages, name)

    def record(*args: Any) -> Any:
        keys = find(*args)
        calls.append(len(keys))
        return keys

    monkeypatch.setattr(search_pages, name, record)
    return calls


def _list_pages(org: Org, path: str) -> list[list[str]]:
    pages, cursor = [], ""
    while True:
        answer = org.api("viewer").get(f"{path}{cursor}").json
        pages.append([document["name"] for document in answer["data"]])
        if not answer["meta"]["next_cursor"]:
            return pages
        cursor = f"&cursor={answer['meta']['next_cursor']}"


@pytest.mark.parametrize("sort", ["created_at", "-created_at"])
@pytest.mark.parametrize("archived", ["any", "false"])
@pytest.mark.parametrize(
    ("limit", "way"),
    [
        ("MIN_HITS_TO_SEARCH_NEWEST", "_find_page_up_to"),
        ("MIN_HITS_TO_TEST_NEWEST", "_find_by_testing_next"),
    ],
)
def test_pages_found_quickly_equal_those_of_the_index(
    org: Org,
    document_names: list[str],
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    way: str,
    archived: str,
    sort: str,
) -> None:
    path = f"/artifacts?q=rope&page_size=2&archived={archived}&sort={sort}"
    expected = _list_pages(org, path)
    assert sum(len(page) for page in expected) == (10 if archived == "any" else 7)
    assert {name for page in expected for name in page} <= set(document_names)
    calls = _record(monkeypatch, way)
    monkeypatch.setattr(search_pages, limit, 1)
    monkeypatch.setattr(search_pages, "_DEVIATIONS", 0)
    assert _list_pages(org, path) == expected
    assert calls[0] == 3, "The first page was not found this way."


def test_every_hit_is_visited_if_the_newest_do_not_fill_a_page(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        create_text(org.api("labeler"), f"rope {number}", f"{number}")
    for number in range(12):
        create_text(org.api("labeler"), f"wire {number}", f"other {number}")
    path = "/artifacts?q=rope&page_size=2&sort=-created_at"
    calls = _record(monkeypatch, "_find_page_up_to")
    monkeypatch.setattr(search_pages, "MIN_HITS_TO_SEARCH_NEWEST", 1)
    monkeypatch.setattr(search_pages, "_DEVIATIONS", 0)
    assert _list_pages(org, path) == [["5", "4"], ["3", "2"], ["1", "0"]]
    assert calls[0] == 0


def test_a_first_page_is_searched_again_only_after_a_change(
    org: Org, document_names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_pages, "MIN_HITS_TO_SEARCH_NEWEST", 1)
    monkeypatch.setattr(search_pages, "_DEVIATIONS", 0)
    path = "/artifacts?q=rope&page_size=2&archived=any&sort=-created_at"

    def list_first_page() -> tuple[list[str], int]:
        with record_statements(org.app) as statements:
            names = [document["name"] for document in org.api("viewer").get(path).json["data"]]
        return names, sum("OFFSET" in statement for statement in statements)

    searches = _record(monkeypatch, "_find_page_up_to")
    assert list_first_page() == (["19", "17"], 1)
    assert list_first_page() == (["19", "17"], 0)
    assert searches == [3]
    create_text(org.api("labeler"), "rope 20", "20")
    assert list_first_page() == (["20", "19"], 1)
    assert searches == [3, 3]
    assert len(document_names) == 10


def test_a_cached_first_page_is_used_only_for_the_same_search(
    org: Org, other_org: Org, document_names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_pages, "MIN_HITS_TO_SEARCH_NEWEST", 1)
    monkeypatch.setattr(search_pages, "_DEVIATIONS", 0)
    searches = [
        f"/artifacts?q=rope&page_size={size}&archived={archived}&sort={sort}"
        for size, archived, sort in (
            (2, "any", "-created_at"), (2, "false", "-created_at"), (3, "any", "-created_at"),
            (2, "any", "created_at"),
        )
    ]  # fmt: skip
    first = [_list_pages(org, search)[0] for search in searches]
    assert first == [["19", "17"], ["19", "17"], ["19", "17", "15"], ["01", "03"]]
    assert [_list_pages(org, search)[0] for search in searches] == first
    assert _list_pages(other_org, searches[0]) == [[]]
    assert len(document_names) == 10


@pytest.mark.parametrize("query", ["status=ready", "sort=name", "sort=-priority&archived=any"])
def test_frequent_hits_are_listed_with_other_filters_and_orders(
    org: Org, document_names: list[str], monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    path = f"/artifacts?q=rope&page_size=2&{query}"
    expected = _list_pages(org, path)
    assert sum(len(page) for page in expected) == (10 if "any" in query else 7)
    monkeypatch.setattr(search_pages, "MIN_HITS_TO_TEST_NEWEST", 1)
    assert _list_pages(org, path) == expected
    assert {name for page in expected for name in page} <= set(document_names)


@pytest.mark.usefixtures("document_names")
def test_documents_are_found_by_hit_or_in_the_order_of_the_list(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explain_search() -> str:
        with org.app.app_context(), tenancy.organization(org.id):
            condition = search_pages._build_hit_condition(searching.build_query("rope"))
            return explain(select(Artifact.id).where(condition))

    assert "(id = ANY (" in explain_search()
    monkeypatch.setattr(search_pages, "MIN_HITS_TO_TEST_NEWEST", 1)
    assert "hashed SubPlan" in explain_search()


def test_the_list_goes_on_if_a_document_is_deleted_while_its_page_is_read(
    org: Org, document_names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "/artifacts?q=rope&page_size=2&archived=any"
    newest_id = org.api("viewer").get(path).json["data"][0]["id"]
    find = search_pages._find_by_index

    def delete_after_finding(*args: Any) -> list[UUID]:
        keys = find(*args)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(org.api("admin").delete, f"/artifacts/{newest_id}").result()
        return keys

    monkeypatch.setattr(search_pages, "_find_by_index", delete_after_finding)
    pages = _list_pages(org, path)
    assert [name for page in pages for name in page] == document_names[-2::-1]
