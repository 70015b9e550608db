"""Removal of URL queries from recorded settings.

A URL query may contain a signature, which must not be shown. Entries never change, so the queries
are removed when entries are read.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.kit.pagination import Page
from app.kit.url_queries import build_visible_settings

_SETTINGS = "settings"


def hide_url_queries(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry's changes without the queries of URLs in settings."""
    if _SETTINGS not in changes:
        return changes
    return {**changes, _SETTINGS: [_remove_queries(value) for value in changes[_SETTINGS]]}


def hide_url_queries_in_page(page: Page) -> Page:
    """Return a page of entries without the queries of URLs in settings."""
    if not any(_SETTINGS in row.changes for row in page.items):
        return page
    rows = [row._asdict() for row in page.items]
    return replace(page, items=[{**r, "changes": hide_url_queries(r["changes"])} for r in rows])


def _remove_queries(settings: object) -> object:
    # Settings that did not exist are null. Large settings are recorded by size and digest.
    return build_visible_settings(settings, ()).settings if isinstance(settings, dict) else settings
