"""A path answers 405 to every method that it does not have, and names those that it has."""

import re
from collections import defaultdict

import pytest

from app.kit.ids import uuid7
from tests.contract.conftest import CONTRACT, OPERATIONS
from tests.factories import Org

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_DECLARED = {op.name for op in OPERATIONS}


def _list_allowed_methods() -> dict[str, set[str]]:
    """The methods of every path of the contract that has a declared operation."""
    allowed: dict[str, set[str]] = defaultdict(set)
    for row in CONTRACT.values():
        if row.operation_id in _DECLARED:
            head = {"HEAD"} if row.method == "GET" else set()
            allowed[row.path] |= {row.method, "OPTIONS", *head}
    return allowed


ALLOWED = _list_allowed_methods()


def _fill_path(path: str, org: Org) -> str:
    return re.sub(r"{\w+}", str(uuid7()), path.replace("{org_slug}", org.slug))


@pytest.mark.parametrize("path", ALLOWED)
def test_a_method_that_a_path_lacks_is_not_allowed(path: str, org: Org) -> None:
    for method in set(METHODS) - ALLOWED[path]:
        answer = org.api("owner").request(method, _fill_path(path, org))
        assert answer.status_code == 405, method
        assert set(answer.headers["Allow"].split(", ")) == ALLOWED[path], method
        if method != "HEAD":
            assert answer.json["error"]["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", ALLOWED)
def test_options_names_the_methods_of_a_path(path: str, org: Org) -> None:
    answer = org.anonymous().request("OPTIONS", _fill_path(path, org))
    assert answer.status_code == 200
    assert set(answer.headers["Allow"].split(", ")) == ALLOWED[path]
