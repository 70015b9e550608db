"""The storage interface that the rest of the service uses."""

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
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
from app.kit.storage.space import DiskReserve

_CHUNK_BYTES = 64 * 1024
"""The default chunk size in bytes. One chunk stays in memory for each client that does not read."""
_CHECK_BYTES = 1024 * 1024
"""The number of bytes written to a file after which the free space is checked again."""


class StoredFile(NamedTuple):
    """The size in bytes and the SHA-256 (in hexadecimal) of a file that was written."""

    size: int
    sha256: str


class FileEntry(NamedTuple):
    """A file in a listing: its key, its size in bytes, and its modification time in UTC."""

    key: str
    size: int
    modified_at: datetime


class FolderTotals(NamedTuple):
    """The number of files in a folder and its subfolders, and their total size in bytes."""

    file_count: int
    byte_count: int


class StagedFile:
    """A file that is being received. It is deleted unless `promote` stores it under a key."""

    def __init__(self, backend: Backend, limit: int | None, reserve: DiskReserve | None) -> None:
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
        """Append data to the content.

        Raises:
            TooLarge: the limit is exceeded. The data is not written.
            StorageFull: the free space fell below the reserve, or the disk is full.
        """
        self.size += len(data)
        if self._limit is not None and self.size > self._limit:
            raise TooLarge(self._limit)
        if self._reserve is not None and self.size >= self._check_at:
            self._check_at = self.size + _CHECK_BYTES
            self._reserve.check()
        self._digest.update(data)
        self._writer.write(data)

    def promote(self, key: str) -> StoredFile:
        """Store the content under `key`, atomically replacing an existing file.

        Raises:
            InvalidKey: the key is invalid.
            RuntimeError: the content has already been promoted or discarded.
        """
        check_key(key)
        if not self._is_open:
            raise RuntimeError("this content has already been promoted or discarded")
        self._writer.commit()
        self._backend.move(self._key, key)
        self._is_open = False
        return StoredFile(self.size, self.sha256)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_open:
            self._is_open = False
            # If this fails, `sweep` deletes the file later. The original error is more important.
            with suppress(StorageUnavailable, OSError):
                self._writer.abort()


class FileStream(Iterator[bytes]):
    """An iterator over the chunks of a stored file. It closes the file at the end."""

    def __init__(self, file: BinaryIO, remaining: int | None, chunk_bytes: int) -> None:
        self._file = file
        self._remaining = remaining
        self._chunk = chunk_bytes

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
        """Close the file. Call this if the iteration stops before the end of the file."""
        self._file.close()


