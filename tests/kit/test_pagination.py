"""Keyset pagination: complete pages in both directions, exact totals, and bound cursors."""

from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sqlalchemy import select

from app.delivery.notifications.models import Notification
from app.kit import tenancy
from app.kit.errors import ApiError
from app.kit.pagination import Page, PageRequest, paginate
from tests.factories import Org, make_org
from tests.factories.properties import examples
from tests.factories.statements import record_statements

N = Notification


def _fill(org: Org, titles: list[str]) -> None:
    with org.transaction() as session:
        rows = [N(user_id=org.users["owner"], kind="x", title=t) for t in titles]
        session.add_all(rows)


def _page(org: Org, sort: str, size: int, cursor: str | None = None, bound: bytes = b"") -> Page:
    with org.app.app_context(), tenancy.organization(org.id):
        return paginate(
            select(N.id, N.title, N.created_at),
            PageRequest(cursor, size, sort, bound),
            sort_columns={"title": N.title, "created_at": N.created_at},
            unique=N.id,
        )


def _walk(org: Org, sort: str, size: int) -> tuple[list[Any], str | None]:
    seen: list[Any] = []
    page = _page(org, sort, size)
    while True:
        seen += page.items
        if page.next_cursor is None:
            return seen, page.prev_cursor
        page = _page(org, sort, size, page.next_cursor)


@examples(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    titles=st.lists(st.sampled_from("abc"), max_size=12),
    size=st.integers(1, 5),
    sort=st.sampled_from(["title", "-title", "created_at", "-created_at"]),
)
def test_pages_show_every_row_once_forth_and_back(
    app: Flask, titles: list[str], size: int, sort: str
) -> None:
    org = make_org(app)
    _fill(org, titles)
    rows, back = _walk(org, sort, size)
    assert sorted(r.title for r in rows) == sorted(titles)
    keys = [(getattr(r, sort.lstrip("-")), r.id) for r in rows]
    assert keys == sorted(keys, reverse=sort.startswith("-"))
    backwards: list[Any] = rows[(len(rows) - 1) // size * size :] if rows else []
    while back is not None:
        page = _page(org, sort, size, back)
        backwards = [*page.items, *backwards]
        assert page.total == len(titles)
        back = page.prev_cursor
    assert backwards == rows


def test_rows_that_come_in_cause_no_skip_and_no_repeat(org: Org) -> None:
    _fill(org, ["b", "d", "f"])
    first = _page(org, "title", 2)
    _fill(org, ["a", "c", "e"])
    second = _page(org, "title", 2, first.next_cursor)
    assert [r.title for r in first.items] == ["b", "d"]
    assert [r.title for r in second.items] == ["e", "f"]
    assert second.total == 3


def test_a_cursor_of_another_list_is_refused(org: Org) -> None:
    _fill(org, ["a", "b"])
    cursor = _page(org, "title", 1, bound=b"one").next_cursor
    with pytest.raises(ApiError) as refused:
        _page(org, "title", 1, cursor, bound=b"another")
    assert refused.value.field == "cursor"
    assert refused.value.status == 422


def test_a_changed_cursor_is_refused(org: Org) -> None:
    _fill(org, ["a", "b"])
    cursor = _page(org, "title", 1).next_cursor
    assert cursor is not None
    other = "B" if cursor[0] == "A" else "A"
    for changed in (cursor[:-2], other + cursor[1:], cursor + "AAAA"):
        with pytest.raises(ApiError):
            _page(org, "title", 1, changed)


@pytest.mark.parametrize(
    "statement", [select(N.id, N.title, N.created_at), select(N), select(N.id).distinct()]
)
def test_every_statement_of_a_page_names_the_organization(org: Org, statement: Any) -> None:
    _fill(org, ["a", "b"])
    request = PageRequest(None, 1, "id", b"")
    with (
        org.app.app_context(),
        tenancy.organization(org.id),
        record_statements(org.app) as statements,
    ):
        page = paginate(statement, request, sort_columns={"id": N.id}, unique=N.id)
    assert page.total == 2
    assert len(statements) == 2
    assert all("WHERE notifications.organization_id =" in sql for sql in statements), statements
