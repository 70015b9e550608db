"""Split listed objects into batches, each of which one transaction handles."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from app.engines.sources.model import SourceObject
from app.intake.connectors.service.fetching import FetchRequest

FETCH_BATCH_BYTES = 64 * 1024 * 1024
"""The size in bytes at which a batch is complete; its last document may exceed this size."""
_ASSUMED_BYTES = 4 * 1024 * 1024
"""The size that is assumed for a document if the source does not report its size."""


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
