"""Read the contract, and the operations that the application declares."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app import endpoints
from app.kit.api.declarations import Operation
from app.kit.api.documentation import list_operations
from app.kit.ids import uuid7
from tests.contract import generated

_FILE = Path(__file__).parent / "operations.csv"


@dataclass(frozen=True)
class Row:
    """A line of operations.csv."""

    tag: str
    method: str
    path: str
    operation_id: str
    access: str
    success: int
    limit: str


def read_contract() -> dict[str, Row]:
    texts = ("tag", "method", "path", "operation_id", "access", "limit")
    with _FILE.open(newline="") as file:
        rows = [
            Row(**{name: line[name] for name in texts}, success=int(line["success"]))
            for line in csv.DictReader(file)
        ]
    return {row.operation_id: row for row in rows}


CONTRACT = read_contract()
OPERATIONS: list[Operation] = list_operations(endpoints.BLUEPRINTS)


def name_operation(op: Operation) -> str:
    """Return the id of a test case for an operation."""
    return op.name


def build_path(op: Operation, slug: str, record_id: str | None = None) -> str:
    """Return the path of an operation on a record that does not exist, or on `record_id`."""
    path = op.path.replace("{org_slug}", slug)
    for name in op.integer_parameters:
        path = path.replace("{" + name + "}", "1")
    return re.sub(r"{\w+}", lambda _: record_id or str(uuid7()), path)


def find_operation(description: dict[str, Any], op: Operation) -> Any:
    """Return an operation's entry in the description."""
    return description["paths"][f"/api/v1{op.path}"][op.method.lower()]


def find_component(description: dict[str, Any], name: str) -> Any:
    """Return a named schema of the description, which can be used on its own."""
    return {"$ref": f"#/components/schemas/{name}", "components": description["components"]}


@pytest.fixture(scope="session")
def package(
    description: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> generated.Package:
    """Generate the Python client from the description."""
    return generated.generate(description, tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="session")
def description(app: Flask) -> Any:
    """Return the served OpenAPI description."""
    answer = app.test_client().get("/openapi.json")
    assert answer.status_code == 200
    return answer.json
