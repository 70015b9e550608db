"""Fixtures that give each test its own fork servers."""

import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.engines.documents.processes import stop_server
from app.engines.sandbox.client import ForkServer
from tests.engines.sandbox.calls import ENTRIES, Calls

MakeServer = Callable[..., ForkServer]


@pytest.fixture(autouse=True)
def no_other_server() -> None:
    """Stop the server that document tests have left in this process."""
    stop_server()


@pytest.fixture
def make_server() -> Iterator[MakeServer]:
    """Return a function that creates fork servers, which stop after the test."""
    servers: list[ForkServer] = []

    def make(**options: Any) -> ForkServer:
        defaults = {"max_processes": 8, "max_total_processes": 100_000, "idle_seconds": None}
        server = ForkServer(options.pop("preload", (ENTRIES,)), **{**defaults, **options})
        servers.append(server)
        return server

    yield make
    for server in servers:
        server.stop()


@pytest.fixture
def calls(make_server: MakeServer) -> Calls:
    """Return an object that calls the tests' entry functions on a new server."""
    return Calls(make_server())


class LockedFile:
    """A locked document; the entry function `wait_for_lock` waits until it is unlocked."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(b"content")
        self.path = path
        self._file = path.open("r+b")
        fcntl.lockf(self._file, fcntl.LOCK_EX)

    def unlock(self) -> None:
        self._file.close()


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[LockedFile]:
    document = LockedFile(tmp_path / "locked")
    yield document
    document.unlock()
