"""List a tree of folders in a stable order and in bounded memory.

A folder is read completely before its first document is returned: the connection is then free to
read documents, and entries can be sorted. A folder with more entries than `SORT_ITEMS` is sorted on
disk.
"""

import heapq
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from app.engines.sources import limits
from app.engines.sources.model import (
    Entry,
    ObjectMissing,
    SourceError,
    SourceErrorKind,
    SourceObject,
)


class Item(NamedTuple):
    """An entry of a folder.

    `name` is a segment of a path. `modified` is in seconds since 1970.
    """

    name: str
    is_folder: bool
    version: str = ""
    size: int | None = None
    modified: float | None = None


ReadFolder = Callable[[str], Iterable[Item]]
"""Yields the entries of the folder at a path. Raises ObjectMissing if it does not exist."""


def list_tree(read_folder: ReadFolder, after: str | None = None) -> Iterator[tuple[str, Item]]:
    """Yield path and entry of all documents below a folder, sorted by the names in their paths.

    Folders that disappear meanwhile are skipped, except for the root.

    Args:
        read_folder: reads one folder.
        after: a path; documents up to and including this path are left out.
    """
    start = after.split("/") if after else []
    stack = [("", sort_items(read_folder("")), start)]
    while stack:
        prefix, items, start = stack[-1]
        item = next(items, None)
        if item is None:
            stack.pop()
            continue
        if start and (item.name < start[0] or (item.name == start[0] and not item.is_folder)):
            continue
        path = prefix + item.name
        if not item.is_folder:
            yield path, item
            continue
        if len(stack) >= limits.MAX_DEPTH:
            message = f"Folders are nested more than {limits.MAX_DEPTH} levels deep."
            raise SourceError(SourceErrorKind.PROTOCOL, message)
        try:
            entries = sort_items(read_folder(path))
        except ObjectMissing:
            continue
        child_start = start[1:] if start and item.name == start[0] else []
        stack.append((path + "/", entries, child_start))


def list_objects(read_folder: ReadFolder, after: str | None) -> Iterator[SourceObject]:
    """Yield the documents of a tree whose folder listings contain the versions."""
    for path, item in list_tree(read_folder, after):
        yield SourceObject(path, item.version, item.size, convert_time(item.modified))


def list_entries(read_folder: ReadFolder, path: str, limit: int) -> list[Entry]:
    """Return the first entries of one folder."""
    prefix = f"{path}/" if path else ""
    return [
        Entry(prefix + item.name, item.is_folder, item.size, convert_time(item.modified))
        for item in islice(sort_items(read_folder(path)), limit)
    ]


def convert_time(seconds: float | None) -> datetime | None:
    """Convert seconds since 1970 to a UTC time, or return None if they are None or out of range."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def sort_items(items: Iterable[Item]) -> Iterator[Item]:
    """Read all entries, and return them sorted by name and without duplicates."""
    remaining = iter(items)
    run = sorted(islice(remaining, limits.SORT_ITEMS), key=_get_key)
    if len(run) < limits.SORT_ITEMS:
        return _drop_duplicates(run)
    runs: list[Iterator[Item]] = []
    while run:
        runs.append(_store_run(run))
        run = sorted(islice(remaining, limits.SORT_ITEMS), key=_get_key)
    return _drop_duplicates(heapq.merge(*runs, key=_get_key))


def _get_key(item: Item) -> tuple[str, bool]:
    return item.name, item.is_folder


def _drop_duplicates(items: Iterable[Item]) -> Iterator[Item]:
    previous: tuple[str, bool] | None = None
    for item in items:
        if _get_key(item) != previous:
            yield item
        previous = _get_key(item)


def _store_run(run: list[Item]) -> Iterator[Item]:
    file = TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed by _load_run
    file.writelines(json.dumps(item) + "\n" for item in run)
    file.seek(0)
    return _load_run(file)


def _load_run(file: IO[str]) -> Iterator[Item]:
    with file:
        for line in file:
            yield Item(*json.loads(line))
