import pytest

from tests.factories import Org
from tests.factories.feedback import Assisted


@pytest.fixture
def assisted(org: Org) -> Assisted:
    """Return a workspace for predictions in the test's organization."""
    return Assisted(org)
