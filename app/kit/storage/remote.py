"""Storage backend for object stores, through fsspec.

The packages for object stores are imported on first use, because aiobotocore alone needs 30 MB of
memory. An installation that stores files on a local disk saves this memory.
"""

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Literal, Protocol, overload
from urllib.parse import parse_qsl, urlsplit

from app.kit import temporary_folders
from app.kit.storage.keys import NotStored, StorageUnavailable

# S3 requires parts of at least 5 MiB; the default of s3fs buffers 50 MiB for every open file.
_WRITE_BLOCK_BYTES = 8 * 1024 * 1024
_READ_BLOCK_BYTES = 4 * 1024 * 1024
# By default, s3fs and botocore try an unreachable store 25 times, for nine seconds.
_MAX_S3_ATTEMPTS = 3


@contextmanager
def _translate_errors(key: str, not_found_error: type[Exception] = NotStored) -> Iterator[None]:
    try:
        yield
    except (NotStored, StorageUnavailable):
        raise
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise not_found_error(key) from None
    except Exception as error:  # each file system of fsspec raises different errors
        raise StorageUnavailable(f"{type(error).__name__} at {key}") from error


def _translate_read_errors(file: BinaryIO, key: str) -> None:
    """Make later reads from an open file raise NotStored or StorageUnavailable.

    Only a file that fsspec reads block by block has a `cache`.
    """
    cache = getattr(file, "cache", None)
    if cache is None:
        return
    fetch = cache.fetcher

    def fetch_range(start: int, end: int) -> bytes:
        with _translate_errors(key):
            data: bytes = fetch(start, end)
            return data

    cache.fetcher = fetch_range


class WritableFile(Protocol):
    """An fsspec file that is being written. Only files with a `blocksize` have `discard`."""

    closed: bool

    def write(self, data: bytes, /) -> int: ...

    def close(self) -> None: ...

    def discard(self) -> None: ...


class FileSystem(Protocol):
    """The methods of fsspec's `AbstractFileSystem` that are used here."""

    @overload
    def open(
        self, path: str, mode: Literal["rb"], *, block_size: int, cache_type: str
    ) -> BinaryIO: ...

    @overload
    def open(self, path: str, mode: Literal["wb"], *, block_size: int) -> WritableFile: ...

    def pipe(self, path: dict[str, bytes]) -> object: ...

    def cat_file(self, path: str) -> bytes: ...

    def cp_file(self, path1: str, path2: str) -> object: ...

    def get_file(self, rpath: str, lpath: str) -> object: ...

    def info(self, path: str) -> dict[str, Any]: ...

    def sign(self, path: str, *, expiration: int, **options: str) -> str: ...

    def rm_file(self, path: str) -> object: ...

    def rm(self, path: list[str]) -> object: ...

    def ls(self, path: str, *, detail: Literal[True]) -> list[dict[str, Any]]: ...

    def walk(
        self, path: str, *, detail: Literal[True], on_error: str
    ) -> Iterator[tuple[str, dict[str, dict[str, Any]], dict[str, dict[str, Any]]]]: ...


class RemoteWriter:
    """An object that is being written. A multipart upload is not visible before `commit`.

    A "not found" error while writing means that the bucket is missing, so the store is unusable.
    """

    def __init__(self, files: "RemoteFiles", key: str) -> None:
        self._files = files
        self._key = key
        with _translate_errors(key, StorageUnavailable):
            path = files.build_path(key)
            self._file = files.system.open(path, "wb", block_size=_WRITE_BLOCK_BYTES)

    def write(self, data: bytes) -> None:
        with _translate_errors(self._key, StorageUnavailable):
            self._file.write(data)

    def commit(self) -> None:
        with _translate_errors(self._key, StorageUnavailable):
            self._file.close()

    def abort(self) -> None:
        with _translate_errors(self._key):
            if hasattr(self._file, "blocksize") and not self._file.closed:
                self._file.discard()  # closing would finish the upload
                self._file.closed = True
            self._file.close()
        self._files.remove(self._key)


