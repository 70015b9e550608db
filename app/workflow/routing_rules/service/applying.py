"""Routing documents: a batch at a time, in a few statements whatever its size.

Of one organization only one batch is routed at a time (`records.lock`), so that turns are taken one
after the other and nobody's load is counted twice. Documents are locked first, then the people they
go to, then the rules.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.identity.members.eligibility import lock_eligible
from app.identity.teams import service as teams
from app.kit import db, events
from app.kit.logging import get_logger
from app.kit.permissions import Role
from app.workflow.assignment import service as assignment
from app.workflow.assignment.service import Assigned
from app.workflow.routing_rules.queries import documents, records, trail, writing
from app.workflow.routing_rules.queries.writing import Routing
from app.workflow.routing_rules.service import choosing
from app.workflow.routing_rules.service import rules as ready
from app.workflow.routing_rules.service.choosing import Choice, Chooser
from app.workflow.routing_rules.service.rules import Rule, Wanted

log = get_logger(__name__)

BATCH = 1000
WITH_TEXT = 100
"""How many documents' texts are in memory at once, where a rule asks for the text."""

Checkpoint = Callable[[], None]
Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Matched:
    """Artifact with the rules that it matched, at least one."""

    artifact_id: UUID
    schema_id: UUID | None
    rules: list[Rule]
    wanted: Wanted


def route_ingested(artifact_ids: Sequence[UUID]) -> int:
    """Route documents that came in and make them available; return how many matched a rule.

    Those that somebody has assigned meanwhile are not assigned again, nor are those that a rule has
    matched already: it may be done twice.
    """
    ids = sorted(set(artifact_ids))
    matched = 0
    if records.any_enabled():
        records.lock()
        for start in range(0, len(ids), BATCH):
            matched += _route(documents.lock(ids[start : start + BATCH], fresh=True))
    artifacts.finish_routing(ids)
    return matched


def has_rules() -> bool:
    """Return True if new artifacts must wait for routing."""
    return records.any_enabled()


def route_waiting(
    checkpoint: Checkpoint,
    report: Report = lambda _done, _total: None,
) -> int:
    """Route all documents that are ready and assigned to nobody, the oldest first; how many matched
    a rule.

    `checkpoint` commits, after each batch: broken off, it begins anew with what is left. Rules are
    those of the moment, batch by batch. `report` is told how many of how many were looked at.
    """
    total, looked_at, routed, place = documents.count_waiting(), 0, 0, documents.START
    while True:
        records.lock()
        batch = documents.next_waiting(place, BATCH)
        if not batch:
            log.info("routing.done", looked_at=looked_at, matched=routed)
            return routed
        routed += _route(documents.lock([one.id for one in batch], fresh=False))
        checkpoint()
        place = batch[-1]
        looked_at += len(batch)
        report(looked_at, max(total, looked_at))
        log.info("routing.progress", looked_at=looked_at, total=max(total, looked_at))


def matches(artifact_id: UUID) -> Any:
    """A SELECT, for another statement, of the rules that matched a document, each when last: at,
    rule_id, rule_name, assigned (whether it said who gets the document) and note."""
    return trail.matches(artifact_id)


def match(ids: Sequence[UUID], rules: Sequence[Rule]) -> Iterator[Matched]:
    """Return the artifacts that match a rule, oldest first."""
    wanted, tried = ready.attributes(rules), ready.RuleSet(rules)
    size = WITH_TEXT if "text" in wanted else BATCH
    for start in range(0, len(ids), size):
        for row in documents.facts(ids[start : start + size], wanted):
            matched = tried.matching(ready.facts(row, wanted))
            if matched:
                yield of_row(row, matched)


def of_row(row: Any, matched: list[Rule]) -> Matched:
    """What the rules want for a document. One with label sets keeps its schema: they were made by
    it."""
    wanted = ready.wanted(matched)
    keeps = row.labeled and row.schema_id is not None
    schema_id = row.schema_id if keeps else wanted.schema_id or row.schema_id
    return Matched(row.id, schema_id, matched, wanted)


