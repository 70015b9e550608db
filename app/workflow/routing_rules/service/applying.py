"""Routing of documents in batches, each in a few statements whatever its size.

Only one batch per organization is routed at a time (`records.lock`), so that turns follow one
another and no load is counted twice. Documents are locked first, then their assignees, then the
rules.
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
"""Maximum number of documents' texts in memory at once, if a rule needs the text."""

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
    """Route ingested documents, make them available, and return how many matched a rule.

    Documents that were assigned in the meantime or that a rule has matched already are not assigned
    again, so the call is safe to repeat.
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
    """Route all ready, unassigned documents, oldest first; return how many matched a rule.

    `checkpoint` commits after each batch; after an interruption, the next call starts with the
    documents that are left. Each batch reads the current rules. `report` receives the number of
    documents processed and the total.
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
    """Return a SELECT of the rules that matched a document, each with its latest match.

    Columns: at, rule_id, rule_name, assigned (True if the rule set the assignee), and note.
    """
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
    """Merge the actions of the rules that a document matched.

    A document with tag sets keeps its schema, because they were created with it.
    """
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
    there = teams.existing(named) if named else set()
    return [rule for rule in rules if rule.team_id is None or rule.team_id in there]


def choose(found: Sequence[Matched]) -> tuple[Chooser, list[Choice]]:
    """Choose the assignee of each document from current data, without locks."""
    giving = {id(one.wanted.by): one.wanted.by for one in found if one.wanted.by is not None}
    asked = choosing.people(giving.values(), {one.schema_id for one in found if one.schema_id})
    chooser = Chooser(asked)
    choices = [
        Choice() if one.wanted.by is None else chooser.choose(one.wanted.by, one.schema_id)
        for one in found
    ]
    return chooser, choices


def _choose(found: Sequence[Matched]) -> tuple[Chooser, list[Choice]]:
    """Choose the assignees and lock them, so that they stay members until the transaction ends."""
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
