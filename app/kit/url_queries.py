"""Hide the query strings of stored URLs from users, and restore them when settings are updated.

A query string may contain a signature.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from app.kit import errors

_URL, _URLS = "url", "urls"


class VisibleSettings(NamedTuple):
    """The settings that users may see, and the names of the settings with hidden values."""

    settings: dict[str, Any]
    hidden_names: list[str]


def build_visible_settings(
    public: Mapping[str, Any], secret_names: Collection[str]
) -> VisibleSettings:
    """Remove the queries of URLs from stored settings.

    `hidden_names` contains `secret_names`, and `url` or `urls` if a query was removed.
    """
    settings, hidden_names = dict(public), set(secret_names)
    if _URL in settings:
        settings[_URL] = _remove_query(public[_URL])
        hidden_names |= {_URL} if _has_query(public[_URL]) else set()
    if _URLS in settings:
        settings[_URLS] = [_remove_query(url) for url in public[_URLS]]
        hidden_names |= {_URLS} if any(map(_has_query, public[_URLS])) else set()
    return VisibleSettings(settings, sorted(hidden_names))


def restore_queries(
    new_settings: Mapping[str, Any], stored: Mapping[str, Any], *, field: str
) -> dict[str, Any]:
    """Return the new settings, with the stored query added to each URL that was sent without one.

    A URL gets the stored query only if everything before the query is the same, so the query is
    never sent to another host. Raises 400 for `<field>.urls` if it is ambiguous which of several
    stored URLs is meant.
    """
    settings = dict(new_settings)
    url, urls = settings.get(_URL), settings.get(_URLS)
    if isinstance(url, str) and _URL in stored and url == _remove_query(stored[_URL]):
        settings[_URL] = stored[_URL]
    if isinstance(urls, list) and _URLS in stored:
        settings[_URLS] = _restore_list(urls, stored[_URLS], f"{field}.{_URLS}")
    return settings


def _remove_query(url: str) -> str:
    return url.partition("?")[0]


def _has_query(url: str) -> bool:
    return bool(url.partition("?")[2])


def _restore_list(urls: Sequence[Any], stored_urls: Sequence[str], field: str) -> list[Any]:
    stored_by_address: defaultdict[str, list[str]] = defaultdict(list)
    for url in stored_urls:
        stored_by_address[_remove_query(url)].append(url)
    counts = Counter(url for url in urls if isinstance(url, str))
    replacements: dict[str, Iterator[str]] = {}
    for address, originals in stored_by_address.items():
        if counts[address] == len(originals):
            # Clients send the URLs in the order in which they were returned.
            replacements[address] = iter(originals)
        elif 0 < counts[address] < len(originals) and address not in originals:
            message = (
                "Several stored URLs differ only in the query. Send all of these URLs, or send "
                "them with their queries."
            )
            raise errors.invalid(message, field)
    return [
        next(replacements[url]) if isinstance(url, str) and url in replacements else url
        for url in urls
    ]
