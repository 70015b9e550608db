"""Dumpers: functions that convert a record to a dict for orjson, generated from a schema.

The marshmallow schema defines the fields, their order and their nesting. marshmallow would convert
each value (times, UUIDs) in Python. orjson does so natively, an order of magnitude faster.
`tests/kit/api/test_dumpers.py` compares the output of both. Compiling a schema with dump hooks or
computed fields raises TypeError.
"""

import keyword
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from marshmallow import Schema, fields

Dumper = Callable[[Any], Any]


def _reject_hooks(schema: Schema) -> None:
    hooks = schema._hooks  # noqa: SLF001 - marshmallow has no public accessor
    if hooks.get("pre_dump") or hooks.get("post_dump"):
        raise TypeError(f"{type(schema).__name__} has dump hooks")


def _get_nested(field: fields.Field[Any]) -> tuple[Schema, bool] | None:
    """Return a nested field's schema and whether the field is a list, or None for other fields."""
    if isinstance(field, fields.Nested):
        return field.schema, bool(field.many)
    if isinstance(field, fields.List) and isinstance(field.inner, fields.Nested):
        return field.inner.schema, True
    if isinstance(field, fields.Method | fields.Function):
        raise TypeError("computed fields cannot be compiled")
    return None


def _build_expression(
    field: fields.Field[Any], access: str, index: int, namespace: dict[str, Any]
) -> str:
    """Return the Python source of the expression that converts the value of a field.

    `access` is the source of the expression that reads the value. The dumper of a nested field is
    added to `namespace`, in which the source will be executed.
    """
    nested = _get_nested(field)
    if nested is None:
        return access
    schema, many = nested
    namespace[f"nest{index}"] = _build_nested_dumper(type(schema))
    if many and field.allow_none:
        return f"(None if (v := {access}) is None else [nest{index}(x) for x in v])"
    if many:
        return f"[nest{index}(x) for x in ({access} or ())]"
    return f"(None if (v := {access}) is None else nest{index}(v))"


_compiling: set[type[Schema]] = set()


def _build_nested_dumper(schema_class: type[Schema]) -> Dumper:
    if schema_class not in _compiling:
        return compile_dumper(schema_class)

    def dump(record: object) -> object:
        # The schema nests itself, like a tree. It is compiled before the first record is dumped.
        return compile_dumper(schema_class)(record)

    return dump


def _compile_function(source: str, namespace: dict[str, Any]) -> Dumper:
    code = compile(source, "<dumper>", "exec")
    exec(code, namespace)  # noqa: S102 - the source consists of declared field names
    dump: Dumper = namespace["dump"]
    return dump


def _build_dict_source(
    schema: Schema,
    build_access: Callable[[str, fields.Field[Any]], str],
    namespace: dict[str, Any],
    hidden_names: frozenset[str] = frozenset(),
) -> str:
    """Return the Python source of a dict with the keys and converted values of all fields.

    `build_access` returns the source of the expression that reads the value of a field.
    """
    parts = []
    for index, (name, field) in enumerate(schema.dump_fields.items()):
        key = field.data_key or name
        if name in hidden_names:
            parts.append(f"{key!r}: None")
            continue
        access = build_access(field.attribute or name, field)
        parts.append(f"{key!r}: {_build_expression(field, access, index, namespace)}")
    return "{" + ", ".join(parts) + "}"


def _build_item_access(name: str, field: fields.Field[Any]) -> str:
    # JSON that was stored before the field was added lacks it.
    if field.dump_default is None:
        return f"o.get({name!r})"
    return f"o[{name!r}]"


def _build_attribute_access(name: str, _field: fields.Field[Any]) -> str:
    # Some field names, such as `from` or `$id`, are not valid attribute names in Python.
    is_valid_name = name.isidentifier() and not keyword.iskeyword(name)
    return f"o.{name}" if is_valid_name else f"getattr(o, {name!r})"


@cache
def compile_dumper(
    schema_class: type[Schema], hidden_names: frozenset[str] = frozenset()
) -> Dumper:
    """Return a function that converts a record to a plain dict.

    A record is an object or a dict. A dict may lack only fields whose `dump_default` is None. The
    values of fields in `hidden_names` are replaced with None.
    """
    schema = schema_class()
    _reject_hooks(schema)
    namespace: dict[str, Any] = {}
    _compiling.add(schema_class)
    try:
        dict_code = _build_dict_source(schema, _build_item_access, namespace, hidden_names)
        object_code = _build_dict_source(schema, _build_attribute_access, namespace, hidden_names)
    finally:
        _compiling.discard(schema_class)
    return _compile_function(
        f"def dump(o):\n if o.__class__ is dict:\n  return {dict_code}\n return {object_code}\n",
        namespace,
    )


@cache
def compile_row_dumper(
    schema_class: type[Schema], columns: tuple[str, ...], hidden_names: frozenset[str] = frozenset()
) -> Dumper:
    """Return a function that converts a row, a tuple with these `columns`, to a plain dict."""
    schema = schema_class()
    _reject_hooks(schema)
    namespace: dict[str, Any] = {}
    body = _build_dict_source(
        schema, lambda name, _: f"o[{columns.index(name)}]", namespace, hidden_names
    )
    return _compile_function(f"def dump(o):\n return {body}\n", namespace)


def dump_many(
    schema_class: type[Schema], items: Sequence[Any], hidden_names: frozenset[str] = frozenset()
) -> list[Any]:
    """Convert rows, dicts or objects, all of the same type, to a list of plain dicts."""
    if not items:
        return []
    first = items[0]
    if hasattr(first, "_fields"):
        dump = compile_row_dumper(schema_class, tuple(first._fields), hidden_names)
    else:
        dump = compile_dumper(schema_class, hidden_names)
    return [dump(item) for item in items]