class RemoteFiles:
    """The backend for object store URLs. Query parameters are passed to fsspec as options."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._protocol = parts.scheme
        self._root = (parts.netloc + parts.path).rstrip("/")
        self._options: dict[str, Any] = dict(parse_qsl(parts.query))
        # Listings are not cached, because other processes may write files at any time.
        self._options |= {"use_listings_cache": False, "skip_instance_cache": True}
        if self._protocol == "s3":
            self._options["config_kwargs"] = {"retries": {"total_max_attempts": _MAX_S3_ATTEMPTS}}
        self._cached_system: tuple[int, FileSystem] | None = None

    @property
    def system(self) -> FileSystem:
        """Return the fsspec file system of this process. After a fork, a new one is created."""
        pid = os.getpid()
        if self._cached_system is None or self._cached_system[0] != pid:
            system = import_module("fsspec").filesystem(self._protocol, **self._options)
            if self._protocol == "s3":  # botocore retries already
                system.retries = 1
            self._cached_system = (pid, system)
        return self._cached_system[1]

    def build_path(self, key: str) -> str:
        return f"{self._root}/{key}" if key else self._root

    def create(self, key: str) -> RemoteWriter:
        return RemoteWriter(self, key)

    def create_many(self, contents: Mapping[str, bytes]) -> None:
        """Write several objects by key, concurrently if the client of the store supports it."""
        with _translate_errors(next(iter(contents), ""), StorageUnavailable):
            self.system.pipe({self.build_path(key): data for key, data in contents.items()})

    def move(self, source: str, target: str) -> None:
        with _translate_errors(source):
            self.system.cp_file(self.build_path(source), self.build_path(target))
        self.remove(source)

    def open(self, key: str) -> BinaryIO:
        with _translate_errors(key):
            if self._protocol == "memory":  # open files of this protocol share their position
                return io.BytesIO(self.system.cat_file(self.build_path(key)))
            file: BinaryIO = self.system.open(
                self.build_path(key), "rb", block_size=_READ_BLOCK_BYTES, cache_type="readahead"
            )
            if getattr(file, "details", {}).get("type") == "directory":
                raise NotStored(key)
            _translate_read_errors(file, key)
            return file

    def sign_link(self, key: str, *, name: str, media_type: str, seconds: int) -> str | None:
        options: dict[str, str] = {}
        if self._protocol == "s3":
            options["ResponseContentDisposition"] = f'attachment; filename="{name}"'
            options["ResponseContentType"] = media_type
        try:
            with _translate_errors(key):
                return str(self.system.sign(self.build_path(key), expiration=seconds, **options))
        except StorageUnavailable as failure:
            if isinstance(failure.__cause__, NotImplementedError):
                return None
            raise

    def get_size(self, key: str) -> int:
        with _translate_errors(key):
            info = self.system.info(self.build_path(key))
            if info["type"] != "file":
                raise NotStored(key)
            return int(info["size"])

    def remove(self, key: str) -> None:
        try:
            with _translate_errors(key):
                self.system.rm_file(self.build_path(key))
        except NotStored:
            return

    def remove_many(self, keys: Sequence[str]) -> None:
        try:
            with _translate_errors(keys[0]):
                self.system.rm([self.build_path(key) for key in keys])
        except NotStored:  # a missing file may have prevented the deletion of other files
            for key in keys:
                self.remove(key)

    def prune(self, folder: str) -> None:
        """Do nothing, because an object store has no folders."""

    @contextmanager
    def use_local_path(self, key: str) -> Iterator[Path]:
        with temporary_folders.create_temporary_folder("copy") as folder:
            copy_path = folder / temporary_folders.COPY_NAME
            self.get_size(key)
            with _translate_errors(key):
                self.system.get_file(self.build_path(key), str(copy_path))
            yield copy_path

    def walk(self, folder: str) -> Iterator[tuple[str, int, float]]:
        prefix_length = len(self.build_path("x")) - 1
        try:
            with _translate_errors(folder):
                for _, _, files in self.system.walk(
                    self.build_path(folder), detail=True, on_error="raise"
                ):
                    for info in files.values():
                        yield (
                            info["name"].lstrip("/")[prefix_length:],
                            int(info["size"]),
                            _get_modified_at(info),
                        )
        except NotStored:  # no file was ever written below this folder
            return

    def list_folders(self, folder: str) -> Sequence[str]:
        try:
            with _translate_errors(folder):
                entries = self.system.ls(self.build_path(folder), detail=True)
        except NotStored:  # no file was ever written below this folder
            return []
        folders = (entry["name"] for entry in entries if entry["type"] == "directory")
        return [PurePosixPath(path).name for path in folders]


def _get_modified_at(info: dict[str, Any]) -> float:
    for name in ("LastModified", "last_modified", "updated", "mtime", "modified", "created"):
        value = info.get(name)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, int | float):
            return float(value)
    raise StorageUnavailable(f"the store did not return the modification time of {info['name']}")
