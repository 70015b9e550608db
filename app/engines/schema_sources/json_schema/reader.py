"""Read a JSON Schema: members of objects become fields, lists of objects become tables."""

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
MAX_TITLE = 4 * MAX_NAME  # longer titles are cut off later anyway


def read_json_schema(content: object) -> SourceSchema:
    """Read a JSON Schema, given as JSON or its text. Raises SourceError."""
    root = parse_json(content)
    if not isinstance(root, dict):
        raise SourceError("", "must be an object: a JSON Schema")
    notes = Notes()
    reader = _Reader(Resolver(root, notes), notes)
    whole_of_it = [Part(root, "", frozenset({"#"}))]
    node = reader.node(whole_of_it)
    name = to_title(node.text("title"), notes, "", MAX_NAME)
    description = to_description(node.text("description"), notes, "", 10_000)
    place = _Place(into=[], keys=Keys(notes))
    if find_kind(node) == "object":
        reader.members(node, place)
    elif find_kind(node) is not None:
        notes.add("", "The schema does not describe an object: it became one field.")
        whole = "items" if find_kind(node) == "array" else "value"
        reader.member(whole, whole_of_it, place, required=True)
    return SourceSchema(
        fields=finish_fields(place.into, notes),
        warnings=notes.listed(),
        name=name or None,
        document_type=to_snake_case(name, "document") if name else None,
        description=description,
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """The target for new fields: the schema's list, or a table's columns.

    `prefix` and `label` come from the enclosing objects; `required` is True if all of these are
    required.
    """

    into: list[Field]
    keys: Keys
    prefix: str = ""
    label: str = ""
    required: bool = True
    nesting: int = 0
    table: bool = False


class _Reader:
    def __init__(self, resolver: Resolver, notes: Notes) -> None:
        self._resolver = resolver
        self._notes = notes

    def node(self, parts: list[Part]) -> Node:
        """Return the node for the parts, with its alternatives merged."""
        return merge_alternatives(self._resolver.node(parts), self._resolver, self._notes)

    def members(self, node: Node, place: _Place) -> None:
        """Add the members of an object, each as one or more fields."""
        for name, parts in node.properties.items():
            required = place.required and name in node.required
            self.member(name, parts, place, required=required)
        for name in sorted(node.required - node.properties.keys())[:100]:
            self._notes.add(node.path, f"{to_line(name, 64)} is required but not described.")
        for handled in ("title", "description"):
            node.take(handled)
        self._warn_leftovers(node)

    def member(self, name: str, parts: list[Part], place: _Place, *, required: bool) -> None:
        """Add a member called `name`."""
        most = MAX_COLUMNS if place.table else MAX_FIELDS
        node = self.node(parts)
        if node.never:
            self._notes.add(node.path, "No value is allowed here: it was left out.")
        elif node.circular and find_kind(node) is None:
            return  # the warning was already added
        elif len(place.into) == most:
            raise SourceError(node.path, f"exceeds the limit of {most} fields")
        elif find_kind(node) == "object" and node.properties:
            self._object(name, node, place, required=required)
        elif find_kind(node) == "array":
            self._list(name, node, place, required=required)
        else:
            self._add(name, node, place, convert_scalar(node, self._notes), required=required)

    def _object(self, name: str, node: Node, place: _Place, *, required: bool) -> None:
        if place.nesting == MAX_NESTING:
            self._notes.add(node.path, "The object is nested too deeply and was left out.")
            return
        self._notes.add(
            node.path, "The object's members became separate fields with its name as prefix."
        )
        label = to_line(node.text("title")) or _to_words(name)
        around = replace(
            place,
            prefix=f"{place.prefix}{name[:100]}_",
            label=f"{place.label}{label[:60]}: ",
            required=required,
            nesting=place.nesting + 1,
        )
        self.members(node, around)

    def _list(self, name: str, node: Node, place: _Place, *, required: bool) -> None:
        if required and node.keywords.get("minItems") == 1:
            node.take("minItems")
        item = self.node(node.items) if node.items else Node(node.path)
        kind = find_kind(item)
        if item.circular and kind is None:
            return
        if kind != "object" or not item.properties:
            if "prefixItems" in node.keywords and not node.items:
                self._notes.add(node.path, "The positions of the list are not distinguished.")
                node.take("prefixItems")
            members = {**convert_scalar(item, self._notes), "multiple": True}
            self._add(name, node, place, members, required=required)
            self._warn_lost(item)
        elif place.table:
            self._notes.add(node.path, "A table cannot contain another table: it was left out.")
        else:
            self._table(name, node, item, place, required=required)

    def _table(self, name: str, node: Node, row: Node, place: _Place, *, required: bool) -> None:
        about = row.text("description")
        inside = _Place([], Keys(self._notes), table=True, nesting=place.nesting + 1)
        self.members(row, inside)
        if not inside.into:
            self._notes.add(node.path, "The rows of the table contain nothing that can be labeled.")
            return
        node.keywords.setdefault("description", about)
        members = {"type": "table", "columns": inside.into}
        self._add(name, node, place, members, required=required)

    def _add(
        self, name: str, node: Node, place: _Place, members: dict[str, Any], *, required: bool
    ) -> None:
        title = to_line(node.text("title"), MAX_TITLE)
        called = place.prefix + name
        field = {
            "key": place.keys.take(called, path=node.path),
            "label": to_title(place.label + (title or _to_words(name)), self._notes, node.path),
            "required": required,
            "description": to_description(node.text("description"), self._notes, node.path),
            **members,
        }
        place.into.append(field)
        if node.properties:
            self._notes.add(
                node.path, "The value is not only an object: its members were left out."
            )
        if node.items and find_kind(node) != "array":
            self._notes.add(node.path, "The value is not only a list: its items were left out.")
        self._warn_leftovers(node)

    def _warn_lost(self, item: Node) -> None:
        for name in ("title", "description"):
            item.take(name)
        self._warn_leftovers(item)

    def _warn_leftovers(self, node: Node) -> None:
        if node.keywords:
            names = ", ".join(to_line(name, 64) for name in sorted(node.keywords)[:20])
            self._notes.add(node.path, f"Not carried over: {names}.")


def _to_words(name: str) -> str:
    """Return a member's name as a label; plain snake_case is converted to words."""
    plain = name.replace("_", " ").capitalize() if to_snake_case(name, "field") == name else name
    return to_line(plain)
