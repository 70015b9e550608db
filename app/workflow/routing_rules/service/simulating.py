"""Simulation of routing, which writes nothing and uses up no round-robin turn."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from app.engines.conditions import METADATA, Facts
from app.kit import errors
from app.workflow.routing_rules.queries import documents as queries
from app.workflow.routing_rules.queries import records
from app.workflow.routing_rules.service import applying, checking
from app.workflow.routing_rules.service import rules as ready
from app.workflow.routing_rules.service.applying import Matched
from app.workflow.routing_rules.service.choosing import Choice
from app.workflow.routing_rules.service.rules import Rule

MAX_EXPLAINED = 50_000
"""Maximum number of conditions that one response explains, about 20 MB."""


class _Document(NamedTuple):
    """A stored or described document of a simulation; `facts` are the values that rules test."""

    id: UUID | None
    name: str | None
    schema_id: UUID | None
    labeled: bool
    waiting: bool
    facts: Facts


def simulate(
    *,
    artifact_ids: Sequence[UUID] | None = None,
    documents: Sequence[dict[str, Any]] | None = None,
    rules: Sequence[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return what the saved rules, or `rules` instead, would do with documents.

    The documents are processed in order, like a batch of routing: turns and loads carry over from
    one to the next. Raises 400 on a document that does not exist, on an invalid rule in `rules`,
    and if more than `MAX_EXPLAINED` conditions would be explained.
    """
    tried = _saved() if rules is None else _unsaved(rules)
    size = sum(rule.compiled.size + 1 for rule in tried if rule.enabled)
    asked = len(artifact_ids or documents or ())
    if size * asked > MAX_EXPLAINED:
        raise errors.invalid(
            "Too many documents for this number of conditions. Send fewer.",
            "documents" if artifact_ids is None else "artifact_ids",
            at_most=max(1, MAX_EXPLAINED // size),
        )
    wanted = ready.attributes(tried)
    found = _described(documents or ()) if artifact_ids is None else _stored(artifact_ids, wanted)
    rule_set = ready.RuleSet(tried)
    matched = [applying.of_row(one, rule_set.matching(one.facts)) for one in found]
    _, choices = applying.choose(matched)
    return {
        "documents": [
            _told(*item, rules=tried) for item in zip(found, matched, choices, strict=True)
        ]
    }


def _saved() -> list[Rule]:
    return [ready.of_record(record) for record in records.in_order()]


def _unsaved(rules: Sequence[dict[str, Any]]) -> list[Rule]:
    found = []
    for index, body in enumerate(rules):
        prefix = f"rules.{index}."
        compiled = checking.conditions(body["conditions"], prefix)
        checking.action(body["action"], prefix)
        members = {name: body[name] for name in ("name", "enabled", "stop")}
        found.append(
            Rule(id=None, position=index + 1, compiled=compiled, **members, **body["action"])
        )
    return found


def _stored(artifact_ids: Sequence[UUID], wanted: frozenset[str]) -> list[_Document]:
    found = {row.id: row for row in queries.facts(artifact_ids, wanted)}
    for index, artifact_id in enumerate(artifact_ids):
        if artifact_id not in found:
            raise errors.invalid("Must be the id of a document.", f"artifact_ids.{index}")
    return [
        _Document(
            row.id, row.name, row.schema_id, row.labeled, row.waiting, ready.facts(row, wanted)
        )
        for row in (found[one] for one in dict.fromkeys(artifact_ids))
    ]


def _described(documents: Sequence[dict[str, Any]]) -> list[_Document]:
    found = []
    for body in documents:
        values = {name: value for name, value in body.items() if name != "metadata"}
        for name in ("connector_id", "schema_id"):
            values[name] = None if body[name] is None else str(body[name])
        values |= {f"{METADATA}{key}": value for key, value in body["metadata"].items()}
        facts = Facts(values)
        found.append(
            _Document(
                None, body["name"], body["schema_id"], labeled=False, waiting=True, facts=facts
            )
        )
    return found


def _told(
    document: _Document, matched: Matched, choice: Choice, *, rules: Sequence[Rule]
) -> dict[str, Any]:
    explained, stopped = [], False
    for rule in rules:
        skipped = "disabled" if not rule.enabled else "stopped" if stopped else None
        tree = None if skipped else rule.compiled.explain(document.facts)
        fits = tree is not None and tree["matched"]
        stopped = stopped or (fits and rule.stop)
        explained.append(
            {
                "rule_id": rule.id,
                "name": rule.name,
                "position": rule.position,
                "matched": fits,
                "skipped_because": skipped,
                "conditions": tree,
            }
        )
    return {
        "artifact_id": document.id,
        "name": document.name,
        "waiting": document.waiting,
        "matched": [{"rule_id": one.id, "name": one.name} for one in matched.rules],
        "outcome": applying.outcome(matched, choice),
        "rules": explained,
    }
