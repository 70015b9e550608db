"""Convert a node for a single value to a field's type, options and constraints."""

from typing import Any

from app.engines.fields.definition import MAX_LABEL_CHARS, MAX_OPTIONS
from app.engines.fields.identifiers import MODULE_BY_FORMAT
from app.engines.schema_sources.finishing import select_constraints
from app.engines.schema_sources.json_schema.nodes import Node
from app.engines.schema_sources.model import WarningCollector
from app.engines.schema_sources.texts import to_line

_TYPE_BY_FORMAT = {
    "date": "date",
    "date-time": "datetime",
    "time": "time",
    "email": "email",
    "idn-email": "email",
    "uri": "url",
    "iri": "url",
    "url": "url",
    "phone": "phone",
    "country": "country",
    "currency": "currency",
}
_NUMBER_FORMATS = ("int32", "int64", "float", "double")
_TYPE_HINTS: dict[str, tuple[str, ...]] = {
    "object": ("properties",),
    "array": ("items", "prefixItems", "contains", "minItems", "maxItems"),
    "string": ("minLength", "maxLength", "pattern", "format", "contentEncoding"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}


def find_value_type(node: Node) -> str | None:
    """Find the type of the value: `object`, `array`, `choice`, `mixed`, or a simple type.

    `mixed` means that the schema allows more than one type. Returns None if the schema does not
    restrict the type.
    """
    if node.options is not None or "enum" in node.keywords or "const" in node.keywords:
        return "choice"
    if node.types:
        types = (node.types - {"null"}) or {"null"}
        if types == {"integer", "number"}:
            return "number"
        return "mixed" if len(types) > 1 else next(iter(types))
    if node.properties:
        return "object"
    if node.items:
        return "array"
    hinted_types = (
        value_type
        for value_type, names in _TYPE_HINTS.items()
        if any(name in node.keywords for name in names)
    )
    return next(hinted_types, None)


def convert_scalar(node: Node, collector: WarningCollector) -> dict[str, Any]:
    """Convert a node to the type, options and constraints of a field.

    Adds a warning for each part of the node that a field cannot represent.
    """
    value_type = find_value_type(node)
    if value_type == "choice":
        return _convert_choice(node, collector)
    if value_type == "boolean":
        return {"type": "boolean"}
    if value_type in ("integer", "number"):
        return _convert_number(node, value_type, collector)
    if value_type == "string":
        return _convert_string(node, collector)
    reason = {
        None: "The schema allows any value",
        "mixed": "The schema allows several types",
        "null": "The schema only allows null",
        "object": "The object has no named properties",
        "array": "The list is inside another list",
    }.get(value_type, f"The type {to_line(value_type, 32)} is not known")
    collector.add(node.path, f"{reason}: the field takes text.")
    return {"type": "text"}


def _convert_choice(node: Node, collector: WarningCollector) -> dict[str, Any]:
    enum, const = node.pop_keyword("enum"), node.keywords.get("const")
    labeled_values, node.options = node.options, None
    if "const" in node.keywords:
        node.pop_keyword("const")
        labeled_values = [(const, "")]
    if labeled_values is None:
        labeled_values = [(value, "") for value in enum] if isinstance(enum, list) else []
    values = [value for value, _ in labeled_values]
    booleans = {value for value in values if isinstance(value, bool)}
    if booleans and all(isinstance(value, bool) or value is None for value in values):
        if len(booleans) == 1:
            collector.add(node.path, "The restriction to a single boolean value was left out.")
        return {"type": "boolean"}
    options = _convert_options(labeled_values, node.path, collector)
    node.pop_keyword("format")
    if not options:
        collector.add(node.path, "None of the options is usable: the field takes text.")
        return {"type": "text"}
    if len(options) > MAX_OPTIONS:
        collector.add(
            node.path, f"There are more than {MAX_OPTIONS:,} options: the field takes text."
        )
        return {"type": "text"}
    return {"type": "choice", "options": list(options.values())}


def _convert_options(
    labeled_values: list[tuple[object, str]], path: str, collector: WarningCollector
) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for value, label in labeled_values:
        if value is None:
            continue
        text = _convert_option(value)
        if text is None:
            reason = f"it is empty, not a plain value, or over {MAX_LABEL_CHARS} characters long"
            collector.add(path, f"An option was left out: {reason}.")
            continue
        if not isinstance(value, str):
            collector.add(path, "Options that are not text were converted to text.")
        options.setdefault(text, {"value": text, "label": to_line(label) or text})
    return options


def _convert_option(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str) or len(value) > MAX_LABEL_CHARS:
        return None
    return value.strip() or None


def _convert_number(node: Node, field_type: str, collector: WarningCollector) -> dict[str, Any]:
    if node.keywords.get("format") in _NUMBER_FORMATS:
        node.pop_keyword("format")
    constraints: dict[str, object] = {}
    for name, limit, step in (("min", "minimum", 1), ("max", "maximum", -1)):
        value = node.pop_keyword(limit)
        exclusive_limit = node.pop_keyword("exclusive" + limit.capitalize())
        if exclusive_limit is not None and exclusive_limit is not False:
            # In draft 4, the keyword is a boolean.
            excluded_value = value if exclusive_limit is True else exclusive_limit
            if field_type == "integer" and isinstance(excluded_value, int):
                value = excluded_value + step
            else:
                value = excluded_value
                collector.add(
                    node.path, f"The {limit} itself was excluded, but the field allows it."
                )
        if value is not None:
            constraints[name] = value
    return {
        "type": field_type,
        "constraints": select_constraints(constraints, field_type, collector, node.path),
    }


def _convert_string(node: Node, collector: WarningCollector) -> dict[str, Any]:
    constraints: dict[str, object] = {}
    field_type = "text"
    format_ = node.pop_keyword("format")
    if isinstance(format_, str):
        identifier = format_.lower().replace("-", "_")
        if format_ in _TYPE_BY_FORMAT:
            field_type = _TYPE_BY_FORMAT[format_]
        elif identifier in MODULE_BY_FORMAT:
            constraints["formats"] = [identifier]
        else:
            collector.add(node.path, f"The format {to_line(format_, 64)} is not enforced.")
    for name, keyword in (
        ("min_length", "minLength"),
        ("max_length", "maxLength"),
        ("pattern", "pattern"),
    ):
        value = node.pop_keyword(keyword)
        if value is not None:
            constraints[name] = (
                int(value) if isinstance(value, float) and value.is_integer() else value
            )
    return {
        "type": field_type,
        "constraints": select_constraints(constraints, field_type, collector, node.path),
    }