def _route(ids: Sequence[UUID]) -> int:
    rules = _in_force()
    found = list(match(ids, rules)) if ids and rules else []
    if found:
        chooser, choices = _choose(found)
        _write(found, choices)
        turns = {r.id: chooser.turns[r.position] for r in rules if r.position in chooser.turns}
        writing.record(
            [one for item in zip(found, choices, strict=True) for one in _routings(*item)],
            {rule_id: user_id for rule_id, user_id in turns.items() if rule_id is not None},
        )
    return len(found)


def _in_force() -> list[Rule]:
    """Return the enabled rules whose teams exist, with the teams locked."""
    rules = [ready.of_record(record) for record in records.in_order() if record.enabled]
    named = {rule.team_id for rule in rules if rule.team_id is not None}
    there = teams.lock_existing(named) if named else set()
    return [rule for rule in rules if rule.team_id is None or rule.team_id in there]


def choose(found: Sequence[Matched]) -> tuple[Chooser, list[Choice]]:
    """Whom each document goes to, as things are now."""
    giving = {id(one.wanted.by): one.wanted.by for one in found if one.wanted.by is not None}
    asked = choosing.people(giving.values(), {one.schema_id for one in found if one.schema_id})
    chooser = Chooser(asked)
    choices = [
        Choice() if one.wanted.by is None else chooser.choose(one.wanted.by, one.schema_id)
        for one in found
    ]
    return chooser, choices


def _choose(found: Sequence[Matched]) -> tuple[Chooser, list[Choice]]:
    """The same for good: whoever is chosen is there, and stays until the transaction ends."""
    while True:
        chooser, choices = choose(found)
        chosen = {one.user_id for one in choices if one.user_id is not None}
        if not chosen or lock_eligible(chosen, Role.labeler) == chosen:
            return chooser, choices


def _write(found: Sequence[Matched], choices: Sequence[Choice]) -> None:
    now = db.utc_now()
    given = [_assigned(*item, now) for item in zip(found, choices, strict=True)]
    assignment.assign_many([one for one in given if any(member is not None for member in one[1:])])
    assigned = [one for one in given if one.assignees]
    if not assigned:
        return
    due = {one.due_at for one in assigned}
    users = Counter(str(one.user_id) for one in choices if one.user_id)
    of_teams = Counter(str(one.team_id) for one in choices if one.team_id)
    events.emit(
        "artifacts.assigned",
        {
            "artifact_ids": [one.artifact_id for one in assigned],
            "user_ids": sorted(users),
            "team_ids": sorted(of_teams),
            "count": len(assigned),
            "counts": users,
            "team_counts": of_teams,
            "by": None,
            "due_at": due.pop() if len(due) == 1 else None,
        },
    )


def _assigned(one: Matched, choice: Choice, now: datetime) -> Assigned:
    assignees = None
    if choice.user_id or choice.team_id:
        assignees = [{"user_id": _text(choice.user_id), "team_id": _text(choice.team_id)}]
    hours = one.wanted.due_in_hours
    return Assigned(
        one.artifact_id,
        assignees,
        one.wanted.priority,
        None if hours is None else now + timedelta(hours=hours),
        one.schema_id if one.wanted.schema_id is not None else None,
    )


def _routings(one: Matched, choice: Choice) -> Iterator[Routing]:
    by = one.wanted.by
    told = writing.outcome({**outcome(one, choice), "assigned_by": by.id if by else None})
    for rule in one.rules:
        assert rule.id is not None
        yield Routing(one.artifact_id, rule.id, rule.name, told)


def outcome(one: Matched, choice: Choice) -> dict[str, Any]:
    """Return the values assigned to an artifact, with ids as UUIDs."""
    by = one.wanted.by
    return {
        "team_id": choice.team_id,
        "user_id": choice.user_id,
        "strategy": by.strategy if by else None,
        "note": choice.note,
        "priority": one.wanted.priority,
        "due_in_hours": one.wanted.due_in_hours,
        "schema_id": one.schema_id if one.wanted.schema_id is not None else None,
    }


def _text(identifier: UUID | None) -> str | None:
    return None if identifier is None else str(identifier)
