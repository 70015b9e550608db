import pytest

from tests.factories.routing import Router


@pytest.fixture
def router(desk) -> Router:
    """Return the routing rules of the test's organization."""
    return Router(desk)
