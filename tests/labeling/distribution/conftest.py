"""A desk, and what is drawn from it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from tests.factories import Org
from tests.factories.desk import Desk

Draw = Callable[..., UUID | None]


@pytest.fixture
def desk(org: Org) -> Desk:
    return Desk(org)


@pytest.fixture
def draw(org: Org) -> Draw:
    """The id of the next document of somebody, or None; `wish` is the body."""

    def drawn(by: str = "labeler", **wish: Any) -> UUID | None:
        answer = org.api(by).post("/artifacts/next", json=wish)
        assert answer.status_code == 200, answer.json
        found = answer.json["data"]
        if found is None:
            return None
        assert found["claim"]["user_id"] == str(org.users[by])
        return UUID(found["id"])

    return drawn
