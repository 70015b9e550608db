"""Compile conditions into a tree of tests; each group runs its cheapest test first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.engines.conditions.attributes import (
    MAX_METADATA_KEY_CHARS,
    DocumentAttributes,
    build_excerpt,
    get_operators,
    get_value_type,
)
from app.engines.conditions.operators import CompiledTest, ConditionError, Test, compile_test

MAX_DEPTH = 5
MAX_CONDITIONS = 100
MAX_PATTERNS = 20
"""The maximum number of conditions with patterns. Each pattern uses additional memory."""

_TEXT_COST = 50
"""The cost factor for tests on a document's text, which is much longer than other values."""

MatchKey = tuple[str, frozenset[str]]
"""An attribute, and the case-folded values that it may have in a matching document."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    """One condition with its compiled test: a leaf of the tree."""

    attribute: str
    operator: str
    value: object
    compiled: CompiledTest

    @property
    def test(self) -> Test:
        return self.compiled.test

    @property
    def cost(self) -> int:
        return self.compiled.cost * (_TEXT_COST if self.attribute == "text" else 1)

    @property
    def key(self) -> MatchKey | None:
        return (
            None
            if self.compiled.folded_values is None
            else (self.attribute, self.compiled.folded_values)
        )

    def iterate_leaves(self) -> Iterator["_Leaf"]:
        yield self

    def explain(self, document: DocumentAttributes) -> dict[str, Any]:
        is_match = self.compiled.test(document)
        return {
            "attribute": self.attribute,
            "operator": self.operator,
            "value": self.value,
            "actual": self._get_actual_value(document, is_match=is_match),
            "matched": is_match,
        }

    def _get_actual_value(self, document: DocumentAttributes, *, is_match: bool) -> object:
        """Return the attribute's value; for text, an excerpt near the match or from the start."""
        actual = document.values.get(self.attribute)
        if not isinstance(actual, str):
            return actual
        is_in_text = is_match != self.operator.startswith("not_")
        find_match = self.compiled.find_match
        return build_excerpt(actual, find_match(document) if is_in_text and find_match else 0)


@dataclass(frozen=True, slots=True)
class _Group:
    """A group of conditions and nested groups; `mode` is `all` or `any`."""

    mode: str
    children: tuple["_Leaf | _Group", ...]
    test: Test
    cost: int

    @property
    def key(self) -> MatchKey | None:
        if self.mode == "any" and len(self.children) != 1:
            return None
        keys = (child.key for child in self.children)
        return next((key for key in keys if key is not None and key[0] != "text"), None)

    def iterate_leaves(self) -> Iterator[_Leaf]:
        for child in self.children:
            yield from child.iterate_leaves()

    def explain(self, document: DocumentAttributes) -> dict[str, Any]:
        explanations = [child.explain(document) for child in self.children]
        results = [explanation["matched"] for explanation in explanations]
        # An empty group matches in both modes, because no condition fails.
        is_match = all(results) if self.mode == "all" else any(results) or not results
        return {self.mode: explanations, "matched": is_match}


class CompiledConditions:
    """The compiled conditions of a rule.

    `attributes` contains the attributes that the conditions use, and `size` is the number of
    conditions. `pattern_count` is the number of patterns, and `program_size` is the total number of
    their instructions. If `key` is not None, it contains an attribute and a set of values. In each
    matching document, the attribute has one of these values. Callers with many rules use `key` to
    skip rules that cannot match.
    """

    def __init__(self, root: _Group) -> None:
        leaves = list(root.iterate_leaves())
        self.matches = root.test
        self.explain = root.explain
        self.key = root.key
        self.size = len(leaves)
        self.attributes = frozenset(leaf.attribute for leaf in leaves)
        self.pattern_count = sum(leaf.operator == "matches" for leaf in leaves)
        self.program_size = sum(leaf.compiled.program_size for leaf in leaves)


