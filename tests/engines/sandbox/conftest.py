"""A fork server of its own for each test."""

import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.engines import documents
from app.engines.sandbox import ForkServer
from tests.engines.sandbox.calls import ENTRIES, Calls

MakeServer = Callable[..., ForkServer]


@pytest.fixture(autouse=True)
def no_other_server() -> None:
    """Stop the server that tests of documents have left in this process."""
    documents.stop_server()


@pytest.fixture
def make_server() -> Iterator[MakeServer]:
    """Make fork servers, which end with the test."""
    made: list[ForkServer] = []

    def make(**options: Any) -> ForkServer:
        defaults = {"max_processes": 8, "max_processes_in_all": 100_000, "idle_seconds": None}
        server = ForkServer(options.pop("preload", (ENTRIES,)), **{**defaults, **options})
        made.append(server)
        return server

    yield make
    for server in made:
        server.stop()


@pytest.fixture
def calls(make_server: MakeServer) -> Calls:
    """Calls of the entry functions of the tests, on a server with room for all."""
    return Calls(make_server())


class Locked:
    """A document that is locked: `wait_for_lock` waits until it is not."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(b"content")
        self.path = path
        self._file = path.open("r+b")
        fcntl.lockf(self._file, fcntl.LOCK_EX)

    def unlock(self) -> None:
        self._file.close()


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Locked]:
    found = Locked(tmp_path / "locked")
    yield found
    found.unlock()
