import pytest

from tests.factories.routing import Router


@pytest.fixture
def router(desk) -> Router:
    """Rules and documents of the test's organization."""
    return Router(desk)
