"""Read a JSON Schema: properties of objects become fields, lists of objects become tables."""

from dataclasses import dataclass, replace
from typing import Any

from app.engines.fields import Field
from app.engines.fields.definition import MAX_COLUMNS, MAX_FIELDS
from app.engines.schema_sources.finishing import finish_fields, parse_json
from app.engines.schema_sources.json_schema.alternatives import merge_alternatives
from app.engines.schema_sources.json_schema.nodes import Node, Part, Resolver
from app.engines.schema_sources.json_schema.scalars import convert_scalar, find_kind
from app.engines.schema_sources.model import Notes, SourceError, SourceSchema
from app.engines.schema_sources.texts import (
    MAX_NAME,
    Keys,
    to_description,
    to_line,
    to_snake_case,
    to_title,
)

MAX_NESTING = 16
MAX_TITLE = 4 * MAX_NAME  # longer titles are truncated later anyway


def read_json_schema(content: object) -> SourceSchema:
    """Read a JSON Schema, given as JSON or its text. Raises SourceError."""
    root = parse_json(content)
    if not isinstance(root, dict):
        raise SourceError("", "must be an object: a JSON Schema")
    notes = Notes()
    reader = _Reader(Resolver(root, notes), notes)
    root_parts = [Part(root, "", frozenset({"#"}))]
    node = reader.build_node(root_parts)
    name = to_title(node.pop_text("title"), notes, "", MAX_NAME)
    description = to_description(node.pop_text("description"), notes, "", 10_000)
    place = _Place(fields=[], keys=Keys(notes))
    if find_kind(node) == "object":
        reader.add_properties(node, place)
    elif find_kind(node) is not None:
        notes.add("", "The schema does not describe an object: it became one field.")
        field_name = "items" if find_kind(node) == "array" else "value"
        reader.add_property(field_name, root_parts, place, required=True)
    return SourceSchema(
        fields=finish_fields(place.fields, notes),
        warnings=notes.list_warnings(),
        name=name or None,
        document_type=to_snake_case(name, "document") if name else None,
        description=description,
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """The target for new fields: the schema's list, or a table's columns.

    `prefix` and `label` come from the enclosing objects; `required` is True if all enclosing
    objects are required.
    """

    fields: list[Field]
    keys: Keys
    prefix: str = ""
    label: str = ""
    required: bool = True
    nesting: int = 0
    is_table: bool = False


class _Reader:
    def __init__(self, resolver: Resolver, notes: Notes) -> None:
        self._resolver = resolver
        self._notes = notes

    def build_node(self, parts: list[Part]) -> Node:
        """Return the node for the parts, with its alternatives merged."""
        return merge_alternatives(self._resolver.build_node(parts), self._resolver, self._notes)

    def add_properties(self, node: Node, place: _Place) -> None:
        """Add the properties of an object, each as one or more fields."""
        for name, parts in node.properties.items():
            required = place.required and name in node.required
            self.add_property(name, parts, place, required=required)
        for name in sorted(node.required - node.properties.keys())[:100]:
            self._notes.add(node.path, f"{to_line(name, 64)} is required but not described.")
        for keyword in ("title", "description"):
            node.pop_keyword(keyword)
        self._warn_leftovers(node)

    def add_property(self, name: str, parts: list[Part], place: _Place, *, required: bool) -> None:
        """Add the property `name`."""
        max_fields = MAX_COLUMNS if place.is_table else MAX_FIELDS
        node = self.build_node(parts)
        if node.allows_nothing:
            self._notes.add(node.path, "No value is allowed here: the property was left out.")
        elif node.is_circular and find_kind(node) is None:
            return  # the warning was already added
        elif len(place.fields) == max_fields:
            raise SourceError(node.path, f"exceeds the limit of {max_fields} fields")
        elif find_kind(node) == "object" and node.properties:
            self._add_object(name, node, place, required=required)
        elif find_kind(node) == "array":
            self._add_list(name, node, place, required=required)
        else:
            self._add_field(name, node, place, convert_scalar(node, self._notes), required=required)

    def _add_object(self, name: str, node: Node, place: _Place, *, required: bool) -> None:
        if place.nesting == MAX_NESTING:
            self._notes.add(node.path, "The object is nested too deeply and was left out.")
            return
        self._notes.add(
            node.path, "The object's properties became separate fields with its name as prefix."
        )
        label = to_line(node.pop_text("title")) or _to_words(name)
        object_place = replace(
            place,
            prefix=f"{place.prefix}{name[:100]}_",
            label=f"{place.label}{label[:60]}: ",
            required=required,
            nesting=place.nesting + 1,
        )
        self.add_properties(node, object_place)

    def _add_list(self, name: str, node: Node, place: _Place, *, required: bool) -> None:
        if required and node.keywords.get("minItems") == 1:
            node.pop_keyword("minItems")
        item = self.build_node(node.items) if node.items else Node(node.path)
        kind = find_kind(item)
        if item.is_circular and kind is None:
            return
        if kind != "object" or not item.properties:
            if "prefixItems" in node.keywords and not node.items:
                self._notes.add(node.path, "The positions of the list are not distinguished.")
                node.pop_keyword("prefixItems")
            definition = {**convert_scalar(item, self._notes), "multiple": True}
            self._add_field(name, node, place, definition, required=required)
            self._warn_item_leftovers(item)
        elif place.is_table:
            self._notes.add(node.path, "A table cannot contain another table: it was left out.")
        else:
            self._add_table(name, node, item, place, required=required)

    def _add_table(
        self, name: str, node: Node, row: Node, place: _Place, *, required: bool
    ) -> None:
        row_description = row.pop_text("description")
        table_place = _Place([], Keys(self._notes), is_table=True, nesting=place.nesting + 1)
        self.add_properties(row, table_place)
        if not table_place.fields:
            self._notes.add(node.path, "The rows of the table contain nothing that can be labeled.")
            return
        node.keywords.setdefault("description", row_description)
        definition = {"type": "table", "columns": table_place.fields}
        self._add_field(name, node, place, definition, required=required)

    def _add_field(
        self, name: str, node: Node, place: _Place, definition: dict[str, Any], *, required: bool
    ) -> None:
        title = to_line(node.pop_text("title"), MAX_TITLE)
        full_name = place.prefix + name
        field = {
            "key": place.keys.create_key(full_name, path=node.path),
            "label": to_title(place.label + (title or _to_words(name)), self._notes, node.path),
            "required": required,
            "description": to_description(node.pop_text("description"), self._notes, node.path),
            **definition,
        }
        place.fields.append(field)
        if node.properties:
            self._notes.add(
                node.path, "The value need not be an object: its properties were left out."
            )
        if node.items and find_kind(node) != "array":
            self._notes.add(node.path, "The value need not be a list: its items were left out.")
        self._warn_leftovers(node)

    def _warn_item_leftovers(self, item: Node) -> None:
        for name in ("title", "description"):
            item.pop_keyword(name)
        self._warn_leftovers(item)

    def _warn_leftovers(self, node: Node) -> None:
        if node.keywords:
            names = ", ".join(to_line(name, 64) for name in sorted(node.keywords)[:20])
            self._notes.add(node.path, f"Not carried over: {names}.")


def _to_words(name: str) -> str:
    """Return a property's name as a label; plain snake_case is converted to words."""
    label = name.replace("_", " ").capitalize() if to_snake_case(name, "field") == name else name
    return to_line(label)
