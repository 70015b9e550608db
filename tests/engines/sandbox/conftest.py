"""A fork server of its own for each test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.engines.sandbox import ForkServer
from tests.engines.sandbox.calls import ENTRIES, Calls

MakeServer = Callable[..., ForkServer]


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
