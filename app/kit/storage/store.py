"""The storage that the rest of the service sees."""

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Protocol, Self

from app.kit.storage.keys import (
    NotStored,
    StorageUnavailable,
    TooLarge,
    check_key,
    check_prefix,
    is_key,
)
from app.kit.storage.local import LocalFiles
from app.kit.storage.remote import RemoteFiles
from app.kit.storage.space import Reserve

STAGING = "staging"
# A client that does not read its download holds one chunk of it in memory.
CHUNK = 64 * 1024
_CHECK_BYTES = 1024 * 1024
"""How much of a file is written between two looks at the free space."""


class Stored(NamedTuple):
    """A file that was written: bytes, and SHA-256 in hexadecimal."""

    size: int
    sha256: str


class Entry(NamedTuple):
    """A file in a listing; ``modified`` is in UTC."""

    key: str
    size: int
    modified: datetime


class Totals(NamedTuple):
    """How much there is in a folder and below."""

    files: int
    bytes: int


class Writer(Protocol):
    """A file under way in a backend."""

    def write(self, data: bytes) -> None: ...
    def commit(self) -> None: ...
    def abort(self) -> None: ...


class Backend(Protocol):
    """What a place for files must be able to do; all keys it gets are valid ones."""

    def create(self, key: str) -> Writer: ...
    def move(self, source: str, target: str) -> None: ...
    def open(self, key: str) -> BinaryIO: ...
    def size(self, key: str) -> int: ...
    def remove(self, key: str) -> None: ...
    def remove_many(self, keys: Sequence[str]) -> None: ...
    def prune(self, folder: str) -> None: ...
    def local(self, key: str) -> AbstractContextManager[Path]: ...
    def walk(self, folder: str) -> Iterator[tuple[str, int, float]]: ...


class Staged:
    """Content that is coming in and has no name yet; leaving without `promote` removes it."""

    def __init__(self, backend: Backend, limit: int | None, reserve: Reserve | None) -> None:
        if reserve is not None:
            reserve.check()
        self._reserve = reserve
        self._check_at = _CHECK_BYTES
        self._backend = backend
        self._limit = limit
        self._key = f"{STAGING}/{secrets.token_hex(16)}"
        self._writer = backend.create(self._key)
        self._digest = hashlib.sha256()
        self._under_way = True
        self.size = 0

    @property
    def sha256(self) -> str:
        """SHA-256 of what was written so far, in hexadecimal."""
        return self._digest.hexdigest()

    def write(self, data: bytes) -> None:
        """Take the next bytes.

        :raises TooLarge: before anything beyond the limit is kept.
        :raises StorageFull: the disk has become full meanwhile.
        """
        self.size += len(data)
        if self._limit is not None and self.size > self._limit:
            raise TooLarge(self._limit)
        if self._reserve is not None and self.size >= self._check_at:
            self._check_at = self.size + _CHECK_BYTES
            self._reserve.check()
        self._digest.update(data)
        self._writer.write(data)

    def promote(self, key: str) -> Stored:
        """Give the content its name; what had that name before is replaced in one step.

        :raises InvalidKey: the key is none.
        :raises RuntimeError: it has its name already.
        """
        check_key(key)
        if not self._under_way:
            raise RuntimeError("this content was promoted or dropped before")
        self._writer.commit()
        self._backend.move(self._key, key)
        self._under_way = False
        return Stored(self.size, self.sha256)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._under_way:
            self._under_way = False
            # What cannot be removed now is swept later; the error under way says more.
            with suppress(StorageUnavailable, OSError):
                self._writer.abort()


class Stream(Iterator[bytes]):
    """Chunks of a stored file; ``close`` (or the end) gives the file back."""

    def __init__(self, file: BinaryIO, remaining: int | None, chunk: int) -> None:
        self._file = file
        self._remaining = remaining
        self._chunk = chunk

    def __next__(self) -> bytes:
        wanted = self._chunk if self._remaining is None else min(self._chunk, self._remaining)
        data = self._file.read(wanted) if not self._file.closed else b""
        if not data:
            self.close()
            raise StopIteration
        if self._remaining is not None:
            self._remaining -= len(data)
        return data

    def close(self) -> None:
        self._file.close()


