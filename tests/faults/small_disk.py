"""A file system that a test can fill without affecting other programs."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.conftest import Service, get_first_data, run_service

MIB = 1024 * 1024
_SIZE = 448 * MIB
_RESERVE = 96 * MIB
_SETTINGS = {"JOB_IDLE_SECONDS": "3600"}
"""No process exits because it is idle, so a missing process was killed or has failed."""
# Mounts a file system on a folder, visible to no other process. Copies the folder `source` into it,
# unless `source` is empty, and then executes the program.
MOUNT = """
import ctypes, os, subprocess, sys
size, source, folder, *program = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs(folder, mode=0o700, exist_ok=True)
def check(result):
    if result: sys.exit(f"not permitted: {os.strerror(ctypes.get_errno())}")
check(libc.unshare(0x20000))  # CLONE_NEWNS
check(libc.mount(b"none", b"/", None, 0x44000, None))  # MS_REC | MS_PRIVATE
check(libc.mount(b"none", os.fsencode(folder), b"tmpfs", 0, f"size={size},mode=0700".encode()))
if source: subprocess.run(["cp", "-a", f"{source}/.", folder], check=True)
os.execv(program[0], program)
"""


@dataclass
class SmallDisk:
    """A running service and the file system of its uploads.

    `folder` is in that file system. If `own` is true, no other program uses the file system, so
    tests may fill it completely.
    """

    service: Service
    folder: Path
    reserve: int
    own: bool
    _fillers: list[Path] = field(default_factory=list)

    def get_free_bytes(self) -> int:
        """Return the number of free bytes."""
        status = os.statvfs(self.folder)
        return status.f_bavail * status.f_frsize

    def use_up(self) -> None:
        """Leave fewer free bytes than the reserve."""
        size = self.get_free_bytes() - self.reserve + (16 if self.own else 8) * MIB
        with self._create_filler().open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)

    def fill(self) -> None:
        """Leave no free bytes."""
        assert self.own
        block = bytes(MIB)
        with self._create_filler().open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(block)

    def clear(self) -> None:
        """Delete the files that fill the disk."""
        for path in self._fillers:
            path.unlink()
        self._fillers.clear()

    def _create_filler(self) -> Path:
        self._fillers.append(self.folder / f"filler-{len(self._fillers)}")
        return self._fillers[-1]


@contextmanager
def run_on_small_disk() -> Iterator[SmallDisk]:
    """Run a service with a small disk.

    If this process may mount file systems, all data of the service is on a separate file system.
    Otherwise, only its stored files are in /dev/shm. The reserve is then the free space there minus
    24 MiB, but at most half of the free space in the temporary folder.
    """
    if _may_mount():
        starter = (sys.executable, "-c", MOUNT, str(_SIZE), str(get_first_data()))
        with run_service(
            command_prefix=starter, STORAGE_RESERVE_BYTES=str(_RESERVE), **_SETTINGS
        ) as service:
            yield SmallDisk(service, service.data_dir, _RESERVE, own=True)
        return
    folder = Path(tempfile.mkdtemp(prefix="labeling-", dir="/dev/shm"))
    try:
        disk = shutil.disk_usage(tempfile.gettempdir()).free
        reserve = min(shutil.disk_usage(folder).free - 24 * MIB, disk // 2)
        settings = {"STORAGE_URL": f"file://{folder}", "STORAGE_RESERVE_BYTES": str(reserve)}
        with run_service(**settings, **_SETTINGS) as service:
            yield SmallDisk(service, folder, reserve, own=False)
    finally:
        shutil.rmtree(folder)


def _may_mount() -> bool:
    """Return whether this process may mount without a user namespace.

    PostgreSQL does not run as the root of a user namespace.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", MOUNT, "1m", "", folder, "/bin/true"]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
