"""Compile conditions to a tree of tests, cheapest test first within each group."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.engines.conditions.attributes import kind_of, operators_of
from app.engines.conditions.facts import Facts, excerpt
from app.engines.conditions.operators import ConditionError, Made, Test, make

MAX_DEPTH = 5
MAX_CONDITIONS = 100
MAX_PATTERNS = 20
"""The maximum number of conditions with patterns; each pattern uses additional memory."""

_TEXT_COST = 50
"""The cost factor of a test on a document's text, which is much longer than other values."""


Key = tuple[str, frozenset[str]]
"""An attribute and folded texts; in each matching document the attribute has one of the texts."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    attribute: str
    operator: str
    value: object
    made: Made

    @property
    def test(self) -> Test:
        return self.made.test

    @property
    def cost(self) -> int:
        return self.made.cost * (_TEXT_COST if self.attribute == "text" else 1)

    @property
    def key(self) -> Key | None:
        return None if self.made.texts is None else (self.attribute, self.made.texts)

    def leaves(self) -> Iterator["_Leaf"]:
        yield self

    def explain(self, facts: Facts) -> dict[str, Any]:
        matched = self.made.test(facts)
        return {
            "attribute": self.attribute,
            "operator": self.operator,
            "value": self.value,
            "actual": self._shown(facts, found=matched != self.operator.startswith("not_")),
            "matched": matched,
        }

    def _shown(self, facts: Facts, *, found: bool) -> object:
        actual = facts.values.get(self.attribute)
        if not isinstance(actual, str):
            return actual
        place = self.made.place(facts) if found and self.made.place is not None else 0
        return excerpt(actual, place)


@dataclass(frozen=True, slots=True)
class _Group:
    mode: str
    members: tuple["_Leaf | _Group", ...]
    test: Test
    cost: int

    @property
    def key(self) -> Key | None:
        if self.mode == "any" and len(self.members) != 1:
            return None
        keys = (member.key for member in self.members)
        return next((key for key in keys if key is not None and key[0] != "text"), None)

    def leaves(self) -> Iterator[_Leaf]:
        for member in self.members:
            yield from member.leaves()

    def explain(self, facts: Facts) -> dict[str, Any]:

        explained = [member.explain(facts) for member in self.members]
        results = [explanation["matched"] for explanation in explained]
        # An empty group matches in both modes, because no condition fails.

        matched = all(results) if self.mode == "all" else any(results) or not results
        return {self.mode: explained, "matched": matched}


class Compiled:
    """The compiled conditions of a rule.

    `attributes` are the attributes used, and `size` is the number of conditions. `key`, if not
    None, is an attribute and a set of values; every matching document has one of these values.
    Callers with many rules use it to skip rules that cannot match.
    """

    def __init__(self, root: _Group) -> None:
        leaves = list(root.leaves())
        self.matches = root.test
        self.explain = root.explain
        self.key = root.key
        self.size = len(leaves)
        self.attributes = frozenset(leaf.attribute for leaf in leaves)


def compile_conditions(conditions: Mapping[str, Any]) -> Compiled:
    """Compile {all | any: [condition or group]}; empty conditions match every document.

    A condition is {attribute, operator, value}. The caller has validated the shape with the API's
    schema. Raises ConditionError for the first invalid condition.
    """
    root = _compile_group(conditions, "", depth=1) if conditions else _create_group("all", ())
    compiled = Compiled(root)
    if compiled.size > MAX_CONDITIONS:
        raise ConditionError("", f"Use at most {MAX_CONDITIONS} conditions.")
    if sum(leaf.operator == "matches" for leaf in root.leaves()) > MAX_PATTERNS:
        raise ConditionError("", f"Use at most {MAX_PATTERNS} conditions with patterns.")
    return compiled


def _compile_group(group: Mapping[str, Any], path: str, *, depth: int) -> _Group:
    mode = "all" if "all" in group else "any"
    here = f"{path}{mode}"
    if depth > MAX_DEPTH:
        raise ConditionError(here, f"Groups can be nested at most {MAX_DEPTH} deep.")
    if not group[mode] and depth > 1:
        raise ConditionError(here, "A nested group needs at least one condition.")
    if len(group[mode]) > MAX_CONDITIONS:
        raise ConditionError(here, f"Use at most {MAX_CONDITIONS} conditions.")
    members: list[_Leaf | _Group] = []
    for index, member in enumerate(group[mode]):
        place = f"{here}.{index}."
        if "attribute" in member:
            members.append(_compile_leaf(member, place))
        else:
            members.append(_compile_group(member, place, depth=depth + 1))
    return _create_group(mode, tuple(members))


def _create_group(mode: str, members: tuple[_Leaf | _Group, ...]) -> _Group:
    by_cost = sorted(members, key=lambda member: member.cost)
    tests = tuple(member.test for member in by_cost)
    cost = sum(member.cost for member in members)
    if not tests:
        return _Group(mode, members, lambda _: True, cost)
    if len(tests) == 1:
        return _Group(mode, members, tests[0], cost)

    def all_of(facts: Facts) -> bool:
        for test in tests:  # noqa: SIM110 - a generator would take twice the time
            if not test(facts):
                return False
        return True

    def any_of(facts: Facts) -> bool:
        for test in tests:  # noqa: SIM110 - as above
            if test(facts):
                return True
        return False

    return _Group(mode, members, all_of if mode == "all" else any_of, cost)


def _compile_leaf(condition: Mapping[str, Any], path: str) -> _Leaf:
    attribute, operator = condition["attribute"], condition["operator"]
    value = condition.get("value")
    kind = kind_of(attribute)
    if kind is None:
        raise ConditionError(f"{path}attribute", "This attribute does not exist.")
    if operator not in operators_of(kind):
        allowed = ", ".join(operators_of(kind))
        raise ConditionError(f"{path}operator", f"Use an operator of this attribute: {allowed}.")
    try:
        made = make(attribute, kind, operator, value)
    except ConditionError as refused:
        raise ConditionError(f"{path}{refused.path}", refused.message) from None
    return _Leaf(attribute, operator, value, made)