class Storage:
    """Files by key, on a disk or in an object store.

    :param url: ``file:///absolute/folder``, ``s3://bucket/prefix?endpoint_url=…``, ``memory://x``
        or another address that fsspec knows.
    :param reserve: the free space without which nothing is written; None writes in any case.
    :raises ValueError: a ``file://`` address without an absolute path.

    Every method raises `InvalidKey` for what is no key, and `StorageUnavailable` when an object
    store does not answer. Methods that write raise `StorageFull` while there is no space.
    """

    def __init__(self, url: str, reserve: Reserve | None = None) -> None:
        self._reserve = reserve
        self._backend: Backend
        if url.startswith("file://"):
            root = Path(url.removeprefix("file://"))
            if not root.is_absolute():
                raise ValueError("file:// needs an absolute path")
            self._backend = LocalFiles(root)
        else:
            self._backend = RemoteFiles(url)

    def stage(self, limit: int | None = None) -> Staged:
        """Begin to take in content of at most ``limit`` bytes; use it as a context manager."""
        return Staged(self._backend, limit, self._reserve)

    def write(self, key: str, chunks: Iterable[bytes], *, limit: int | None = None) -> Stored:
        """Store the chunks under the key, all of them or (on an error) nothing.

        :raises TooLarge: more than ``limit`` bytes came.
        """
        check_key(key)
        with self.stage(limit) as staged:
            for chunk in chunks:
                staged.write(chunk)
            return staged.promote(key)

    def open(self, key: str) -> BinaryIO:
        """The file for reading; it can seek.

        :raises NotStored: there is none.
        """
        return self._backend.open(check_key(key))

    def stream(
        self, key: str, start: int = 0, end: int | None = None, *, chunk: int = CHUNK
    ) -> Stream:
        """The bytes from ``start`` up to, not including, ``end``, in chunks.

        The file is opened now, not at the first chunk: an answer can still become a 404.

        :raises NotStored: there is none.
        :raises ValueError: a negative position or an empty chunk.
        """
        if start < 0 or (end is not None and end < 0) or chunk < 1:
            raise ValueError("positions are counted from the start of the file")
        file = self.open(key)
        file.seek(start)
        return Stream(file, None if end is None else max(0, end - start), chunk)

    def size(self, key: str) -> int:
        """Bytes in the file.

        :raises NotStored: there is none.
        """
        return self._backend.size(check_key(key))

    def exists(self, key: str) -> bool:
        """Whether there is a file under this key."""
        try:
            self.size(key)
        except NotStored:
            return False
        return True

    def delete(self, key: str) -> None:
        """Take the file away; there need not be one."""
        self._backend.remove(check_key(key))

    def local(self, key: str) -> AbstractContextManager[Path]:
        """A path of this machine with the content, for programs that want one; only to be read.

        On a disk it is the file itself, otherwise a copy that lives as long as the context.

        :raises NotStored: there is none.
        """
        return self._backend.local(check_key(key))

    def list(self, prefix: str = "") -> Iterator[Entry]:
        """The files in a folder and below, in no order, folder by folder."""
        for key, size, modified in self._backend.walk(check_prefix(prefix)):
            if is_key(key):  # what others left there is none of ours
                yield Entry(key, size, datetime.fromtimestamp(modified, UTC))

    def measure(self, prefix: str) -> Totals:
        """How many files there are in a folder and below, and their bytes."""
        files = size = 0
        for entry in self.list(prefix):
            files += 1
            size += entry.size
        return Totals(files, size)

    def clear(self, prefix: str, *, batch: int = 1000) -> Iterator[int]:
        """Delete a folder with all below it; after each batch, how many files that were.

        What comes in while it runs may stay.
        """
        files = self.list(prefix)
        while keys := [entry.key for entry in islice(files, batch)]:
            self._backend.remove_many(keys)
            yield len(keys)
        self._backend.prune(check_prefix(prefix))

    def sweep(self, prefix: str, older_than: timedelta) -> int:
        """Delete the files of a folder that were written longer ago; answers how many.

        For `STAGING`, where a process that was killed leaves what it was taking in.
        """
        oldest = datetime.now(UTC) - older_than
        stray = [entry.key for entry in self.list(prefix) if entry.modified < oldest]
        for key in stray:
            self.delete(key)
        return len(stray)