class Storage:
    """Stores files by key, on a local disk or in an object store.

    `url` is `file:///absolute/folder`, `s3://bucket/prefix?endpoint_url=…`, `memory://x` or another
    URL that fsspec supports. A `file://` URL without an absolute path raises ValueError. `reserve`
    is the disk space that writes must leave free. If it is None, free space is not checked. A
    `prefix` is the path of a folder; an empty string means the whole storage.

    Every method raises `InvalidKey` for an invalid key, and `StorageUnavailable` if an object store
    or a write to a disk fails. Methods that write raise `StorageFull` if there is too little space.
    """

    def __init__(self, url: str, reserve: DiskReserve | None = None) -> None:
        self._reserve = reserve
        self._backend: Backend
        if url.startswith("file://"):
            root = Path(url.removeprefix("file://"))
            if not root.is_absolute():
                raise ValueError("a file:// URL must have an absolute path")
            self._backend = LocalFiles(root)
        else:
            self._backend = RemoteFiles(url)

    def stage(self, limit: int | None = None) -> StagedFile:
        """Stage a file: return a context manager that receives at most `limit` bytes.

        If `limit` is None, the size is not limited.
        """
        return StagedFile(self._backend, limit, self._reserve)

    def write(self, key: str, chunks: Iterable[bytes], *, limit: int | None = None) -> StoredFile:
        """Store the chunks as one file under `key`. After an error, nothing is stored.

        Raises TooLarge if there are more than `limit` bytes.
        """
        check_key(key)
        with self.stage(limit) as staged:
            for chunk in chunks:
                staged.write(chunk)
            return staged.promote(key)

    def write_many(self, contents: Mapping[str, bytes]) -> None:
        """Store many small files by key. This is faster than storing them one by one.

        Each file is written atomically. After an error, some of the files may exist.
        """
        if not contents:
            return
        if self._reserve is not None:
            self._reserve.check()
        self._backend.create_many({check_key(key): data for key, data in contents.items()})

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading. The file object is seekable.

        Raises NotStored if the file does not exist.
        """
        return self._backend.open(check_key(key))

    def stream(
        self, key: str, start: int = 0, end: int | None = None, *, chunk_bytes: int = _CHUNK_BYTES
    ) -> FileStream:
        """Return an iterator over the bytes from `start` to `end` (exclusive), in chunks.

        The file is opened immediately and not at the first chunk, so that the caller can still
        respond with 404.

        Raises:
            NotStored: the file does not exist.
            ValueError: a position is negative, or the chunk size is not positive.
        """
        if start < 0 or (end is not None and end < 0) or chunk_bytes < 1:
            raise ValueError("positions must not be negative, and the chunk size must be positive")
        file = self.open(key)
        file.seek(start)
        return FileStream(file, None if end is None else max(0, end - start), chunk_bytes)

    def sign_link(self, key: str, *, name: str, media_type: str, seconds: int) -> str | None:
        """Sign a URL with which anybody can read a file for `seconds`, and return the URL.

        Returns None if the store does not support such URLs. `name` and `media_type` are the file
        name and the media type of the download, if the store supports them. The file need not
        exist.
        """
        return self._backend.sign_link(
            check_key(key), name=name, media_type=media_type, seconds=seconds
        )

    def get_size(self, key: str) -> int:
        """Return the size of a file in bytes. Raises NotStored if it does not exist."""
        return self._backend.get_size(check_key(key))

    def exists(self, key: str) -> bool:
        """Return whether the storage has a file with this key."""
        try:
            self.get_size(key)
        except NotStored:
            return False
        return True

    def delete(self, key: str) -> None:
        """Delete a file. Do nothing if it does not exist."""
        self._backend.remove(check_key(key))

    def use_local_path(self, key: str) -> AbstractContextManager[Path]:
        """Return a context manager that provides a local path, for programs that need one.

        The caller must not write to the path. On a local disk, it is the stored file. Otherwise, it
        is a copy that is deleted at the end of the context. Raises NotStored if the file does not
        exist.
        """
        return self._backend.use_local_path(check_key(key))

    def list(self, prefix: str = "") -> Iterator[FileEntry]:
        """Yield the files in the folder `prefix` and its subfolders, in no particular order."""
        for key, size, modified_at in self._backend.walk(check_prefix(prefix)):
            if is_valid_key(key):  # files from other programs are ignored
                yield FileEntry(key, size, datetime.fromtimestamp(modified_at, UTC))

    def list_folders(self, prefix: str = "") -> Sequence[str]:
        """Return the sorted names of the folders directly in the folder `prefix`."""
        return sorted(filter(is_valid_key, self._backend.list_folders(check_prefix(prefix))))

    def measure(self, prefix: str) -> FolderTotals:
        """Measure a folder and its subfolders: return the number and total size of the files."""
        file_count = byte_count = 0
        for entry in self.list(prefix):
            file_count += 1
            byte_count += entry.size
        return FolderTotals(file_count, byte_count)

    def clear(self, prefix: str, *, batch_size: int = 1000) -> Iterator[int]:
        """Delete the folder `prefix` in batches of files. Yield how many files each batch deleted.

        Files that are written meanwhile may remain.
        """
        files = self.list(prefix)
        while keys := [entry.key for entry in islice(files, batch_size)]:
            self._backend.remove_many(keys)
            yield len(keys)
        self.prune(prefix)

    def prune(self, prefix: str) -> None:
        """Delete a folder and its subfolders if they are empty. Object stores have no folders."""
        self._backend.prune(check_prefix(prefix))

    def sweep(self, prefix: str, older_than: timedelta) -> int:
        """Delete the files in a folder that were last modified more than `older_than` ago.

        Returns how many files were deleted. It is meant for `STAGING`, in which a killed process
        leaves unfinished content.
        """
        cutoff = datetime.now(UTC) - older_than
        old_keys = [entry.key for entry in self.list(prefix) if entry.modified_at < cutoff]
        for key in old_keys:
            self.delete(key)
        return len(old_keys)
