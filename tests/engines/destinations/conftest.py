"""The loopback network of the sources, which the code under test must not bypass."""

from tests.engines.sources.conftest import network

__all__ = ["network"]
