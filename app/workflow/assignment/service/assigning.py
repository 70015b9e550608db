"""Assignment of artifacts, and unassignment of users and teams that can no longer label."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Select

from app.documents.artifacts.models.rows import ArtifactRow
from app.documents.artifacts.service import bulk as artifact_bulk
from app.documents.artifacts.service import reading
from app.kit import bulk, errors, events
from app.kit.bulk import Failures
from app.kit.db import Checkpoint
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.workflow.assignment import emitted_events
from app.workflow.assignment.emitted_events import AssignedPayload, UnassignedPayload
from app.workflow.assignment.queries import assignees as queries
from app.workflow.assignment.queries.assignees import (
    ArtifactAssignment,
    Assignee,
    LockedArtifact,
    build_assignee,
)
from app.workflow.assignment.service import recipients
from app.workflow.tag_sets.queries import statuses

_NO_ELIGIBLE_ASSIGNEE_MESSAGE = (
    "All of these assignees have already labeled or skipped this document. Choose another labeler."
)


def assign(
    artifact_id: UUID,
    *,
    by: UUID,
    revision: int | None = None,
    user_ids: Sequence[UUID] | None = None,
    team_id: UUID | None = None,
    **due: datetime | None,
) -> ArtifactRow:
    """Assign an artifact: replace its assignees and, if the call has `due_at`, its due time.

    Without users and team, all assignees are removed. A labeler who has claimed the artifact keeps
    the claim. Emits `artifacts.assigned` for new assignments. Raises 404; 400 for an invalid
    `user_ids.N` or `team_id`; 409 `stale_precondition` if `revision` is outdated; 409 `conflict`
    with `details.state` if the artifact cannot be labeled, unless the call removes all assignees;
    409 `conflict` if all users have labeled it, or all team members have labeled or skipped it. If
    only some users have labeled the artifact, it is assigned to the other users.
    """
    assigner = _Assigner(by=by, user_ids=user_ids, team_id=team_id, due=due)
    assigner.lock_recipients()  # Users are locked before artifacts.
    if revision is not None:
        errors.check_revision(revision, reading.lock(artifact_id).revision)
    outcome = assigner.assign(reading.select_matching([artifact_id]))
    for error in outcome.errors_by_id.values():
        raise error
    if not outcome.assigned_ids:
        raise errors.not_found()
    return reading.get(artifact_id)


def bulk_assign(
    *,
    by: UUID,
    strategy: str,
    artifact_ids: Sequence[UUID] | None = None,
    filter: dict[str, Any] | None = None,  # noqa: A002 - the name of the request property
    expected_count: int | None = None,
    user_ids: Sequence[UUID] | None = None,
    team_id: UUID | None = None,
    **due: datetime | None,
) -> dict[str, Any]:
    """Assign many artifacts and return the outcome for each artifact.

    The strategy `everyone` assigns each artifact to all users or to the team. The other strategies
    assign each artifact to one labeler: `round_robin` to the next labeler in rotation,
    `least_loaded` to the labeler with the fewest open artifacts. An artifact is not assigned to
    users who have labeled it. Unless the strategy is `everyone`, it is not assigned to labelers
    whose tag set was rejected and sent to the pool. With a filter, each batch of 1,000 artifacts is
    assigned in a separate transaction (`bulk.run_in_batches`). In each batch, the most urgent
    artifacts are assigned first. `due` is as in `assign`.

    Emits `artifacts.assigned` once per transaction. Raises 400 for an invalid `user_ids.N` or
    `team_id`; 409 `conflict` with `details.count` if the filter does not match `expected_count`
    artifacts. The outcome is `not_found` for an artifact that does not exist, and `conflict` for an
    artifact that cannot be labeled (unless all assignees are removed), that none of the users or
    team members can label again, or that no longer matches the filter.
    """
    assigner = _Assigner(by=by, strategy=strategy, user_ids=user_ids, team_id=team_id, due=due)
    if filter is None:
        ids = artifact_ids or ()
        return bulk.build_result(ids, assigner.assign_batch(ids))
    assigner.lock_recipients()  # Validate the recipients even if the filter matches nothing.
    # Sorted by id, because rows sorted by urgency are far apart on disk (docs/decisions/0030).
    matched_ids = bulk.find(artifact_bulk.select_ids(filter), expected=expected_count)
    return bulk.run_in_batches(matched_ids, lambda ids: assigner.assign_batch(ids, filter))


class _AssignmentOutcome(NamedTuple):
    """The ids of the assigned artifacts, and the errors by id for artifacts not assigned."""

    assigned_ids: set[UUID]
    errors_by_id: dict[UUID, ApiError]


class _Assigner:
    """Assigns the artifacts of one request, in one or more transactions.

    The labelers' loads are kept from one transaction to the next.
    """

    def __init__(
        self,
        *,
        by: UUID,
        user_ids: Sequence[UUID] | None,
        team_id: UUID | None,
        due: Mapping[str, datetime | None],
        strategy: str = "everyone",
    ) -> None:
        self._by = by
        self._user_ids = list(user_ids or ())
        self._team_id = team_id
        self._sets_due, self._due_at = "due_at" in due, due.get("due_at")
        # An empty list of users removes the assignees.
        self._is_unassignment = team_id is None and not self._user_ids
        self._assigns_one_labeler = strategy != "everyone" and not self._is_unassignment
        self._counts_loads = strategy == "least_loaded"
        self._labelers: list[UUID] = []
        self._loads: Counter[UUID] | None = None

    def lock_recipients(self) -> None:
        """Validate the users or the team, and lock them until the transaction ends.

        Raises 400 if a user cannot label, or if the team does not exist. Unless the strategy is
        `everyone`, also raises 400 if the team has no labeler.
        """
        if self._team_id is None:
            self._labelers = recipients.lock_users(self._user_ids, Role.labeler)
        elif not self._assigns_one_labeler:
            recipients.lock_team(self._team_id)
        else:
            self._labelers = recipients.lock_team_members(self._team_id, Role.labeler)
            if not self._labelers:
                raise recipients.build_no_member_error(Role.labeler)

    def assign_batch(
        self, artifact_ids: Sequence[UUID], filters: dict[str, Any] | None = None
    ) -> Failures:
        """Assign artifacts in one transaction and return the errors by artifact id.

        With `filters`, only artifacts that still match are assigned. Raises the same errors as
        `lock_recipients`.
        """
        self.lock_recipients()
        outcome = self.assign(reading.select_matching(artifact_ids, filters))
        existing_ids = [*outcome.assigned_ids, *outcome.errors_by_id]
        missing_errors = bulk.build_not_found_errors(artifact_ids, existing_ids)
        if filters is not None:
            missing_errors = artifact_bulk.build_missing_errors(missing_errors)
        return outcome.errors_by_id | missing_errors

    def assign(self, selection: Select[Any]) -> _AssignmentOutcome:
        """Assign the selected artifacts and emit `artifacts.assigned` for new assignments."""
        locked_artifacts = queries.lock(selection)
        errors_by_id = {
            row.id: errors.conflict(
                f"This document cannot be labeled; its state is {row.closed_state}.",
                state=row.closed_state,
            )
            for row in locked_artifacts
            if row.closed_state is not None and not self._is_unassignment
        }
        open_artifacts = [row for row in locked_artifacts if row.id not in errors_by_id]
        assignees_by_id = self._choose_assignees(open_artifacts)
        errors_by_id |= {
            row.id: errors.conflict(_NO_ELIGIBLE_ASSIGNEE_MESSAGE)
            for row in open_artifacts
            if row.id not in assignees_by_id
        }
        effects = update_assignments(
            [
                ArtifactAssignment(artifact_id, assignees, due_at=self._due_at)
                for artifact_id, assignees in assignees_by_id.items()
            ],
            clears_due=self._sets_due and self._due_at is None,
        )
        # Repeating an assignment notifies nobody, unless the user had skipped the artifact.
        newly_assigned_ids = [
            row.id
            for row in open_artifacts
            if row.id in effects
            and (
                effects[row.id].deleted_skip
                or any(assignee not in row.assignees for assignee in assignees_by_id[row.id])
            )
        ]
        if newly_assigned_ids:
            self._emit_assigned(newly_assigned_ids, assignees_by_id)
        return _AssignmentOutcome(set(effects), errors_by_id)

    def _choose_assignees(self, rows: list[LockedArtifact]) -> dict[UUID, list[Assignee]]:
        """Choose the assignees of each artifact. Omit artifacts that no recipient can label."""
        if self._assigns_one_labeler:
            return self._distribute(rows)
        if self._team_id is not None:
            claimable_ids = [row.id for row in rows if row.labeled_by is not None]
            completed_ids = queries.find_completed_by_team(claimable_ids, self._team_id)
            team = [build_assignee(team_id=self._team_id)]
            return {row.id: team for row in rows if row.id not in completed_ids}
        assignees_by_id = {
            row.id: [
                build_assignee(user_id=user_id)
                for user_id in self._labelers
                if user_id not in (row.labeled_by or ())
            ]
            for row in rows
        }
        return {id_: users for id_, users in assignees_by_id.items() if users or not self._labelers}

    def _distribute(self, rows: list[LockedArtifact]) -> dict[UUID, list[Assignee]]:
        if self._loads is None:
            loads = queries.count_open_artifacts(self._labelers) if self._counts_loads else {}
            self._loads = Counter(loads)
        pool = recipients.LabelerPool(self._labelers, self._loads)
        rejected_labeler_ids = queries.list_rejected_labelers(row.id for row in rows)
        assignees_by_id = {}
        for row in sorted(rows, key=lambda row: (-row.urgency, row.urgent_at, row.id)):
            excluded_ids = {*(row.labeled_by or ()), *rejected_labeler_ids.get(row.id, ())}
            user_id = pool.find_least_loaded(excluded_ids)
            if user_id is not None:
                self._loads[user_id] += 1
                assignees_by_id[row.id] = [build_assignee(user_id=user_id)]
        return assignees_by_id

    def _emit_assigned(
        self, artifact_ids: list[UUID], assignees_by_id: Mapping[UUID, list[Assignee]]
    ) -> None:
        counts = Counter(
            assignee["user_id"]
            for artifact_id in artifact_ids
            for assignee in assignees_by_id[artifact_id]
            if assignee["user_id"] is not None
        )
        user_ids = [str(user_id) for user_id in self._labelers if str(user_id) in counts]
        is_same_for_all = all(
            counts[str(user_id)] == len(artifact_ids) for user_id in self._labelers
        )
        if not self._assigns_one_labeler and is_same_for_all:
            counts.clear()
        payload: AssignedPayload = {
            "artifact_ids": artifact_ids,
            "user_ids": user_ids,
            "team_ids": [self._team_id] if self._team_id and not self._assigns_one_labeler else [],
            "count": len(artifact_ids),
            "counts": counts,
            "by": self._by,
            "due_at": self._due_at,
        }
        events.emit(emitted_events.ASSIGNED, payload)


def update_assignments(
    assignments: Sequence[ArtifactAssignment], *, clears_due: bool = False
) -> dict[UUID, queries.AssignmentEffects]:
    """Update assignees and other values of artifacts; return the side effects by artifact id.

    See `queries.update_assignments`. The caller must have locked the assignees and schemas, and
    must have checked that they exist.
    """
    effects = queries.update_assignments(assignments, clears_due=clears_due) if assignments else {}
    # When a skip is deleted, the labeler's draft reserves the artifact again.
    if resumed_ids := [id_ for id_, effect in effects.items() if effect.resumes_draft]:
        statuses.update_statuses(resumed_ids)
    return effects


def unassign(assignee_id: UUID, checkpoint: Checkpoint, *, reason: str) -> None:
    """Unassign a user who can no longer label, or a team without labelers, from all artifacts.

    Does nothing, or stops after a batch, if the user or a member of the team can label. Safe to
    repeat. An artifact without other assignees returns to the pool of unassigned artifacts. Emits
    `artifacts.unassigned` for each batch and calls `checkpoint` after each batch.
    """
    while artifact_ids := queries.unassign(assignee_id):
        payload: UnassignedPayload = {
            "artifact_ids": artifact_ids,
            "assignee_id": assignee_id,
            "count": len(artifact_ids),
            "reason": reason,
        }
        events.emit(emitted_events.UNASSIGNED, payload)
        checkpoint()
