"""Functions generated from marshmallow schemas that convert a record to a dict for orjson.

The schema defines the fields, their order and their nesting. marshmallow would convert each
value (times, UUIDs) in Python; orjson does so natively, an order of magnitude faster.
`tests/kit/api/test_dumpers.py` compares the results. Schemas with dump hooks or computed fields
raise TypeError.
"""

import keyword
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from marshmallow import Schema, fields

Dumper = Callable[[Any], Any]


def _refuse_hooks(schema: Schema) -> None:
    hooks = schema._hooks  # noqa: SLF001 - marshmallow offers no public view
    if hooks.get("pre_dump") or hooks.get("post_dump"):
        raise TypeError(f"{type(schema).__name__} has dump hooks")


def _get_nested(field: fields.Field[Any]) -> tuple[Schema, bool] | None:
    if isinstance(field, fields.Nested):
        return field.schema, bool(field.many)
    if isinstance(field, fields.List) and isinstance(field.inner, fields.Nested):
        return field.inner.schema, True
    if isinstance(field, fields.Method | fields.Function):
        raise TypeError("computed fields cannot be compiled")
    return None


def _build_expression(
    field: fields.Field[Any], read: str, index: int, scope: dict[str, Any]
) -> str:
    nested = _get_nested(field)
    if nested is None:
        return read
    schema, many = nested
    scope[f"nest{index}"] = _build_nested_dumper(type(schema))
    if many and field.allow_none:
        return f"(None if (v := {read}) is None else [nest{index}(x) for x in v])"
    if many:
        return f"[nest{index}(x) for x in ({read} or ())]"
    return f"(None if (v := {read}) is None else nest{index}(v))"


_compiling: set[type[Schema]] = set()


def _build_nested_dumper(schema_class: type[Schema]) -> Dumper:
    if schema_class not in _compiling:
        return compile_dumper(schema_class)

    def dump(record: object) -> object:
        # The schema nests itself, like a tree. It is compiled before the first record is dumped.
        return compile_dumper(schema_class)(record)

    return dump


def _compile_function(source: str, scope: dict[str, Any]) -> Dumper:
    exec(compile(source, "<dumper>", "exec"), scope)  # noqa: S102 - consists of declared field names
    dump: Dumper = scope["dump"]
    return dump


def _build_dict_source(
    schema: Schema,
    read: Callable[[str, fields.Field[Any]], str],
    scope: dict[str, Any],
    hidden_names: frozenset[str] = frozenset(),
) -> str:
    parts = []
    for index, (name, field) in enumerate(schema.dump_fields.items()):
        key = field.data_key or name
        if name in hidden_names:
            parts.append(f"{key!r}: None")
            continue
        value = read(field.attribute or name, field)
        parts.append(f"{key!r}: {_build_expression(field, value, index, scope)}")
    return "{" + ", ".join(parts) + "}"


def _build_item_access(name: str, field: fields.Field[Any]) -> str:
    # JSON that was stored before the field was added lacks it.
    if field.dump_default is None:
        return f"o.get({name!r})"
    return f"o[{name!r}]"


def _build_attribute_access(name: str, _field: fields.Field[Any]) -> str:
    # Some field names, such as `from` or `$id`, are not valid attribute names in Python.
    named = name.isidentifier() and not keyword.iskeyword(name)
    return f"o.{name}" if named else f"getattr(o, {name!r})"


@cache
def compile_dumper(
    schema_class: type[Schema], hidden_names: frozenset[str] = frozenset()
) -> Dumper:
    """Return a function that turns a record into a plain dict.

    A record is an object, or a dict that may lack only fields whose `dump_default` is None. Fields
    in `hidden_names` are null.
    """
    schema = schema_class()
    _refuse_hooks(schema)
    scope: dict[str, Any] = {}
    _compiling.add(schema_class)
    try:
        for_dict = _build_dict_source(schema, _build_item_access, scope, hidden_names)
        for_object = _build_dict_source(schema, _build_attribute_access, scope, hidden_names)
    finally:
        _compiling.discard(schema_class)
    return _compile_function(
        f"def dump(o):\n if o.__class__ is dict:\n  return {for_dict}\n return {for_object}\n",
        scope,
    )


@cache
def compile_row_dumper(
    schema_class: type[Schema], columns: tuple[str, ...], hidden_names: frozenset[str] = frozenset()
) -> Dumper:
    """Return a function that turns a row, a tuple in the order of `columns`, into a dict."""
    schema = schema_class()
    _refuse_hooks(schema)
    scope: dict[str, Any] = {}
    body = _build_dict_source(
        schema, lambda name, _: f"o[{columns.index(name)}]", scope, hidden_names
    )
    return _compile_function(f"def dump(o):\n return {body}\n", scope)


def dump_many(
    schema_class: type[Schema], items: Sequence[Any], hidden_names: frozenset[str] = frozenset()
) -> list[Any]:
    """Return the dicts of a sequence of rows, dicts or objects, all of one type."""
    if not items:
        return []
    first = items[0]
    if hasattr(first, "_fields"):
        dump = compile_row_dumper(schema_class, tuple(first._fields), hidden_names)
    else:
        dump = compile_dumper(schema_class, hidden_names)
    return [dump(item) for item in items]
