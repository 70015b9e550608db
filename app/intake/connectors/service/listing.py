"""Split the listing of a source into parts, after each of which a crawl can stop."""

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import NamedTuple

from app.engines.sources.model import ListingPosition, SourceObject
from app.intake.connectors.service.globs import PathPatterns

MAX_OBJECTS = 1000
"""The maximum number of listed objects that one statement compares with known versions."""
PART_SECONDS = 5.0
"""The time in seconds after which a part ends, even if it has few or no objects."""


class ListedPart(NamedTuple):
    """A part of a listing: its included objects, and the position at which it ends.

    If PART_SECONDS pass before the listing reaches its start position, the part has no objects, and
    `cursor` is None. The crawl then only checks whether its job is still running.
    """

    objects: list[SourceObject]
    cursor: str | None


def split_listing(
    listing: Iterable[SourceObject | ListingPosition], patterns: PathPatterns
) -> Iterator[ListedPart]:
    """Split a listing into parts, and leave out objects that the patterns exclude.

    A part ends with MAX_OBJECTS included objects or after PART_SECONDS. If the source took longer
    than PART_SECONDS to find the position at which the listing starts, parts may take as long.
    """
    opened_at = checked_at = started_at = monotonic()
    objects: list[SourceObject] = []
    cursor: str | None = None
    seconds: float | None = None
    for item in listing:
        now = monotonic()
        if item.path is not None:
            if seconds is None:
                # A run that stops as soon as it has found its position would make no progress.
                seconds, started_at = max(PART_SECONDS, now - opened_at), now
            cursor = item.path
            if isinstance(item, SourceObject) and patterns.is_included(cursor):
                objects.append(item)
            if len(objects) == MAX_OBJECTS or now - started_at >= seconds:
                yield ListedPart(objects, cursor)
                objects, cursor = [], None
                checked_at = started_at = monotonic()
                continue
        if now - checked_at >= PART_SECONDS:
            yield ListedPart([], None)
            checked_at = monotonic()
    if cursor is not None:
        yield ListedPart(objects, cursor)
