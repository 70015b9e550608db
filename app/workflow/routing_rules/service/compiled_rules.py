"""Compiled rules, and the search for the rules that a document matches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Row

from app.engines.conditions import METADATA, CompiledConditions, Facts, compile_conditions
from app.workflow.routing_rules.models import RoutingRule

_CACHE_SIZE = 1000


@dataclass(frozen=True, slots=True)
class Rule:
    """A compiled rule; `id` is None if the rule is not saved."""

    id: UUID | None
    name: str
    position: int
    enabled: bool
    compiled: CompiledConditions
    stop: bool
    team_id: UUID | None
    user_id: UUID | None
    strategy: str | None
    priority: int | None
    due_in_hours: int | None
    schema_id: UUID | None
    cursor_user_id: UUID | None = None

    @property
    def has_assignee(self) -> bool:
        """Return True if the action sets an assignee."""
        return self.team_id is not None or self.user_id is not None


def compile_rule(record: RoutingRule) -> Rule:
    """Compile a saved rule, whose conditions were validated when it was saved."""
    return Rule(
        id=record.id,
        name=record.name,
        position=record.position,
        enabled=record.enabled,
        compiled=compile_cached(record.conditions),
        stop=record.stop,
        cursor_user_id=record.cursor_user_id,
        **record.action,
    )


def compile_cached(conditions: dict[str, Any]) -> CompiledConditions:
    """Compile conditions. Raises `app.engines.conditions.ConditionError`.

    The cache key is the content of the conditions, so an edited rule needs no invalidation.
    """
    return _compile_json(orjson.dumps(conditions))


@lru_cache(_CACHE_SIZE)
def _compile_json(conditions: bytes) -> CompiledConditions:
    return compile_conditions(orjson.loads(conditions))


def list_attributes(rules: Iterable[Rule]) -> frozenset[str]:
    """Return the attributes that the enabled rules need."""
    return frozenset().union(*(rule.compiled.attributes for rule in rules if rule.enabled))


def build_facts(row: Row[Any], attributes: frozenset[str]) -> Facts:
    """Return the values that conditions need from a document's row."""
    values = row._mapping  # noqa: SLF001 - public in SQLAlchemy
    facts = {name: values[name] for name in attributes if not name.startswith(METADATA)}
    if facts.get("schema_id") is not None:
        facts["schema_id"] = str(facts["schema_id"])
    for key, value in (getattr(row, "metadata", None) or {}).items():
        facts[f"{METADATA}{key}"] = value
    return Facts(facts)


class RuleSet:
    """Ordered rules, indexed for matching with many documents.

    In a large set, most rules require one value out of many, such as a vendor, type or schema. The
    rules are indexed by that value, and only rules with the document's value are evaluated.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = [rule for rule in rules if rule.enabled]
        self._without_key: list[int] = []
        self._by_text: dict[str, dict[str, list[int]]] = {}
        for index, rule in enumerate(self._rules):
            if rule.compiled.key is None:
                self._without_key.append(index)
                continue
            attribute, texts = rule.compiled.key
            table = self._by_text.setdefault(attribute, {})
            for text in texts:
                table.setdefault(text, []).append(index)

    def find_matches(self, document: Facts) -> list[Rule]:
        """Return the matching enabled rules in order, up to the first rule with `stop`."""
        indexes = self._without_key.copy()
        for attribute, table in self._by_text.items():
            text = document.get_folded(attribute)
            if text is not None:
                indexes += table.get(text, ())
        indexes.sort()
        matches = []
        for index in indexes:
            rule = self._rules[index]
            if rule.compiled.matches(document):
                matches.append(rule)
                if rule.stop:
                    break
        return matches


@dataclass(frozen=True, slots=True)
class MergedAction:
    """Merged actions of the rules that a document matches; later rules override earlier rules.

    `assigning_rule` is the rule that sets the assignee.
    """

    assigning_rule: Rule | None
    priority: int | None
    due_in_hours: int | None
    schema_id: UUID | None


def merge_actions(rules: Sequence[Rule]) -> MergedAction:
    """Merge the actions of the matched rules in their order."""
    assigning_rule = priority = due_in_hours = schema_id = None
    for rule in rules:
        assigning_rule = rule if rule.has_assignee else assigning_rule
        priority = priority if rule.priority is None else rule.priority
        due_in_hours = due_in_hours if rule.due_in_hours is None else rule.due_in_hours
        schema_id = rule.schema_id or schema_id
    return MergedAction(assigning_rule, priority, due_in_hours, schema_id)