def compile_conditions(conditions: Mapping[str, Any]) -> CompiledConditions:
    """Compile the conditions of a rule; empty conditions match every document.

    `conditions` is a group {all | any: [condition or group]}; a condition is {attribute, operator,
    value}. The caller must have validated this structure with the API schema. Raises ConditionError
    for the first problem.
    """
    _check_pattern_count(conditions)
    root = _compile_group(conditions, "", depth=1) if conditions else _create_group("all", ())
    compiled = CompiledConditions(root)
    if compiled.size > MAX_CONDITIONS:
        raise ConditionError("", f"Use at most {MAX_CONDITIONS} conditions.")
    return compiled


def count_patterns(conditions: Mapping[str, Any]) -> int:
    """Return the number of conditions with patterns, without compiling them."""
    count, pending = 0, [conditions]
    while pending:
        node = pending.pop()
        count += node.get("operator") == "matches"
        pending += (*node.get("all", ()), *node.get("any", ()))
    return count


def _check_pattern_count(conditions: Mapping[str, Any]) -> None:
    # Compiling patterns takes time, so they are counted first.
    if count_patterns(conditions) > MAX_PATTERNS:
        raise ConditionError("", f"Use at most {MAX_PATTERNS} conditions with patterns.")


def _compile_group(group: Mapping[str, Any], path: str, *, depth: int) -> _Group:
    mode = "all" if "all" in group else "any"
    group_path = f"{path}{mode}"
    if depth > MAX_DEPTH:
        raise ConditionError(group_path, f"Groups can be nested at most {MAX_DEPTH} levels deep.")
    if not group[mode] and depth > 1:
        raise ConditionError(group_path, "A nested group needs at least one condition.")
    if len(group[mode]) > MAX_CONDITIONS:
        raise ConditionError(group_path, f"Use at most {MAX_CONDITIONS} conditions.")
    children: list[_Leaf | _Group] = []
    for index, child in enumerate(group[mode]):
        child_path = f"{group_path}.{index}."
        if "attribute" in child:
            children.append(_compile_leaf(child, child_path))
        else:
            children.append(_compile_group(child, child_path, depth=depth + 1))
    return _create_group(mode, tuple(children))


def _create_group(mode: str, children: tuple[_Leaf | _Group, ...]) -> _Group:
    sorted_children = sorted(children, key=lambda child: child.cost)
    tests = tuple(child.test for child in sorted_children)
    cost = sum(child.cost for child in children)
    if not tests:
        return _Group(mode, children, lambda _: True, cost)
    if len(tests) == 1:
        return _Group(mode, children, tests[0], cost)

    def matches_all(document: DocumentAttributes) -> bool:
        for test in tests:  # noqa: SIM110 - a generator would take twice the time
            if not test(document):
                return False
        return True

    def matches_any(document: DocumentAttributes) -> bool:
        for test in tests:  # noqa: SIM110 - as above
            if test(document):
                return True
        return False

    return _Group(mode, children, matches_all if mode == "all" else matches_any, cost)


def _compile_leaf(condition: Mapping[str, Any], path: str) -> _Leaf:
    attribute, operator = condition["attribute"], condition["operator"]
    value = condition.get("value")
    value_type = get_value_type(attribute)
    if value_type is None:
        allowed_keys = f"`metadata.` with a key of 1 to {MAX_METADATA_KEY_CHARS} characters"
        raise ConditionError(f"{path}attribute", f"Use a known attribute, or {allowed_keys}.")
    if operator not in get_operators(value_type):
        allowed_operators = ", ".join(get_operators(value_type))
        raise ConditionError(
            f"{path}operator", f"Use an operator that this attribute supports: {allowed_operators}."
        )
    try:
        compiled = compile_test(attribute, value_type, operator, value)
    except ConditionError as error:
        raise ConditionError(f"{path}{error.path}", error.message) from None
    return _Leaf(attribute, operator, value, compiled)
