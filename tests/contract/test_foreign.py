"""Generated over every operation on a record: another organization's record answers, byte for byte,
like one that never was; and stays as it is."""

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from marshmallow import Schema, ValidationError
from marshmallow.fields import Field
from sqlalchemy import text

from app.kit import db, tenancy
from app.kit.api.declarations import Operation
from app.kit.ids import uuid7
from tests.contract.conftest import OPERATIONS, build_path, name_operation
from tests.contract.seeds import Seeds, create_seeds
from tests.factories import Org, make_org

ON_RECORDS = [
    op
    for op in OPERATIONS
    if re.search(r"{\w+_id}", op.path) and op.in_organization and not op.text_ids
]

_VALUES = (True, 1, "x", str(uuid7()), [], {})


def _read_rows(org: Org) -> dict[str, Any]:
    """All rows of an organization, table by table."""
    rows_by_table = {}
    with org.app.app_context(), tenancy.organization(org.id):
        for table in sorted(tenancy.TENANT_TABLES):
            sql = text(f"SELECT t::text FROM {table} t WHERE organization_id = :o ORDER BY 1")
            rows_by_table[table] = db.session().scalars(sql, {"o": org.id}).all()
    return rows_by_table


def _build_body(schema: Schema | None) -> dict[str, Any]:
    """Return a body with the required members, each with the first of `_VALUES` that is valid."""
    fields = {} if schema is None else schema.load_fields
    return {name: _find_value(field) for name, field in fields.items() if field.required}


def _find_value(field: Field[Any]) -> Any:
    for value in _VALUES:
        with suppress(ValidationError):
            field.deserialize(value)
            return value
    raise AssertionError("add a body of the operation to tests/contract/seeds.py")


@pytest.fixture(scope="module")
def seeds(app: Flask) -> Seeds:
    """Create the organization whose requests are all refused."""
    return create_seeds(make_org(app))


@pytest.fixture(scope="module")
def foreign(app: Flask) -> Seeds:
    return create_seeds(make_org(app))


@pytest.fixture(scope="module")
def contents(foreign: Seeds) -> dict[str, Any]:
    """Return the rows of the other organization as the latest test has left them."""
    return _read_rows(foreign.org)


@pytest.mark.parametrize("op", ON_RECORDS, ids=name_operation)
def test_a_foreign_record_answers_like_none(
    op: Operation, seeds: Seeds, foreign: Seeds, contents: dict[str, Any]
) -> None:
    bodies = seeds.bodies.get(op.name) or [_build_body(op.body)]
    kwargs = {} if op.body is None else {"json": bodies[0]}

    def send(op: Operation) -> Any:
        path = build_path(op, seeds.org.slug)
        return seeds.org.api("owner").request(op.method, path, **kwargs)

    foreign_path = re.sub(
        r"{(\w+_id)}", lambda match: str(foreign.find_ids(op.path, match[1])[0]), op.path
    )
    foreign_answer, absent = send(replace(op, path=foreign_path)), send(op)
    assert foreign_answer.status_code == 404, foreign_answer.data
    assert foreign_answer.data == absent.data
    left_out = {"X-Request-ID", "Date"}
    headers = [
        {k: v for k, v in a.headers.items() if k not in left_out} for a in (foreign_answer, absent)
    ]
    assert headers[0] == headers[1]
    current_rows = _read_rows(foreign.org)
    before = {**contents}
    contents.update(current_rows)
    assert current_rows == before
