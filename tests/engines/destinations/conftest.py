"""A network to loopback for every test, which must not be bypassed."""

from collections.abc import Iterator

import pytest

from tests.engines.sources.network import LoopbackNetwork


@pytest.fixture
def network() -> Iterator[LoopbackNetwork]:
    network = LoopbackNetwork()
    network.watch()
    yield network
    network.unwatch()
    assert network.bypasses == []
