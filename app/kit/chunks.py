"""Split items into chunks of a limited size, to read large values in bounded memory."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")


def split_by_size(
    items: Iterable[_Item], get_size: Callable[[_Item], int], limit: int
) -> Iterator[list[_Item]]:
    """Yield chunks of consecutive items whose sizes add up to at most `limit`.

    An item that is larger than the limit is a chunk by itself.
    """
    chunk: list[_Item] = []
    total = 0
    for item in items:
        size = get_size(item)
        if chunk and total + size > limit:
            yield chunk
            chunk, total = [], 0
        chunk.append(item)
        total += size
    if chunk:
        yield chunk
