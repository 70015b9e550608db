"""The storage interface for the rest of the service."""

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

from app.kit.storage.backend import Backend
from app.kit.storage.keys import (
    STAGING,
    NotStored,
    StorageUnavailable,
    TooLarge,
    check_key,
    check_prefix,
    is_valid_key,
)
from app.kit.storage.local import LocalFiles
from app.kit.storage.remote import RemoteFiles
from app.kit.storage.space import Reserve

# For a client that does not read its download, one chunk stays in memory.
CHUNK = 64 * 1024
_CHECK_BYTES = 1024 * 1024
"""The free space is checked each time this many bytes of a file have been written."""


class Stored(NamedTuple):
    """A written file: its size in bytes, and its SHA-256 in hexadecimal."""

    size: int
    sha256: str


class Entry(NamedTuple):
    """A file in a listing; `modified` is in UTC."""

    key: str
    size: int
    modified: datetime


class Totals(NamedTuple):
    """The number of files in a folder and its subfolders, and their total size."""

    files: int
    bytes: int


class Staged:
    """Content that is being received and has no key yet. Without `promote`, it is removed."""

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
        self._is_open = True
        self.size = 0

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the bytes written so far, in hexadecimal."""
        return self._digest.hexdigest()

    def write(self, data: bytes) -> None:
        """Write the next bytes.

        Raises:
            TooLarge: the limit is exceeded; the bytes are not written.
            StorageFull: the disk has become full meanwhile.
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
        """Store the content under `key`, atomically replacing an existing file.

        Raises:
            InvalidKey: the key is invalid.
            RuntimeError: the content was promoted or dropped before.
        """
        check_key(key)
        if not self._is_open:
            raise RuntimeError("this content was promoted or dropped before")
        self._writer.commit()
        self._backend.move(self._key, key)
        self._is_open = False
        return Stored(self.size, self.sha256)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_open:
            self._is_open = False
            # If removing fails, `sweep` does it later; the original error is more important.
            with suppress(StorageUnavailable, OSError):
                self._writer.abort()


class Stream(Iterator[bytes]):
    """Iterator over the chunks of a stored file. It closes the file at its end, or on `close`."""

    def __init__(self, file: BinaryIO, remaining: int | None, chunk: int) -> None:
        self._file = file
        self._remaining = remaining
        self._chunk = chunk

    def __next__(self) -> bytes:
        count = self._chunk if self._remaining is None else min(self._chunk, self._remaining)
        data = self._file.read(count) if not self._file.closed else b""
        if not data:
            self.close()
            raise StopIteration
        if self._remaining is not None:
            self._remaining -= len(data)
        return data

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Storage:
    """Files by key, on a local disk or in an object store.

    `url` is `file:///absolute/folder`, `s3://bucket/prefix?endpoint_url=…`, `memory://x` or another
    URL that fsspec supports; a `file://` URL without an absolute path raises ValueError. `reserve`
    is the free disk space that writes must leave; with None, free space is not checked.

    Every method raises `InvalidKey` for an invalid key, and `StorageUnavailable` if an object store
    does not answer. Methods that write raise `StorageFull` if there is too little space.
    """

    def __init__(self, url: str, reserve: Reserve | None = None) -> None:
        self._reserve = reserve
        self._backend: Backend
        if url.startswith("file://"):
            root = Path(url.removeprefix("file://"))
            if not root.is_absolute():
                raise ValueError("a file:// URL must have an absolute path")
            self._backend = LocalFiles(root)
        else:
            self._backend = RemoteFiles(url)

    def stage(self, limit: int | None = None) -> Staged:
        """Start to receive content of at most `limit` bytes; use it as a context manager."""
        return Staged(self._backend, limit, self._reserve)

    def write(self, key: str, chunks: Iterable[bytes], *, limit: int | None = None) -> Stored:
        """Store the chunks under the key; on an error nothing is stored.

        Raises TooLarge if there are more than `limit` bytes.
        """
        check_key(key)
        with self.stage(limit) as staged:
            for chunk in chunks:
                staged.write(chunk)
            return staged.promote(key)

    def write_many(self, contents: Mapping[str, bytes]) -> None:
        """Store many small contents by key, faster than one by one.

        Each content is written atomically. After an error, some contents may be stored.
        """
        if not contents:
            return
        if self._reserve is not None:
            self._reserve.check()
        self._backend.create_many({check_key(key): data for key, data in contents.items()})

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading; it is seekable. Raises NotStored if it does not exist."""
        return self._backend.open(check_key(key))

    def stream(
        self, key: str, start: int = 0, end: int | None = None, *, chunk: int = CHUNK
    ) -> Stream:
        """Return the bytes from `start` to `end` (exclusive) in chunks.

        The file is opened now and not at the first chunk, so that the response can still be a 404.

        Raises:
            NotStored: the file does not exist.
            ValueError: a position is negative, or the chunk size is not positive.
        """
        if start < 0 or (end is not None and end < 0) or chunk < 1:
            raise ValueError("positions must not be negative, and the chunk size must be positive")
        file = self.open(key)
        file.seek(start)
        return Stream(file, None if end is None else max(0, end - start), chunk)

    def sign_link(self, key: str, *, name: str, media_type: str, seconds: int) -> str | None:
        """Return a URL at which anybody can read a file for `seconds`.

        Return None if the store does not support this. `name` and `media_type` are those of the
        download, if the store supports them; the file need not exist.
        """
        return self._backend.sign_link(
            check_key(key), name=name, media_type=media_type, seconds=seconds
        )

    def size(self, key: str) -> int:
        """Return the size of a file in bytes. Raises NotStored if it does not exist."""
        return self._backend.size(check_key(key))

    def exists(self, key: str) -> bool:
        """Return whether there is a file under this key."""
        try:
            self.size(key)
        except NotStored:
            return False
        return True

    def delete(self, key: str) -> None:
        """Delete a file; do nothing if it does not exist."""
        self._backend.remove(check_key(key))

    def local(self, key: str) -> AbstractContextManager[Path]:
        """Return a context manager with a local path of the content, for programs that need one.

        The path must only be read: on a local disk it is the file itself, otherwise a copy that is
        deleted with the context. Raises NotStored if the file does not exist.
        """
        return self._backend.local(check_key(key))

    def list(self, prefix: str = "") -> Iterator[Entry]:
        """Yield the files in a folder and its subfolders, in no particular order."""
        for key, size, modified in self._backend.walk(check_prefix(prefix)):
            if is_valid_key(key):  # files of other programs are ignored
                yield Entry(key, size, datetime.fromtimestamp(modified, UTC))

    def measure(self, prefix: str) -> Totals:
        """Return the number and total size of the files in a folder and its subfolders."""
        files = size = 0
        for entry in self.list(prefix):
            files += 1
            size += entry.size
        return Totals(files, size)

    def clear(self, prefix: str, *, batch: int = 1000) -> Iterator[int]:
        """Delete a folder with all its files; yield the number of deleted files after each batch.

        Files that are written meanwhile may remain.
        """
        files = self.list(prefix)
        while keys := [entry.key for entry in islice(files, batch)]:
            self._backend.remove_many(keys)
            yield len(keys)
        self._backend.prune(check_prefix(prefix))

    def sweep(self, prefix: str, older_than: timedelta) -> int:
        """Delete the files of a folder that are older than `older_than`; return their number.

        This is for `STAGING`, where a killed process leaves unfinished content.
        """
        cutoff = datetime.now(UTC) - older_than
        old_keys = [entry.key for entry in self.list(prefix) if entry.modified < cutoff]
        for key in old_keys:
            self.delete(key)
        return len(old_keys)
