"""Whatever is sent, the answer is a declared one: no request fails, and no job does afterwards.

schemathesis makes requests of the served description; `tests.contract.fuzzing` aims them at records
that are there. They are the same in every run.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.kit import db, tenancy
from app.kit.api.declarations import Operation
from tests.contract.conftest import OPERATIONS
from tests.contract.fuzzing import Request, Requests, generate_examples
from tests.contract.groups import get_caller, get_group_name
from tests.contract.seeds import Seeds, create_seeds
from tests.factories import make_org
from tests.factories.work import drain


def count_examples(op: Operation) -> int:
    """Return the number of requests for `op`; a request with few parameters needs fewer."""
    if op.body is not None or op.revision:
        return 10
    return 6 if op.query is not None else 4


@pytest.fixture(scope="module")
def fuzzed(app: Flask) -> Any:
    """The description as schemathesis reads it."""
    return schemathesis.openapi.from_wsgi("/openapi.json", app)


@pytest.fixture(scope="module")
def seeds(app: Flask) -> Iterator[Callable[[str], Seeds]]:
    """Records by the name of who shares them; in the end whatever was taken in is worked on."""
    created: list[Seeds] = []

    @cache
    def get_seeds(_name: str) -> Seeds:
        created.append(create_seeds(make_org(app)))
        drain(app)
        return created[-1]

    yield get_seeds
    drain(app)
    with app.app_context(), tenancy.across_organizations(reason="tests look at their jobs"):
        asked = {"orgs": [group_seeds.org.id for group_seeds in created]}
        failed_jobs = db.session().execute(
            text(
                "SELECT function, error FROM jobs WHERE error IS NOT NULL"
                " AND organization_id = ANY(:orgs)"
                # A destination that nobody serves is no fault of the job.
                " AND error NOT LIKE 'Retry: unreachable: %'"
            ),
            asked,
        )
        assert failed_jobs.all() == []


# Records are planted once by the process that runs a group, not once by each.
@pytest.mark.parametrize(
    "op",
    [
        pytest.param(op, id=op.name, marks=pytest.mark.xdist_group(f"fuzz {get_group_name(op)}"))
        for op in OPERATIONS
    ],
)
def test_every_answer_is_a_declared_one(
    op: Operation, fuzzed: Any, seeds: Callable[[str], Seeds]
) -> None:
    seeds_by_name = seeds(get_group_name(op))
    api = get_caller(op, seeds_by_name)
    requests = Requests(op, fuzzed, seeds_by_name)

    def send(request: Request) -> TestResponse:
        # The client holds every answer against the description: envelope, code, members.
        answer = api.request(op.method, request.path, headers=request.headers, **request.options)
        assert answer.status_code < 500, request
        assert requests.matches_schema(request) or answer.status_code >= 400, request
        return answer

    @generate_examples(count_examples(op))
    @given(data=st.data())
    def fuzz(data: st.DataObject) -> None:
        request = requests.draw(data)
        again = requests.with_current_revision(request, send(request))
        if again is not None:
            send(again)

    fuzz()
