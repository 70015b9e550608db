"""Read all pages of a list."""

from typing import Any

from tests.factories.orgs import Api


def read_pages(api: Api, path: str, cursor: str | None = None) -> list[Any]:
    """Return the responses for all pages of a list, or for those from `cursor` on, in order.

    `path` has a query string without a cursor.
    """
    pages = [_read_page(api, path if cursor is None else f"{path}&cursor={cursor}")]
    while cursor := pages[-1]["meta"]["next_cursor"]:
        pages.append(_read_page(api, f"{path}&cursor={cursor}"))
    return pages


def _read_page(api: Api, path: str) -> Any:
    response = api.get(path)
    assert response.status_code == 200, response.json
    return response.json
