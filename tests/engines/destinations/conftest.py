"""The fixture `network` of the tests of sources, which tests of destinations use, too."""

from tests.engines.sources.conftest import network

__all__ = ["network"]
