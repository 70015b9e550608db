import pytest

from tests.factories import Org
from tests.factories.workspace import Workspace


@pytest.fixture
def workspace(org: Org) -> Workspace:
    """Return the workspace of the test's organization."""
    return Workspace(org)
