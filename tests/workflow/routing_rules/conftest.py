import pytest

from tests.factories.routing import Router


@pytest.fixture
def router(workspace) -> Router:
    """Return the routing rules of the test's organization."""
    return Router(workspace)
