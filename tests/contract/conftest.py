"""Read the contract, and the operations that the application declares."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app import endpoints
from app.kit.api.declarations import Operation
from app.kit.api.documentation import list_operations
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
    with _FILE.open(newline="") as file:
        return {
            line["operation_id"]: Row(
                line["tag"],
                line["method"],
                line["path"],
                line["operation_id"],
                line["access"],
                int(line["success"]),
                line["limit"],
            )
            for line in csv.DictReader(file)
        }


CONTRACT = read_contract()
OPERATIONS: list[Operation] = list_operations(endpoints.BLUEPRINTS)


@pytest.fixture(scope="session")
def package(
    description: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> generated.Package:
    """Generate the Python client from the description."""
    return generated.generate(description, tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="session")
def description(app: Flask) -> dict[str, object]:
    """Return the served OpenAPI description."""
    answer = app.test_client().get("/openapi.json")
    assert answer.status_code == 200
    description: dict[str, object] = answer.json
    return description
