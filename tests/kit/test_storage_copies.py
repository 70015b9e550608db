"""Local copies of files in an object store, and what a killed process leaves of them."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.kit import temporary_folders
from app.kit.storage import Storage

HOLD = """
import sys
from app.kit.storage import Storage
storage = Storage("memory://copies")
storage.write("a", [b"x"])
with storage.use_local_path("a") as path:
    print(path, flush=True)
    sys.stdin.read()
"""
OLD = 1_000_000


class Holder:
    """A process that keeps a local copy until it is killed."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.copy = Path(self.process.stdout.readline().strip())

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holder]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary_folders, "_swept_at", [0.0])
    found = Holder()
    assert found.copy.read_bytes() == b"x"
    yield found
    found.kill()


def _copy_another(folder: Path) -> None:
    os.utime(folder, (OLD, OLD))
    storage = Storage("memory://copies")
    storage.write("b", [b"y"])
    with storage.use_local_path("b") as path:
        assert path.read_bytes() == b"y"


def test_a_copy_of_a_killed_process_is_deleted_with_the_next_copy(holder: Holder) -> None:
    holder.kill()
    assert holder.copy.exists()
    _copy_another(holder.copy.parent)
    assert not holder.copy.parent.exists()


def test_abandoned_copies_are_searched_once_in_a_while(holder: Holder) -> None:
    _copy_another(holder.copy.parent)
    holder.kill()
    _copy_another(holder.copy.parent)
    assert holder.copy.exists()
    temporary_folders._swept_at[0] -= temporary_folders.SWEEP_SECONDS
    _copy_another(holder.copy.parent)
    assert not holder.copy.parent.exists()


def test_a_copy_in_use_is_kept(holder: Holder) -> None:
    _copy_another(holder.copy.parent)
    assert holder.copy.read_bytes() == b"x"


def test_other_content_of_a_folder_is_kept(holder: Holder) -> None:
    holder.kill()
    other = holder.copy.with_name("of somebody else")
    other.write_bytes(b"z")
    _copy_another(holder.copy.parent)
    assert other.read_bytes() == b"z"
