"""Read all pages of a list."""

from typing import Any

from tests.factories.orgs import Api


def read_pages(api: Api, path: str) -> list[Any]:
    """Return the responses for all pages of a list, in order. `path` has a query string."""
    pages = [_read_page(api, path)]
    while cursor := pages[-1]["meta"]["next_cursor"]:
        pages.append(_read_page(api, f"{path}&cursor={cursor}"))
    return pages


def _read_page(api: Api, path: str) -> Any:
    response = api.get(path)
    assert response.status_code == 200, response.json
    return response.json
