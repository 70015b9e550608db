"""Merge the alternatives of `anyOf` and `oneOf` into one node, and warn about what is lost."""

from app.engines.schema_sources.json_schema.nodes import Node, Resolver, SchemaPart
from app.engines.schema_sources.json_schema.scalars import find_value_type
from app.engines.schema_sources.model import WarningCollector

MAX_NESTING = 16
_NUMBER_TYPES = {"integer", "number"}


def merge_alternatives(
    node: Node, resolver: Resolver, collector: WarningCollector, nesting: int = 0
) -> Node:
    """Merge the alternatives of `node` into its types, options and properties; return `node`."""
    groups, node.alternatives = node.alternatives, []
    for group in groups:
        if nesting == MAX_NESTING:
            collector.add(node.path, "The alternatives are nested too deeply and were left out.")
            return node
        _merge_branches(
            node, [_build_branch(part, resolver, collector, nesting) for part in group], collector
        )
    return node


def _build_branch(
    part: SchemaPart, resolver: Resolver, collector: WarningCollector, nesting: int
) -> Node:
    return merge_alternatives(resolver.build_node([part]), resolver, collector, nesting + 1)


def _merge_branches(node: Node, branches: list[Node], collector: WarningCollector) -> None:
    branches = [branch for branch in branches if not branch.allows_nothing]
    if not branches:
        node.allows_nothing = True
        return
    node.allows_null |= any(branch.is_nullable for branch in branches)
    value_types = {find_value_type(branch) for branch in branches}
    if find_value_type(node) == "object" or value_types == {"object"}:
        _merge_objects(node, branches, collector)
    elif value_types == {"choice"}:
        _merge_choices(node, branches, collector)
    elif value_types == {"array"}:
        node.types = {"array"}
        node.items.extend(branches[0].items)
        collector.add(node.path, "Only the first alternative was imported.")
    elif value_types == {None}:
        _warn_about_constraints(node, branches, collector)
    elif len(value_types) == 1 or value_types <= _NUMBER_TYPES:
        node.types = {str(value_types.pop())} if len(value_types) == 1 else {"number"}
        formats = [branch.keywords.get("format") for branch in branches]
        if formats[0] is not None and all(format_ == formats[0] for format_ in formats):
            node.keywords.setdefault("format", formats[0])
        _warn_about_constraints(node, branches, collector)
    else:
        node.types = {"string"}
        collector.add(node.path, "The alternatives have no common type: the field takes text.")


def _merge_objects(node: Node, branches: list[Node], collector: WarningCollector) -> None:
    """Merge objects: combine all properties, and require those that every alternative requires."""
    node.types = {"object"}
    required: set[str] | None = None
    for branch in branches:
        for name, parts in branch.properties.items():
            node.properties.setdefault(name, parts)
        required = set(branch.required) if required is None else required & branch.required
    node.required |= required or set()
    collector.add(node.path, "The properties of all alternatives were combined.")


def _merge_choices(node: Node, branches: list[Node], collector: WarningCollector) -> None:
    """Merge the options of all alternatives; the titles of constants become labels."""
    options: list[tuple[object, str]] = []
    for branch in branches:
        if branch.options is not None:
            options += branch.options
        elif "const" in branch.keywords:
            options.append((branch.keywords["const"], branch.pop_text("title")))
        else:
            options += [(value, "") for value in branch.keywords["enum"]]
    if node.options is not None or "enum" in node.keywords or "const" in node.keywords:
        collector.add(node.path, "Only one list of options was imported.")
        return
    node.options = options


def _warn_about_constraints(node: Node, branches: list[Node], collector: WarningCollector) -> None:
    if any(branch.keywords or branch.required for branch in branches):
        collector.add(
            node.path, "The constraints of the alternatives, except the type, were left out."
        )
