"""Lock a data folder so that only one supervisor uses it."""

import fcntl
import os
import time
from pathlib import Path


class DataInUseError(RuntimeError):
    """Another supervisor uses this data folder; `pid` is its process id, or None if unknown."""

    def __init__(self, folder: Path, pid: int | None) -> None:
        super().__init__(f"{folder} is in use by process {pid or 'unknown'}")
        self.pid = pid


class DataLock:
    """A lock on the file `<folder>/lock`, held until this process exits or calls `release`.

    The file contains the process id. Raises DataInUseError if another process has the lock.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / "lock"
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not _try_lock(self._descriptor):
            os.close(self._descriptor)
            raise DataInUseError(folder, find_lock_holder(folder))
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, f"{os.getpid()}\n".encode("ascii"))

    def release(self) -> None:
        """Release the lock, so that another process can use the folder."""
        os.close(self._descriptor)


def _try_lock(descriptor: int, timeout: float = 0.3) -> bool:
    """Try for `timeout` seconds to take the lock, and return whether it was taken.

    One attempt is not enough, because `find_lock_holder` in another process briefly takes the lock.
    """
    deadline = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        else:
            return True


def find_lock_holder(folder: Path) -> int | None:
    """Return the process id of the supervisor that has locked the folder, or None."""
    try:
        descriptor = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.read(descriptor, 32).decode("ascii", "replace").strip()
        return int(text) if text.isdigit() else None
    finally:
        os.close(descriptor)
    return None
