import pytest

from tests.factories import Org
from tests.factories.feedback import Assisted


@pytest.fixture
def assisted(org: Org) -> Assisted:
    """Return the predictions of the test's organization."""
    return Assisted(org)
