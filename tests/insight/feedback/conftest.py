from uuid import UUID

import pytest

from tests.factories import Org
from tests.factories.feedback import Assisted


@pytest.fixture
def assisted(org: Org) -> Assisted:
    """Return a workspace for predictions in the test's organization."""
    return Assisted(org)


@pytest.fixture
def schema(assisted: Assisted) -> UUID:
    """Return a schema without documents."""
    return assisted.workspace.schema()
