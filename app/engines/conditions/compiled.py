"""Conditions made ready: a tree of tests, each group's cheapest first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.engines.conditions.attributes import kind_of, operators_of
from app.engines.conditions.facts import Facts, excerpt
from app.engines.conditions.operators import ConditionError, Made, Test, make

MAX_DEPTH = 5
MAX_CONDITIONS = 100
MAX_PATTERNS = 20
"""How many conditions of a rule may be patterns: each takes memory of its own."""

_TEXT_COST = 50
"""How much more it costs to look through a document's text than at anything else of it."""


Key = tuple[str, frozenset[str]]
"""An attribute, and the folded texts of which it must have one."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    attribute: str
    operator: str
    value: Any
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

    def _shown(self, facts: Facts, *, found: bool) -> Any:
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
        told = [member.explain(facts) for member in self.members]
        verdicts = [one["matched"] for one in told]
        # Nothing that is asked is nothing that could fail, whichever word it stands under.
        matched = all(verdicts) if self.mode == "all" else any(verdicts) or not verdicts
        return {self.mode: told, "matched": matched}


class Compiled:
    """The conditions of a rule. `attributes` are those they ask for, `size` how many they are.

    `key`, if there is one, is what every document has that matches: who has many rules finds by it
    those that are worth a look.
    """

    def __init__(self, root: _Group) -> None:
        leaves = list(root.leaves())
        self.matches = root.test
        self.explain = root.explain
        self.key = root.key
        self.size = len(leaves)
        self.attributes = frozenset(leaf.attribute for leaf in leaves)


def compile_conditions(conditions: Mapping[str, Any]) -> Compiled:
    """Make {all | any: [condition or group]} ready; an empty one matches everything.

    A condition is {attribute, operator, value}; the shape is as the API's schema has it. Raises
    ConditionError at the first that breaks a rule.
    """
    root = _group(conditions, "", depth=1) if conditions else _grouped("all", ())
    compiled = Compiled(root)
    if compiled.size > MAX_CONDITIONS:
        raise ConditionError("", f"At most {MAX_CONDITIONS} conditions.")
    if sum(leaf.operator == "matches" for leaf in root.leaves()) > MAX_PATTERNS:
        raise ConditionError("", f"At most {MAX_PATTERNS} conditions with patterns.")
    return compiled


def _group(group: Mapping[str, Any], path: str, *, depth: int) -> _Group:
    mode = "all" if "all" in group else "any"
    here = f"{path}{mode}"
    if depth > MAX_DEPTH:
        raise ConditionError(here, f"Groups are nested {MAX_DEPTH} deep at most.")
    if not group[mode] and depth > 1:
        raise ConditionError(here, "A group inside another needs a condition.")
    if len(group[mode]) > MAX_CONDITIONS:
        raise ConditionError(here, f"At most {MAX_CONDITIONS} conditions.")
    members: list[_Leaf | _Group] = []
    for index, member in enumerate(group[mode]):
        place = f"{here}.{index}."
        if "attribute" in member:
            members.append(_leaf(member, place))
        else:
            members.append(_group(member, place, depth=depth + 1))
    return _grouped(mode, tuple(members))


def _grouped(mode: str, members: tuple[_Leaf | _Group, ...]) -> _Group:
    by_cost = sorted(members, key=lambda member: member.cost)
    tests = tuple(member.test for member in by_cost)
    cost = sum(member.cost for member in members)
    if not tests:
        return _Group(mode, members, lambda _: True, cost)
    if len(tests) == 1:
        return _Group(mode, members, tests[0], cost)

    def every(facts: Facts) -> bool:
        for test in tests:  # noqa: SIM110 - a generator would take twice the time
            if not test(facts):
                return False
        return True

    def some(facts: Facts) -> bool:
        for test in tests:  # noqa: SIM110 - as above
            if test(facts):
                return True
        return False

    return _Group(mode, members, every if mode == "all" else some, cost)


def _leaf(condition: Mapping[str, Any], path: str) -> _Leaf:
    attribute, operator = condition["attribute"], condition["operator"]
    value = condition.get("value")
    kind = kind_of(attribute)
    if kind is None:
        raise ConditionError(f"{path}attribute", "There is no such attribute.")
    if operator not in operators_of(kind):
        allowed = ", ".join(operators_of(kind))
        raise ConditionError(f"{path}operator", f"This attribute takes one of: {allowed}.")
    try:
        made = make(attribute, kind, operator, value)
    except ConditionError as refused:
        raise ConditionError(f"{path}{refused.path}", refused.message) from None
    return _Leaf(attribute, operator, value, made)
