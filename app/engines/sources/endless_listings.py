"""Detect listings of object stores that do not end."""

from collections.abc import Sequence
from time import monotonic

from app.engines.sources import limits
from app.engines.sources.failures import build_protocol_error
from app.engines.sources.model import HostError, HostErrorKind

_MAX_EMPTY_PAGES = 1000
"""The maximum number of consecutive empty pages. Stores may send empty pages, but not endlessly."""


class EndlessListingDetector:
    """Detects listings that do not end.

    Such a listing repeats its tokens in a cycle (detected with Brent's algorithm), has too many
    consecutive empty pages, has only empty pages for too long, or is sorted and has a page with no
    name after the last name of an earlier page.
    """

    def __init__(self, *, is_sorted: bool) -> None:
        self._is_sorted = is_sorted
        self._saved_token: str | None = None
        self._steps, self._power = 0, 1
        self._empty_pages = 0
        self._empty_pages_until = monotonic() + limits.SKIP_SECONDS
        self._last_key = b""

    def check(self, token: str, keys: Sequence[bytes], *, is_empty: bool) -> None:
        """Check a page that is not the last page. Raises HostError if the listing is endless.

        `token` requests the next page. `keys` are the names of the objects on the page. An empty
        page has neither objects nor folders.
        """
        if not is_empty:
            self._empty_pages = 0
            self._empty_pages_until = monotonic() + limits.SKIP_SECONDS
        self._empty_pages += is_empty
        if self._empty_pages > _MAX_EMPTY_PAGES or monotonic() > self._empty_pages_until:
            raise build_protocol_error()
        if token == self._saved_token:
            raise build_protocol_error()
        if self._is_sorted and keys:
            if max(keys) <= self._last_key:
                raise build_endless_listing_error()
            self._last_key = max(keys)
        self._steps += 1
        if self._steps == self._power:
            self._saved_token, self._steps, self._power = token, 0, 2 * self._power


def build_endless_listing_error() -> HostError:
    """Build the HostError for a listing that makes no progress."""
    message = (
        "The host's listing does not end: it repeats names, or never reaches the name at which the"
        " previous listing stopped."
    )
    return HostError(HostErrorKind.PROTOCOL, message)
