"""The generated dumpers return the same output as marshmallow."""

from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from marshmallow import post_dump

from app import endpoints
from app.kit.api import fields
from app.kit.api.documentation import list_operations
from app.kit.api.dumpers import compile_dumper, compile_row_dumper
from app.kit.api.responses import encode
from app.kit.ids import uuid7


class Inner(fields.Schema):
    id = fields.Uuid()
    at = fields.UtcDateTime(allow_none=True)


class Outer(fields.Schema):
    name = fields.Str()
    inner = fields.Nested(Inner, allow_none=True)
    many = fields.List(fields.Nested(Inner))
    kind = fields.Str(attribute="type_", data_key="kind")
    extra = fields.JsonObject()


class Node(fields.Schema):
    name = fields.Str()
    day = fields.Date(allow_none=True)
    children = fields.List(fields.Nested("Node"))


def _record(**members: Any) -> dict[str, Any]:
    inner = {"id": uuid7(), "at": datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)}
    record = {
        "name": "é",
        "inner": inner,
        "many": [inner, {"id": uuid7(), "at": None}],
        "type_": "k",
        "extra": {"a": [1, None]},
    }
    return {**record, **members}


@pytest.mark.parametrize("record", [_record(), _record(inner=None, many=[])])
def test_dict_and_object_dump_as_marshmallow_does(record: dict[str, Any]) -> None:
    expected = Outer().dump(record)
    assert orjson.loads(encode(compile_dumper(Outer)(record))) == expected
    as_object = SimpleNamespace(**record)
    assert orjson.loads(encode(compile_dumper(Outer)(as_object))) == expected


def test_row_dump_reads_by_position() -> None:
    record = _record()
    columns = tuple(reversed(record))
    dump = compile_row_dumper(Outer, columns)
    assert orjson.loads(encode(dump(tuple(record[c] for c in columns)))) == Outer().dump(record)


def test_what_a_stored_dict_lacks_is_null_where_the_schema_says_so() -> None:
    class Grown(fields.Schema):
        name = fields.Str()
        later = fields.List(fields.Int(), allow_none=True, dump_default=None)

    for record in ({"name": "a"}, {"name": "a", "later": [1]}):
        assert compile_dumper(Grown)(record) == Grown().dump(record)
    with pytest.raises(KeyError):
        compile_dumper(Grown)({"later": None})


def test_a_tree_dumps_as_marshmallow_does() -> None:
    low = {"name": "low", "day": None, "children": []}
    tree = {"name": "top", "day": date(2026, 1, 2), "children": [low, {**low, "children": [low]}]}
    assert orjson.loads(encode(compile_dumper(Node)(tree))) == Node().dump(tree)


def test_schemas_with_hooks_are_refused() -> None:
    class Hooked(fields.Schema):
        name = fields.Str()

        @post_dump
        def after(self, data: Any, **_: Any) -> Any:
            return data

    with pytest.raises(TypeError):
        compile_dumper(Hooked)


def test_every_response_schema_of_the_application_compiles() -> None:
    # The dumpers were compiled when the packages were imported. This fails if there were none.
    assert list_operations(endpoints.BLUEPRINTS)
