"""Split the listing of a source into parts, and the objects of a part into batches."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from time import monotonic
from typing import NamedTuple

from app.engines.sources.model import ListingPosition, SourceObject
from app.intake.connectors.service.fetching import FetchRequest
from app.intake.connectors.service.globs import PathPatterns

MAX_OBJECTS = 1000
"""The maximum number of listed objects that one statement compares with known versions."""
PART_SECONDS = 5.0
"""The time in seconds after which a part ends, even if it has few or no objects."""
FETCH_BATCH_BYTES = 64 * 1024 * 1024
"""The size in bytes at which a batch is complete. The last document may make the batch larger."""
_ASSUMED_BYTES = 4 * 1024 * 1024
"""The size that is assumed for a document if the source does not report its size."""


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

    A part ends with MAX_OBJECTS included objects or after PART_SECONDS. If the source takes longer
    than PART_SECONDS to find the start position of the listing, each part may take that long.
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


class Batch(NamedTuple):
    """Objects that one transaction handles, with numbers from `first` to `end` (exclusive).

    `unchanged_count` is the number of objects that are not fetched. `cursor` is the position of the
    listing after the batch, or None for a batch of retried documents, whose versions are not known.
    """

    requests: list[FetchRequest]
    unchanged_count: int
    first: int
    end: int
    cursor: str | None

    def split(self, count: int) -> tuple["Batch", "Batch | None"]:
        """Split the batch after its first `count` documents to fetch.

        The second part is None if there are no other documents to fetch.
        """
        if count == len(self.requests):
            return self, None
        last, end = self.requests[count - 1], self.requests[count - 1].number + 1
        is_listed = self.cursor is not None
        unchanged_count = end - self.first - count if is_listed else 0
        return (
            Batch(
                self.requests[:count],
                unchanged_count,
                self.first,
                end,
                last.path if is_listed else None,
            ),
            self._replace(
                requests=self.requests[count:],
                unchanged_count=self.unchanged_count - unchanged_count,
                first=end,
            ),
        )


def split_batches(
    source_objects: Sequence[SourceObject],
    unchanged_indexes: Collection[int],
    *,
    first: int,
    cursor: str,
    batch_size: int,
) -> Iterator[Batch]:
    """Split the consecutive objects of a listing into batches with at most `batch_size` to fetch.

    The objects at `unchanged_indexes` are not fetched. A batch also contains the unchanged objects
    before, between and after the documents to fetch. `first` is the number of the first object. The
    last batch ends at the position `cursor`, and may have no objects.
    """
    number = first
    position: str | None = None
    requests: list[FetchRequest] = []
    size = 0
    for index, source_object in enumerate(source_objects):
        if index not in unchanged_indexes:
            requests.append(FetchRequest(number, source_object.path, source_object.version))
            size += _ASSUMED_BYTES if source_object.size is None else source_object.size
        number += 1
        if len(requests) == batch_size or size >= FETCH_BATCH_BYTES:
            position = source_object.path
            yield Batch(requests, number - first - len(requests), first, number, position)
            first, requests, size = number, [], 0
    if position != cursor:
        yield Batch(requests, number - first - len(requests), first, number, cursor)
