import pytest

from tests.factories import Org
from tests.factories.desk import Desk


@pytest.fixture
def desk(org: Org) -> Desk:
    """Return the workspace of the test's organization."""
    return Desk(org)
