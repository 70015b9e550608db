"""Read a JSON Schema: properties of objects become fields, lists of objects become tables."""

from dataclasses import dataclass, replace
from typing import Any

from app.engines.fields import Field
from app.engines.fields.definition import MAX_COLUMNS, MAX_FIELDS
from app.engines.schema_sources.finishing import normalize_fields, parse_json
from app.engines.schema_sources.json_schema.alternatives import merge_alternatives
from app.engines.schema_sources.json_schema.nodes import Node, Resolver, SchemaPart
from app.engines.schema_sources.json_schema.scalars import convert_scalar, find_value_type
from app.engines.schema_sources.model import SchemaSourceError, SourceSchema, WarningCollector
from app.engines.schema_sources.texts import (
    MAX_NAME_CHARS,
    KeyGenerator,
    to_description,
    to_line,
    to_snake_case,
    to_title,
)

MAX_NESTING = 16
MAX_TITLE_CHARS = 4 * MAX_NAME_CHARS  # longer titles are truncated later anyway


def read_json_schema(content: object) -> SourceSchema:
    """Read a JSON Schema from a JSON value or from JSON text.

    Raises SchemaSourceError if `content` is invalid, or describes nothing that can be labeled.
    """
    root = parse_json(content)
    if not isinstance(root, dict):
        raise SchemaSourceError("", "must be an object: a JSON Schema")
    collector = WarningCollector()
    reader = _JsonSchemaReader(Resolver(root, collector), collector)
    root_parts = [SchemaPart(root, "", frozenset({"#"}))]
    node = reader.build_node(root_parts)
    name = to_title(node.pop_text("title"), collector, "", MAX_NAME_CHARS)
    description = to_description(node.pop_text("description"), collector, "", 10_000)
    target = _FieldTarget(fields=[], keys=KeyGenerator(collector))
    if find_value_type(node) == "object":
        reader.add_properties(node, target)
    elif find_value_type(node) is not None:
        collector.add("", "The schema does not describe an object: it became one field.")
        field_name = "items" if find_value_type(node) == "array" else "value"
        reader.add_property(field_name, root_parts, target, required=True)
    return SourceSchema(
        fields=normalize_fields(target.fields, collector),
        warnings=collector.list_warnings(),
        name=name or None,
        document_type=to_snake_case(name, "document") if name else None,
        description=description,
    )


@dataclass(frozen=True, slots=True)
class _FieldTarget:
    """The list to which new fields are added: the fields of the schema, or the columns of a table.

    `prefix` and `label` come from the enclosing objects; `required` is True if all enclosing
    objects are required. `nesting` is the number of enclosing objects and tables.
    """

    fields: list[Field]
    keys: KeyGenerator
    prefix: str = ""
    label: str = ""
    required: bool = True
    nesting: int = 0
    is_table: bool = False


