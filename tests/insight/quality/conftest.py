import pytest

from tests.factories import Org
from tests.factories.quality import QualityWorkspace


@pytest.fixture
def quality(org: Org) -> QualityWorkspace:
    """Return the workspace of the test's organization."""
    org.add_users({"second": "labeler", "third": "labeler", "senior": "reviewer"})
    return QualityWorkspace(org)
