"""List a tree of folders in a stable order and in bounded memory.

A folder is read completely before its first document is returned. The items can then be sorted, and
the connection is free to read documents. The items of a folder with more than `MAX_SORTED_ITEMS`
items are sorted on disk.
"""

import heapq
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from app.engines.sources import limits
from app.engines.sources.failures import build_missing_folder_error
from app.engines.sources.model import (
    HostError,
    HostErrorKind,
    ListingPosition,
    ObjectMissing,
    PathFilter,
    SourceEntry,
    SourceObject,
)
from app.engines.sources.paths import encode_name


class FolderItem(NamedTuple):
    """A document or subfolder in a folder, as a host lists it.

    `name` is a segment of a path. `size` is in bytes, and `modified` in seconds since 1970.
    """

    name: str
    is_folder: bool
    version: str = ""
    size: int | None = None
    modified: float | None = None


def build_item(
    name: bytes,
    *,
    is_folder: bool,
    size: int | None,
    modified: float | None,
    version: str | None = None,
) -> FolderItem:
    """Build the item for an entry of a folder.

    By default, the version of a document consists of the size and the modification time.
    """
    if is_folder:
        return FolderItem(encode_name(name), is_folder=True)
    version = version or f"{size}-{modified}"
    return FolderItem(encode_name(name), False, version, size, modified)  # noqa: FBT003


ReadFolder = Callable[[str], Iterable[FolderItem]]
"""Yields the items of the folder at a path. Raises ObjectMissing if there is no such folder."""


def list_tree(
    read_folder: ReadFolder, after: str | None = None, path_filter: PathFilter | None = None
) -> Iterator[tuple[str, FolderItem | None]]:
    """List a tree: yield the path and item of each document, sorted by name in each folder.

    Documents up to and including the path `after` are left out. The item is None for a path that
    is only a position: a subfolder, or a document that the filter excludes. Subfolders that are
    removed meanwhile or that may not be read count as empty. Subfolders that the filter excludes
    are skipped. Raises ObjectMissing if the root does not exist, and HostError if folders are
    nested too deeply or cannot be read for another reason.
    """
    after_names = after.split("/") if after else []
    stack = [("", sort_items(read_folder("")), after_names)]
    while stack:
        prefix, items, after_names = stack[-1]
        item = next(items, None)
        if item is None:
            stack.pop()
            continue
        is_on_after_path = bool(after_names) and item.name == after_names[0]
        if after_names and (
            item.name < after_names[0] or (is_on_after_path and not item.is_folder)
        ):
            continue
        path = prefix + item.name
        if not item.is_folder:
            is_included = path_filter is None or path_filter.is_included(path)
            yield path, item if is_included else None
            continue
        if path_filter is not None and not path_filter.may_contain(path):
            continue
        _check_depth(len(stack))
        child_items = _read_subfolder(read_folder, path)
        stack.append((path + "/", child_items, after_names[1:] if is_on_after_path else []))
        yield path, None


def _check_depth(depth: int) -> None:
    if depth >= limits.MAX_DEPTH:
        message = f"Folders are nested more than {limits.MAX_DEPTH} levels deep; reduce the depth."
        raise HostError(HostErrorKind.PROTOCOL, message)


def _read_subfolder(read_folder: ReadFolder, path: str) -> Iterator[FolderItem]:
    try:
        return sort_items(read_folder(path))
    except ObjectMissing:
        return iter(())
    except HostError as problem:
        if problem.kind != HostErrorKind.NOT_ALLOWED:
            raise
        return iter(())


class FolderSource(ABC):
    """The base class of sources that list their documents folder by folder."""

    @abstractmethod
    def _read_folder(self, path: str) -> Iterable[FolderItem]:
        """Yield the items of the folder at a path. Raises ObjectMissing for a missing folder."""

    def _complete_item(self, path: str, item: FolderItem) -> FolderItem:
        """Return the item with the properties that the host sends only on a separate request.

        Subclasses can override this method; by default, the item is returned unchanged.
        """
        del path
        return item

    def _build_object(self, path: str, item: FolderItem) -> SourceObject | None:
        """Build the document for a listed item.

        A subclass may return None if the document no longer exists.
        """
        item = self._complete_item(path, item)
        return SourceObject(path, item.version, item.size, convert_time(item.modified))

    def list_objects(
        self, after: str | None = None, path_filter: PathFilter | None = None
    ) -> Iterator[SourceObject | ListingPosition]:
        """Yield the selected documents after the path `after`, sorted by name in each folder.

        For each subfolder, and for each document that is not selected or does not exist, yields a
        `ListingPosition`.
        """
        try:
            for path, item in list_tree(self._read_folder, after, path_filter):
                document = None if item is None else self._build_object(path, item)
                yield ListingPosition(path) if document is None else document
        except ObjectMissing:
            raise build_missing_folder_error() from None

    def browse(self, path: str, limit: int) -> list[SourceEntry]:
        """Browse a folder, and return at most `limit` of its entries, sorted by name."""
        prefix = f"{path}/" if path else ""
        try:
            items = list(islice(sort_items(self._read_folder(path)), limit))
        except ObjectMissing:
            raise build_missing_folder_error() from None
        items = [self._complete_item(prefix + item.name, item) for item in items]
        return [
            SourceEntry(prefix + item.name, item.is_folder, item.size, convert_time(item.modified))
            for item in items
        ]


def convert_time(seconds: float | None) -> datetime | None:
    """Convert seconds since 1970 to a UTC time, or return None for None or a value out of range."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def sort_items(items: Iterable[FolderItem]) -> Iterator[FolderItem]:
    """Read all items, and return an iterator over them, sorted by name and without duplicates.

    Raises HostError if a folder has too many items.
    """
    remaining_items = iter(items)
    run = sorted(islice(remaining_items, limits.MAX_SORTED_ITEMS), key=_get_sort_key)
    if len(run) < limits.MAX_SORTED_ITEMS:
        return _drop_duplicates(run)
    files: list[IO[str]] = []
    while run:
        files.append(_store_run(run))
        size = sum(file.tell() for file in files)
        if len(files) > limits.MAX_SORT_FILES or size > limits.MAX_SORT_BYTES:
            for file in files:
                file.close()
            message = "A folder has too many entries; divide it into smaller folders."
            raise HostError(HostErrorKind.PROTOCOL, message)
        run = sorted(islice(remaining_items, limits.MAX_SORTED_ITEMS), key=_get_sort_key)
    return _drop_duplicates(heapq.merge(*map(_load_run, files), key=_get_sort_key))


def _get_sort_key(item: FolderItem) -> tuple[str, bool]:
    return item.name, item.is_folder


def _drop_duplicates(items: Iterable[FolderItem]) -> Iterator[FolderItem]:
    previous: tuple[str, bool] | None = None
    for item in items:
        if _get_sort_key(item) != previous:
            yield item
        previous = _get_sort_key(item)


def _store_run(run: list[FolderItem]) -> IO[str]:
    file = TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed by _load_run
    file.writelines(json.dumps(item) + "\n" for item in run)
    return file


def _load_run(file: IO[str]) -> Iterator[FolderItem]:
    with file:
        file.seek(0)
        for line in file:
            yield FolderItem(*json.loads(line))
