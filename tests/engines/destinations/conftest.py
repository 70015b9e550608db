"""Import the fixtures of the source tests that destination tests also use."""

from tests.engines.sources.conftest import network, open_host

__all__ = ["network", "open_host"]
