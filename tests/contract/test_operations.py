"""Every route is in the contract, as the contract has it."""

import re
import sys
from typing import Any

import pytest
from flask import Flask

from app.kit.api.declarations import Operation
from app.kit.ratelimit import LIMITS
from tests.contract.conftest import CONTRACT, OPERATIONS, find_operation, name_operation


@pytest.mark.parametrize("op", OPERATIONS, ids=name_operation)
def test_operation_is_as_the_contract_has_it(op: Operation) -> None:
    assert op.name in CONTRACT, f"{op.method} {op.path} is not in operations.csv"
    row = CONTRACT[op.name]
    assert (op.method, op.path) == (row.method, row.path)
    assert op.access == row.access
    assert op.status == row.success
    # "5/minute org" in the file; ("5/minute", "org") in the table of limits.
    declared = " ".join(LIMITS[op.limit]) if op.limit else ""
    assert declared.replace(" seconds", "s") == row.limit


def test_no_route_stands_outside_the_contract(app: Flask) -> None:
    known = {(row.method, row.path) for row in CONTRACT.values()}
    for rule in app.url_map.iter_rules():
        if not rule.rule.startswith("/api/"):
            continue
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule.removeprefix("/api/v1"))
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            assert (method, path) in known, f"{method} {path} is not in operations.csv"


def test_how_many_operations_stand(
    record_property: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    count = len({op.name for op in OPERATIONS})
    record_property("operations", count)
    with capsys.disabled():
        sys.stdout.write(f"\n{count} of the {len(CONTRACT)} operations of the contract stand.\n")
    assert len({(row.method, row.path) for row in CONTRACT.values()}) == len(CONTRACT)
    assert count == len(OPERATIONS)


@pytest.mark.parametrize("op", OPERATIONS, ids=name_operation)
def test_operation_is_described(op: Operation, description: dict[str, Any]) -> None:
    operation = find_operation(description, op)
    assert operation["operationId"] == op.name
    assert operation["summary"]
    assert operation["description"]
    assert operation["tags"] == [CONTRACT[op.name].tag]
    assert set(operation["responses"]) == {str(op.status), "422"}
    assert operation.get("security") == ([] if op.access == "public" else None)
    names = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
    assert names == set(re.findall(r"{(\w+)}", op.path))


def test_the_only_scheme_is_http_bearer(description: dict[str, Any]) -> None:
    schemes = description["components"]["securitySchemes"]
    assert schemes == {"HTTPBearer": {"type": "http", "scheme": "bearer"}}
    assert description["openapi"].startswith("3.1")
    assert description["security"] == [{"HTTPBearer": []}]
