"""The fixtures of the tests of sources that tests of destinations use, too."""

from tests.engines.sources.conftest import network, open_host

__all__ = ["network", "open_host"]
