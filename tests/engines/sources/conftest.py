"""A fixture for a loopback network, which the code under test must not bypass."""

from collections.abc import Iterator

import pytest
import trustme

from tests.engines.sources.network import LoopbackNetwork


@pytest.fixture
def network() -> Iterator[LoopbackNetwork]:
    network = LoopbackNetwork()
    network.watch()
    yield network
    network.unwatch()
    assert network.bypasses == []


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()
