"""Read documents from a folder on the operator's machine.

Every file is opened from the root downwards with `O_NOFOLLOW`. Therefore neither a name nor a link
that changes at the same time can lead out of the root. If a link points to a file inside the root,
the link's target is opened in the same way; all other links are not listed. Folders are never
entered through links.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from app.engines.sources import limits
from app.engines.sources.failures import build_missing_folder_error
from app.engines.sources.folders import FolderItem, FolderSource, build_item
from app.engines.sources.model import HostError, HostErrorKind, Network, ObjectMissing, Source
from app.engines.sources.paths import split_path

# Opening a named pipe must not wait for its writer.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def open_source(settings: Mapping[str, Any], network: Network, local_root: Path | None) -> Source:
    """Open `local_root`, or a folder below it, as a source.

    Raises HostError if `local_root` is None, or if the folder does not exist or is outside
    `local_root`.
    """
    del network
    if local_root is None:
        message = "The operator of this service has not enabled local folders."
        raise HostError(HostErrorKind.NOT_ALLOWED, message)
    root = os.path.realpath(os.fsencode(local_root))
    path = str(settings.get("path", "")).strip("/")
    try:
        target = os.path.realpath(os.path.join(root, os.fsencode(path)))  # noqa: PTH118 - bytes
    except (ValueError, OSError):  # NUL, or a lone surrogate
        raise build_missing_folder_error() from None
    names = _split_below(target, root)
    if names is None:
        message = "The folder is outside the folder that the operator has enabled."
        raise HostError(HostErrorKind.NOT_ALLOWED, message)
    try:
        root_descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with _close_on_exit(root_descriptor):
            descriptor = _open_folder(root_descriptor, names)
    except (ObjectMissing, OSError):
        raise build_missing_folder_error() from None
    return LocalSource(descriptor, target)


class LocalSource(FolderSource):
    """A local folder that is kept open.

    Args:
        descriptor: descriptor of the folder, which is the root of the source; `close` closes it.
        root: the path of the folder with all links resolved, to determine where links lead.
    """

    def __init__(self, descriptor: int, root: bytes) -> None:
        self._descriptor = descriptor
        self._root = root

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        """Open a document to read it in chunks."""
        names = split_path(path)
        if not names:
            raise ObjectMissing
        try:
            descriptor = self._open_file(names)
        except PermissionError:
            message = "The service has no permission to read this document."
            raise HostError(HostErrorKind.NOT_ALLOWED, message) from None
        except OSError:
            raise ObjectMissing from None
        with _close_on_exit(descriptor):
            yield _read_file(descriptor)

    def close(self) -> None:
        """Close the folder."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _read_folder(self, path: str) -> Iterator[FolderItem]:
        names = split_path(path)
        if names is None:
            raise ObjectMissing
        try:
            descriptor = _open_folder(self._descriptor, names)
        except PermissionError:
            message = "The service has no permission to read a folder of this source."
            raise HostError(HostErrorKind.NOT_ALLOWED, message) from None
        except OSError:
            raise ObjectMissing from None
        return self._list_folder(descriptor, names)

    def _list_folder(self, descriptor: int, names: list[bytes]) -> Iterator[FolderItem]:
        with _close_on_exit(descriptor), os.scandir(descriptor) as entries:
            for entry in entries:
                name = os.fsencode(entry.name)
                # Skip entries that were removed during the listing, and links that are not listed.
                with suppress(OSError, ObjectMissing):
                    status = self._get_status(entry, [*names, name])
                    is_folder = stat.S_ISDIR(status.st_mode)
                    if is_folder or stat.S_ISREG(status.st_mode):
                        size, modified = status.st_size, status.st_mtime
                        # A replacement may keep this size and time, but not the inode change time.
                        version = f"{size}-{status.st_mtime_ns}-{status.st_ctime_ns}"
                        yield build_item(
                            name, is_folder=is_folder, size=size, modified=modified, version=version
                        )

    def _get_status(self, entry: "os.DirEntry[str]", names: list[bytes]) -> os.stat_result:
        if not entry.is_symlink():
            return entry.stat(follow_symlinks=False)
        descriptor = self._open_file(names)
        with _close_on_exit(descriptor):
            return os.fstat(descriptor)

    def _open_file(self, names: list[bytes]) -> int:
        """Open a regular file, or the file inside the root that a link points to.

        Returns the descriptor. Raises ObjectMissing or OSError if there is no such file.
        """
        folder_descriptor = _open_folder(self._descriptor, names[:-1])
        with _close_on_exit(folder_descriptor):
            status = os.stat(names[-1], dir_fd=folder_descriptor, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                return _open_regular_file(names[-1], folder_descriptor)
        if not stat.S_ISLNK(status.st_mode):
            raise ObjectMissing
        target = os.path.realpath(b"/".join([self._root, *names]))
        target_names = _split_below(target, self._root)
        if not target_names:
            raise ObjectMissing
        folder_descriptor = _open_folder(self._descriptor, target_names[:-1])
        with _close_on_exit(folder_descriptor):
            return _open_regular_file(target_names[-1], folder_descriptor)


def _split_below(target: bytes, root: bytes) -> list[bytes] | None:
    """Split a path below the root into names, or return None if the path is outside the root."""
    if target == root:
        return []
    prefix = root.rstrip(b"/") + b"/"
    return target[len(prefix) :].split(b"/") if target.startswith(prefix) else None


def _open_folder(root_descriptor: int, names: list[bytes]) -> int:
    descriptor = os.open(b".", _FOLDER_FLAGS, dir_fd=root_descriptor)
    for name in names:
        with _close_on_exit(descriptor):
            descriptor = os.open(name, _FOLDER_FLAGS, dir_fd=descriptor)
    return descriptor


def _open_regular_file(name: bytes, folder_descriptor: int) -> int:
    descriptor = os.open(name, _FILE_FLAGS, dir_fd=folder_descriptor)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise ObjectMissing


def _read_file(descriptor: int) -> Iterator[bytes]:
    status_before = os.fstat(descriptor)
    read_bytes = 0
    try:
        while chunk := os.read(descriptor, limits.CHUNK_BYTES):
            read_bytes += len(chunk)
            yield chunk
        status_after = os.fstat(descriptor)
    except OSError:
        message = "The document could not be read completely from the disk."
        raise HostError(HostErrorKind.UNREACHABLE, message) from None
    if read_bytes != status_after.st_size or status_after.st_mtime_ns != status_before.st_mtime_ns:
        raise ObjectMissing


@contextmanager
def _close_on_exit(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)
