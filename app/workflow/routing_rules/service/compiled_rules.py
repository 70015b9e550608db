"""Compile rules, match them against documents, and merge the actions of matching rules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from cachetools import LRUCache, cached

from app.engines.conditions.attributes import DocumentAttributes
from app.engines.conditions.compiled_conditions import CompiledConditions, compile_conditions
from app.engines.conditions.operators import MAX_PATTERN_BYTES, ConditionError
from app.kit.logging import get_logger
from app.workflow.routing_rules.models import RoutingRule

log = get_logger(__name__)

_CACHE_BYTES = 64 << 20
"""The maximum memory of the compiled conditions that a process caches for all organizations."""
_BYTES_PER_JSON_BYTE = 32
"""The memory of compiled conditions without their patterns, relative to the size of the JSON."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A routing rule with compiled conditions; `id` is None if the rule is not saved."""

    id: UUID | None
    name: str
    position: int
    enabled: bool
    compiled_conditions: CompiledConditions
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
        """Return whether the action sets an assignee."""
        return self.team_id is not None or self.user_id is not None


def compile_rule(record: RoutingRule) -> Rule:
    """Compile a saved rule, whose conditions were checked when the rule was saved.

    A rule that an earlier release saved may exceed a limit of this release. Such a rule is logged,
    and treated as disabled.
    """
    enabled = record.enabled
    try:
        compiled_conditions = get_compiled_conditions(record.conditions)
    except ConditionError as error:
        log.warning("routing.rule_skipped", rule_id=str(record.id), error=str(error))
        compiled_conditions, enabled = get_compiled_conditions({}), False
    return Rule(
        id=record.id,
        name=record.name,
        position=record.position,
        enabled=enabled,
        compiled_conditions=compiled_conditions,
        stop=record.stop,
        cursor_user_id=record.cursor_user_id,
        **record.action,
    )


def get_compiled_conditions(conditions: dict[str, Any]) -> CompiledConditions:
    """Return compiled conditions, from a cache if possible.

    Raises ConditionError if the conditions are invalid. The cache key is the content of the
    conditions, so editing a rule does not require invalidation.
    """
    return _compile_json(orjson.dumps(conditions)).compiled_conditions


class _CacheEntry(NamedTuple):
    """Compiled conditions, and the number of bytes that they use at most."""

    compiled_conditions: CompiledConditions
    size: int


_cache: LRUCache[bytes, _CacheEntry] = LRUCache(_CACHE_BYTES, getsizeof=lambda entry: entry.size)


@cached(_cache, key=lambda conditions: conditions, lock=Lock())
def _compile_json(conditions: bytes) -> _CacheEntry:
    compiled_conditions = compile_conditions(orjson.loads(conditions))
    pattern_bytes = compiled_conditions.pattern_count * MAX_PATTERN_BYTES
    return _CacheEntry(compiled_conditions, len(conditions) * _BYTES_PER_JSON_BYTE + pattern_bytes)


def list_attributes(rules: Iterable[Rule]) -> frozenset[str]:
    """Return the names of the attributes that the conditions of enabled rules use."""
    return frozenset().union(
        *(rule.compiled_conditions.attributes for rule in rules if rule.enabled)
    )


class RuleSet:
    """The enabled rules in order, with an index that speeds up matching many documents.

    In a large set, most rules require a specific value of an attribute, such as a vendor, type or
    schema. These rules are indexed by this value, and are evaluated only for documents that have
    the value.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = [rule for rule in rules if rule.enabled]
        self._indexes_without_key: list[int] = []
        # Maps attributes to required values, and these to the indexes of rules in `_rules`.
        self._indexes_by_attribute: dict[str, dict[str, list[int]]] = {}
        for index, rule in enumerate(self._rules):
            if rule.compiled_conditions.key is None:
                self._indexes_without_key.append(index)
                continue
            attribute, values = rule.compiled_conditions.key
            indexes_by_value = self._indexes_by_attribute.setdefault(attribute, {})
            for value in values:
                indexes_by_value.setdefault(value, []).append(index)

    def find_matches(self, document: DocumentAttributes) -> list[Rule]:
        """Return the rules that match a document, in order, up to the first rule with `stop`.

        Raises EvaluationTimeout if the document has a time limit, and the rules exceed it.
        """
        indexes = self._indexes_without_key.copy()
        for attribute, indexes_by_value in self._indexes_by_attribute.items():
            value = document.get_folded(attribute)
            if value is not None:
                indexes += indexes_by_value.get(value, ())
        indexes.sort()
        matches = []
        for index in indexes:
            rule = self._rules[index]
            if rule.compiled_conditions.matches(document):
                matches.append(rule)
                if rule.stop:
                    break
        return matches


@dataclass(frozen=True, slots=True)
class MergedAction:
    """The merged actions of the rules that match a document. Later rules override earlier rules.

    `assigning_rule` is the rule that sets the assignee, or None.
    """

    assigning_rule: Rule | None
    priority: int | None
    due_in_hours: int | None
    schema_id: UUID | None


def merge_actions(rules: Sequence[Rule]) -> MergedAction:
    """Merge the actions of rules. For each property, the last rule that sets it is used."""
    assigning_rule = priority = due_in_hours = schema_id = None
    for rule in rules:
        assigning_rule = rule if rule.has_assignee else assigning_rule
        priority = priority if rule.priority is None else rule.priority
        due_in_hours = due_in_hours if rule.due_in_hours is None else rule.due_in_hours
        schema_id = rule.schema_id or schema_id
    return MergedAction(assigning_rule, priority, due_in_hours, schema_id)
