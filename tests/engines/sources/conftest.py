"""Fixtures that open hosts in a loopback network, which the code under test must not bypass."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import trustme

from app.engines.sources.model import HostType, Source
from tests.engines.sources.network import LoopbackNetwork

OpenHost = Callable[..., Any]
Open = Callable[..., Source]


@pytest.fixture
def network() -> Iterator[LoopbackNetwork]:
    network = LoopbackNetwork()
    network.watch()
    yield network
    network.unwatch()
    assert network.bypasses == []


@pytest.fixture
def open_host(network: LoopbackNetwork) -> Iterator[OpenHost]:
    """Return a function that opens a source or a destination, which is closed after the test."""
    with ExitStack() as hosts:

        def open_host(
            host_type: HostType[Any], settings: Mapping[str, Any], root: Path | None = None
        ) -> Any:
            """Open a host with all settings that are not None."""
            present_settings = {
                name: value for name, value in settings.items() if value is not None
            }
            host = host_type.open(present_settings, network, root)
            hosts.callback(host.close)
            return host

        yield open_host


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()
