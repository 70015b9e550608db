"""Compiled rules, and the search for those that a document matches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson

from app.engines.conditions import METADATA, Compiled, Facts, compile_conditions
from app.workflow.routing_rules.models import RoutingRule

_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Rule:
    """A compiled rule; `id` is None if the rule is not saved."""

    id: UUID | None
    name: str
    position: int
    enabled: bool
    compiled: Compiled
    stop: bool
    team_id: UUID | None
    user_id: UUID | None
    strategy: str | None
    priority: int | None
    due_in_hours: int | None
    schema_id: UUID | None
    cursor_user_id: UUID | None = None

    @property
    def names_somebody(self) -> bool:
        """Return True if the action sets an assignee."""
        return self.team_id is not None or self.user_id is not None


def of_record(record: RoutingRule) -> Rule:
    """Compile a saved rule, whose conditions were validated when it was saved."""
    return Rule(
        id=record.id,
        name=record.name,
        position=record.position,
        enabled=record.enabled,
        compiled=compiled(record.conditions),
        stop=record.stop,
        cursor_user_id=record.cursor_user_id,
        **record.action,
    )


def compiled(conditions: dict[str, Any]) -> Compiled:
    """Compile conditions. Raises `app.engines.conditions.ConditionError`.

    The cache key is the content of the conditions, so an edited rule needs no invalidation.
    """
    return _compiled(orjson.dumps(conditions))


@lru_cache(_KEPT)
def _compiled(conditions: bytes) -> Compiled:
    return compile_conditions(orjson.loads(conditions))


def attributes(rules: Iterable[Rule]) -> frozenset[str]:
    """Return the attributes that the enabled rules need."""
    return frozenset().union(*(one.compiled.attributes for one in rules if one.enabled))


def facts(row: Any, wanted: frozenset[str]) -> Facts:
    """Return the values of a document's row that conditions need."""
    values = row._mapping  # noqa: SLF001 - SQLAlchemy's public name of it
    found = {name: values[name] for name in wanted if not name.startswith(METADATA)}
    if found.get("schema_id") is not None:
        found["schema_id"] = str(found["schema_id"])
    for key, value in (getattr(row, "metadata", None) or {}).items():
        found[f"{METADATA}{key}"] = value
    return Facts(found)


class RuleSet:
    """Ordered rules, indexed to be matched with many documents.

    In a large set, most rules require one vendor, type or schema out of many. They are indexed by
    that value, and only those with the document's value are evaluated.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = [rule for rule in rules if rule.enabled]
        self._always: list[int] = []
        self._by_text: dict[str, dict[str, list[int]]] = {}
        for place, rule in enumerate(self._rules):
            if rule.compiled.key is None:
                self._always.append(place)
                continue
            attribute, texts = rule.compiled.key
            table = self._by_text.setdefault(attribute, {})
            for text in texts:
                table.setdefault(text, []).append(place)

    def matching(self, document: Facts) -> list[Rule]:
        """Return the matching enabled rules in order, up to the first that stops."""
        places = self._always.copy()
        for attribute, table in self._by_text.items():
            text = document.folded(attribute)
            if text is not None:
                places += table.get(text, ())
        places.sort()
        found = []
        for place in places:
            rule = self._rules[place]
            if rule.compiled.matches(document):
                found.append(rule)
                if rule.stop:
                    break
        return found


@dataclass(frozen=True, slots=True)
class Wanted:
    """Merged actions of the rules that a document matches; later rules override earlier ones.

    `by` is the rule that sets the assignee.
    """

    by: Rule | None
    priority: int | None
    due_in_hours: int | None
    schema_id: UUID | None


def wanted(matched: Sequence[Rule]) -> Wanted:
    """Merge the actions of the matched rules in their order."""
    by = priority = due_in_hours = schema_id = None
    for rule in matched:
        by = rule if rule.names_somebody else by
        priority = priority if rule.priority is None else rule.priority
        due_in_hours = due_in_hours if rule.due_in_hours is None else rule.due_in_hours
        schema_id = rule.schema_id or schema_id
    return Wanted(by, priority, due_in_hours, schema_id)
