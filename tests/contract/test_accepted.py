"""What fits the description is taken: few such requests are refused with 422."""

import os
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import schemathesis
from flask import Flask

from app.kit.api.declarations import Operation
from tests.contract.accepted import Tally, send_valid_requests
from tests.contract.conftest import OPERATIONS
from tests.contract.groups import get_group_name
from tests.contract.seeds import Seeds, create_seeds
from tests.factories import make_org

pytestmark = pytest.mark.xdist_group("accepted")

EXAMPLES = int(os.environ.get("ACCEPTED_EXAMPLES", "2"))
LIMIT = 0.02


@pytest.fixture(scope="module")
def seeds(app: Flask) -> Callable[[str], Seeds]:
    """Return a function that creates the records of a group, once for each name."""
    return cache(lambda _name: create_seeds(make_org(app)))


def test_few_requests_that_fit_the_description_are_refused(
    app: Flask, seeds: Callable[[str], Seeds], capsys: pytest.CaptureFixture[str]
) -> None:
    description: Any = schemathesis.openapi.from_wsgi("/openapi.json", app)
    tally = Tally()
    op: Operation
    for op in OPERATIONS:
        seeds_by_name = seeds(get_group_name(op))
        send_valid_requests(op, description, seeds_by_name, tally, examples=EXAMPLES)
    with capsys.disabled():
        print(f"\n{tally.report()}")  # noqa: T201 - the figures are what it is for
    assert tally.share < LIMIT