class _JsonSchemaReader:
    def __init__(self, resolver: Resolver, collector: WarningCollector) -> None:
        self._resolver = resolver
        self._collector = collector

    def build_node(self, parts: list[SchemaPart]) -> Node:
        """Build the node for the parts, with its alternatives merged."""
        return merge_alternatives(self._resolver.build_node(parts), self._resolver, self._collector)

    def add_properties(self, node: Node, target: _FieldTarget) -> None:
        """Add the fields for all properties of an object."""
        for name, parts in node.properties.items():
            required = target.required and name in node.required
            self.add_property(name, parts, target, required=required)
        for name in sorted(node.required - node.properties.keys())[:100]:
            self._collector.add(node.path, f"{to_line(name, 64)} is required but not described.")
        self._warn_about_constraints(node)

    def add_property(
        self, name: str, parts: list[SchemaPart], target: _FieldTarget, *, required: bool
    ) -> None:
        """Add the fields for the property `name`: none, one, or one per nested property.

        Raises SchemaSourceError if the target would have too many fields or columns.
        """
        max_fields = MAX_COLUMNS if target.is_table else MAX_FIELDS
        node = self.build_node(parts)
        required = required and not node.is_nullable
        if node.allows_nothing:
            self._collector.add(node.path, "No value is allowed here: the property was left out.")
        elif node.is_circular and find_value_type(node) is None:
            return  # the warning was already added
        elif len(target.fields) == max_fields:
            noun = "columns" if target.is_table else "fields"
            raise SchemaSourceError(node.path, f"exceeds the limit of {max_fields} {noun}")
        elif find_value_type(node) == "object" and node.properties:
            self._add_object(name, node, target, required=required)
        elif find_value_type(node) == "array":
            self._add_list(name, node, target, required=required)
        else:
            self._add_field(
                name, node, target, convert_scalar(node, self._collector), required=required
            )

    def _add_object(self, name: str, node: Node, target: _FieldTarget, *, required: bool) -> None:
        if target.nesting == MAX_NESTING:
            self._collector.add(node.path, "The object is nested too deeply and was left out.")
            return
        self._collector.add(
            node.path,
            "The object's properties became separate fields, prefixed with the object's name.",
        )
        label = to_line(node.pop_text("title")) or _convert_name_to_label(name)
        object_target = replace(
            target,
            prefix=f"{target.prefix}{name[:100]}_",
            label=f"{target.label}{label[:60]}: ",
            required=required,
            nesting=target.nesting + 1,
        )
        self.add_properties(node, object_target)

    def _add_list(self, name: str, node: Node, target: _FieldTarget, *, required: bool) -> None:
        if required and node.keywords.get("minItems") == 1:
            node.pop_keyword("minItems")
        item = self.build_node(node.items) if node.items else Node(node.path)
        item_type = find_value_type(item)
        if item.is_circular and item_type is None:
            return
        if item_type != "object" or not item.properties:
            if "prefixItems" in node.keywords and not node.items:
                self._collector.add(node.path, "All positions of the list are treated alike.")
                node.pop_keyword("prefixItems")
            definition = {**convert_scalar(item, self._collector), "multiple": True}
            self._add_field(name, node, target, definition, required=required)
            self._warn_about_constraints(item)
        elif target.is_table:
            message = "A table cannot contain another table: the inner table was left out."
            self._collector.add(node.path, message)
        else:
            self._add_table(name, node, item, target, required=required)

    def _add_table(
        self, name: str, node: Node, row: Node, target: _FieldTarget, *, required: bool
    ) -> None:
        row_description = row.pop_text("description")
        table_target = _FieldTarget(
            [], KeyGenerator(self._collector), is_table=True, nesting=target.nesting + 1
        )
        self.add_properties(row, table_target)
        if not table_target.fields:
            self._collector.add(
                node.path, "The rows of the table contain nothing that can be labeled."
            )
            return
        node.keywords.setdefault("description", row_description)
        definition = {"type": "table", "columns": table_target.fields}
        self._add_field(name, node, target, definition, required=required)

    def _add_field(
        self,
        name: str,
        node: Node,
        target: _FieldTarget,
        definition: dict[str, Any],
        *,
        required: bool,
    ) -> None:
        title = to_line(node.pop_text("title"), MAX_TITLE_CHARS)
        full_name = target.prefix + name
        field = {
            "key": target.keys.create_key(full_name, path=node.path),
            "label": to_title(
                target.label + (title or _convert_name_to_label(name)), self._collector, node.path
            ),
            "required": required,
            "description": to_description(node.pop_text("description"), self._collector, node.path),
            **definition,
        }
        target.fields.append(field)
        if node.properties:
            self._collector.add(
                node.path, "The value need not be an object: its properties were left out."
            )
        if node.items and find_value_type(node) != "array":
            self._collector.add(node.path, "The value need not be a list: its items were left out.")
        self._warn_about_unused_keywords(node)

    def _warn_about_constraints(self, node: Node) -> None:
        """Warn about unused keywords except the title and the description."""
        for name in ("title", "description"):
            node.pop_keyword(name)
        self._warn_about_unused_keywords(node)

    def _warn_about_unused_keywords(self, node: Node) -> None:
        if node.keywords:
            names = ", ".join(to_line(name, 64) for name in sorted(node.keywords)[:20])
            self._collector.add(node.path, f"Not imported: {names}.")


def _convert_name_to_label(name: str) -> str:
    """Convert a property's name to a label; plain snake_case becomes words."""
    label = name.replace("_", " ").capitalize() if to_snake_case(name, "field") == name else name
    return to_line(label)
