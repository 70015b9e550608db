"""Routing of documents in batches, with a small number of SQL statements for each batch.

Only one batch per organization is routed at a time (`records.lock`), so that round-robin rules keep
their order and no load is counted twice. Documents are locked first, then their assignees, then the
rules.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from app.documents.artifacts.service import routing as artifacts
from app.identity.members.eligibility import lock_eligible_members
from app.identity.teams import service as teams
from app.kit import db, events
from app.kit.db import Checkpoint, ReportProgress
from app.kit.logging import get_logger
from app.kit.permissions import Role
from app.workflow.assignment.emitted_events import ASSIGNED, AssignedPayload
from app.workflow.assignment.queries.assignees import ArtifactAssignment, build_assignee
from app.workflow.assignment.service import assigning
from app.workflow.routing_rules.queries import documents, matches, records
from app.workflow.routing_rules.queries.documents import RoutingPosition
from app.workflow.routing_rules.queries.matches import RuleMatch
from app.workflow.routing_rules.service import assignees, compiled_rules, limits
from app.workflow.routing_rules.service.assignees import AssigneeChoice, AssigneeChooser
from app.workflow.routing_rules.service.compiled_rules import Rule
from app.workflow.routing_rules.service.matching import MatchedDocument, MatchResult, find_matches
from app.workflow.routing_rules.service.progress import ApplyProgress

select_matches = matches.select_matches

log = get_logger(__name__)

BATCH_SIZE = 1000


def route_ingested(artifact_ids: Sequence[UUID], checkpoint: Checkpoint = db.checkpoint) -> int:
    """Route ingested documents and make them available to labelers; return how many matched a rule.

    Documents that are already assigned are not assigned again, and neither are documents that the
    rules have processed, unless they were reprocessed. The call is therefore safe to repeat.
    `checkpoint` commits between batches. After `limits.MAX_JOB_SECONDS`, routing is requested again
    for the remaining documents.
    """
    remaining_ids = sorted(set(artifact_ids))
    ends_at = monotonic() + limits.MAX_JOB_SECONDS
    matched_count = 0
    while remaining_ids:
        batch = remaining_ids[:BATCH_SIZE]
        result = _route_and_release(batch)
        matched_count += len(result.matched_documents)
        remaining_ids = [*result.remaining_ids, *remaining_ids[BATCH_SIZE:]]
        if remaining_ids and monotonic() >= ends_at:
            artifacts.request_routing(remaining_ids)
            break
        if remaining_ids:
            checkpoint()
    return matched_count


def _route_and_release(ids: Sequence[UUID]) -> MatchResult:
    """Route a batch of ingested documents; make the processed documents available to labelers."""
    result = MatchResult()
    if records.has_enabled_rules():
        records.lock()
        result = _route_batch(documents.lock(ids, unrouted_only=True))
        for artifact_id in result.timed_out_ids:
            artifacts.release_unrouted_document(
                artifact_id, f"The rules took more than {limits.MAX_DOCUMENT_SECONDS} seconds."
            )
    artifacts.finish_routing([id_ for id_ in ids if id_ not in set(result.remaining_ids)])
    return result


def route_unassigned(
    checkpoint: Checkpoint,
    report: ReportProgress = lambda _done, _total: None,
    progress: ApplyProgress | None = None,
) -> int:
    """Route all ready, unassigned documents, oldest first; return how many matched a rule.

    `checkpoint` commits after each batch. `progress` is advanced in the same transaction. If this
    call is interrupted, the next call continues from the position that `progress` has stored for
    its job. Each batch reads the current rules. `report` is called after each batch.
    """
    progress = progress or ApplyProgress()
    total, processed_count, matched_count = documents.count_unassigned(), 0, 0
    while True:
        records.lock()
        batch = documents.list_unassigned(progress.position, progress.created_until, BATCH_SIZE)
        if not batch:
            if progress.advance(progress.position):
                log.info("routing.done", processed=processed_count, matched=matched_count)
                return matched_count
            checkpoint()
            continue
        locked_ids = set(documents.lock([row.id for row in batch], unrouted_only=False))
        result = _route_batch([row.id for row in batch if row.id in locked_ids])
        matched_count += len(result.matched_documents)
        positions = _list_processed_positions(batch, result.remaining_ids)
        progress.advance(positions[-1])
        checkpoint()
        processed_count += len(positions)
        report(processed_count, max(total, processed_count))
        log.info("routing.progress", processed=processed_count, total=max(total, processed_count))


def _list_processed_positions(
    batch: Sequence[RoutingPosition], remaining_ids: Sequence[UUID]
) -> Sequence[RoutingPosition]:
    """Return the positions in a batch that precede the first remaining document."""
    remaining = set(remaining_ids)
    remaining_indexes = (index for index, row in enumerate(batch) if row.id in remaining)
    return batch[: next(remaining_indexes, len(batch))]


def _route_batch(ids: Sequence[UUID]) -> MatchResult:
    rules = _lock_applicable_rules()
    if not ids or not rules:
        return MatchResult()
    result = find_matches(ids, rules)
    matched_documents = result.matched_documents
    if matched_documents:
        chooser, choices = _choose_and_lock_assignees(matched_documents)
        _write_assignments(matched_documents, choices)
        last_user_ids = {
            rule.id: chooser.last_user_ids[rule.position]
            for rule in rules
            if rule.position in chooser.last_user_ids
        }
        matches.record(
            [
                match
                for pair in zip(matched_documents, choices, strict=True)
                for match in _build_matches(*pair)
            ],
            {rule_id: user_id for rule_id, user_id in last_user_ids.items() if rule_id is not None},
        )
    return result


def _lock_applicable_rules() -> list[Rule]:
    """Lock the teams of the enabled rules, and return the rules except those of deleted teams."""
    rules = [
        compiled_rules.compile_rule(record) for record in records.list_in_order() if record.enabled
    ]
    team_ids = {rule.team_id for rule in rules if rule.team_id is not None}
    existing_ids = teams.lock_existing_teams(team_ids) if team_ids else set()
    return [rule for rule in rules if rule.team_id is None or rule.team_id in existing_ids]


def choose_assignees(
    matched_documents: Sequence[MatchedDocument],
) -> tuple[AssigneeChooser, list[AssigneeChoice]]:
    """Choose the assignee of each document, and return the chooser and the choices.

    The assignees are not locked. The choices are in the order of the documents. The chooser
    contains the last assigned user of each round-robin rule.
    """
    rules = {
        id(document.action.assigning_rule): document.action.assigning_rule
        for document in matched_documents
        if document.action.assigning_rule is not None
    }
    schema_ids = {document.schema_id for document in matched_documents if document.schema_id}
    chooser = AssigneeChooser(assignees.load_assignee_data(rules.values(), schema_ids))
    choices = [
        AssigneeChoice()
        if document.action.assigning_rule is None
        else chooser.choose(document.action.assigning_rule, document.schema_id)
        for document in matched_documents
    ]
    return chooser, choices


def _choose_and_lock_assignees(
    matched_documents: Sequence[MatchedDocument],
) -> tuple[AssigneeChooser, list[AssigneeChoice]]:
    """Choose assignees like `choose_assignees`, and lock them until the transaction ends.

    If a chosen user can no longer label when the user is locked, all assignees are chosen again.
    """
    while True:
        chooser, choices = choose_assignees(matched_documents)
        user_ids = {choice.user_id for choice in choices if choice.user_id is not None}
        if not user_ids or lock_eligible_members(user_ids, Role.labeler) == user_ids:
            return chooser, choices


def _write_assignments(
    matched_documents: Sequence[MatchedDocument], choices: Sequence[AssigneeChoice]
) -> None:
    now = db.utc_now()
    changes = [
        _build_assignment(*pair, now) for pair in zip(matched_documents, choices, strict=True)
    ]
    assigning.update_assignments(
        [change for change in changes if any(value is not None for value in change[1:])]
    )
    assigned_changes = [change for change in changes if change.assignees]
    if not assigned_changes:
        return
    due_times = {change.due_at for change in assigned_changes}
    user_counts = Counter(str(choice.user_id) for choice in choices if choice.user_id)
    team_counts = Counter(str(choice.team_id) for choice in choices if choice.team_id)
    payload: AssignedPayload = {
        "artifact_ids": [change.artifact_id for change in assigned_changes],
        "user_ids": sorted(user_counts),
        "team_ids": sorted(team_counts),
        "count": len(assigned_changes),
        "counts": user_counts,
        "team_counts": team_counts,
        "by": None,
        "due_at": due_times.pop() if len(due_times) == 1 else None,
    }
    events.emit(ASSIGNED, payload)


def _build_assignment(
    document: MatchedDocument, choice: AssigneeChoice, now: datetime
) -> ArtifactAssignment:
    has_assignee = choice.user_id is not None or choice.team_id is not None
    hours = document.action.due_in_hours
    return ArtifactAssignment(
        document.artifact_id,
        [build_assignee(choice.user_id, choice.team_id)] if has_assignee else None,
        document.action.priority,
        None if hours is None else now + timedelta(hours=hours),
        document.schema_id if document.action.schema_id is not None else None,
    )


def _build_matches(document: MatchedDocument, choice: AssigneeChoice) -> Iterator[RuleMatch]:
    assigning_rule = document.action.assigning_rule
    assigned_by = assigning_rule.id if assigning_rule else None
    outcome = matches.encode_outcome(
        {**build_outcome(document, choice), "assigned_by": assigned_by}
    )
    for rule in document.rules:
        assert rule.id is not None
        yield RuleMatch(document.artifact_id, rule.id, rule.name, outcome)


def build_outcome(document: MatchedDocument, choice: AssigneeChoice) -> dict[str, Any]:
    """Build the outcome for an artifact: its new assignee and other new values.

    Ids are UUID objects. Values that routing does not change are None.
    """
    rule = document.action.assigning_rule
    return {
        "team_id": choice.team_id,
        "user_id": choice.user_id,
        "strategy": rule.strategy if rule else None,
        "note": choice.note,
        "priority": document.action.priority,
        "due_in_hours": document.action.due_in_hours,
        "schema_id": document.schema_id if document.action.schema_id is not None else None,
    }
