"""Assignment of artifacts, and unassignment of users and teams that can no longer label."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from app.documents.artifacts.models.documents import ArtifactRow
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
    LockedArtifact,
    build_assignee,
)
from app.workflow.assignment.service import recipients
from app.workflow.assignment.service.assigner import Assigner, Choices
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
    the claim. Users who have labeled a claimable artifact are not assigned. Skips of assigned users
    are deleted. Emits `artifacts.assigned` for new assignments. Raises 404; 400 for an invalid
    `user_ids.N` or `team_id`; 409 `stale_precondition` if `revision` is outdated; 409 `conflict`
    with `details.state` if the artifact cannot be labeled, unless the call removes all assignees;
    409 `conflict` if all users have labeled it, or all team members have labeled or skipped it.
    """
    assigner = _ArtifactAssigner(by=by, user_ids=user_ids, team_id=team_id, due=due)
    assigner.lock_recipients()  # Users are locked before artifacts.
    if revision is not None:
        errors.check_revision(revision, reading.lock(artifact_id).revision)
    for error in assigner.lock_and_assign([artifact_id]).values():
        raise error
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
    """Assign many artifacts and return the outcomes (`kit.bulk`).

    The strategy `everyone` assigns each artifact to all users or to the team. The other strategies
    assign each artifact to one labeler: `round_robin` to the next labeler in rotation,
    `least_loaded` to the labeler with the fewest open artifacts. An artifact is not assigned to
    users who have labeled it. Unless the strategy is `everyone`, it is not assigned to labelers
    whose tag set was rejected and sent to the pool. With a filter, each batch of 1,000 artifacts is
    assigned in a separate transaction (`bulk.run_in_batches`). In each batch, the most urgent
    artifacts are assigned first. If the call has `due_at`, the due times are replaced too.

    Emits `artifacts.assigned` once per transaction. Raises 400 for an invalid `user_ids.N` or
    `team_id`; 409 `conflict` with `details.count` if the filter does not match `expected_count`
    artifacts. The outcome is `not_found` for an artifact that does not exist, and `conflict` for an
    artifact that cannot be labeled (unless all assignees are removed), that none of the users or
    team members can label again, or that no longer matches the filter.
    """
    assigner = _ArtifactAssigner(
        by=by, strategy=strategy, user_ids=user_ids, team_id=team_id, due=due
    )
    if filter is None:
        ids = artifact_ids or ()
        return bulk.build_result(ids, assigner.assign_batch(ids))
    assigner.lock_recipients()  # Validate the recipients even if the filter matches nothing.
    # Sorted by id, because rows sorted by urgency are far apart on disk (docs/decisions/0030).
    matched_ids = bulk.find_ids(artifact_bulk.select_ids(filter), expected_count=expected_count)
    return bulk.run_in_batches(matched_ids, lambda ids: assigner.assign_batch(ids, filter))


class _ArtifactAssigner(Assigner[LockedArtifact]):
    """Assigns each artifact to all users or the team (strategy `everyone`), or to one labeler."""

    role = Role.labeler

    def __init__(
        self,
        *,
        by: UUID,
        user_ids: Sequence[UUID] | None,
        team_id: UUID | None,
        due: Mapping[str, datetime | None],
        strategy: str = "everyone",
    ) -> None:
        super().__init__(user_ids or (), team_id)
        self._by = by
        # `due` is empty if the due times do not change. If `due_at` is None, they are removed.
        self._sets_due, self._due_at = "due_at" in due, due.get("due_at")
        # An empty list of users removes the assignees.
        self._is_unassignment = team_id is None and not user_ids
        self._assigns_one_labeler = strategy != "everyone" and not self._is_unassignment
        self._team_assignees = (
            [build_assignee(team_id=team_id)] if team_id and not self._assigns_one_labeler else []
        )
        self._must_count_loads = strategy == "least_loaded"

    def lock_recipients(self) -> None:
        """Validate and lock the users, or the team.

        If each artifact is assigned to one member of the team, lock the eligible members too.
        """
        if self._team_id is not None and not self._assigns_one_labeler:
            recipients.lock_team(self._team_id)
        else:
            super().lock_recipients()

    def assign_batch(self, ids: Sequence[UUID], filters: dict[str, Any] | None = None) -> Failures:
        """Lock the recipients and assign artifacts; return the errors by artifact id.

        With `filters`, only artifacts that still match are assigned.
        """
        self.lock_recipients()
        return self.lock_and_assign(ids, filters)

    def lock_and_assign(
        self, ids: Sequence[UUID], filters: dict[str, Any] | None = None
    ) -> Failures:
        """Assign artifacts like `assign_batch`, to recipients that are already locked."""
        rows = {row.id: row for row in queries.lock(reading.select_matching(ids, filters))}
        failures: dict[UUID, ApiError] = {
            row.id: errors.conflict(
                f"This document cannot be labeled; its state is {row.closed_state}.",
                state=row.closed_state,
            )
            for row in rows.values()
            if row.closed_state is not None and not self._is_unassignment
        }
        failures |= self.assign({id_: row for id_, row in rows.items() if id_ not in failures})
        missing_errors = bulk.build_not_found_errors(ids, rows)
        if filters is not None:
            missing_errors = artifact_bulk.build_missing_errors(missing_errors)
        return failures | missing_errors

    def _choose_users(self, rows: Mapping[UUID, LockedArtifact]) -> Choices:
        if self._assigns_one_labeler:
            return self._choose_one_labeler(rows)
        if self._team_id is not None:
            claimable_ids = [id_ for id_, row in rows.items() if row.labeled_by is not None]
            completed_ids = queries.find_completed_by_team(claimable_ids, self._team_id)
            return {id_: [] for id_ in rows if id_ not in completed_ids}
        labeler_ids = {
            id_: [
                user_id for user_id in self._recipient_ids if user_id not in (row.labeled_by or ())
            ]
            for id_, row in rows.items()
        }
        return {id_: ids for id_, ids in labeler_ids.items() if ids or self._is_unassignment}

    def _choose_one_labeler(self, rows: Mapping[UUID, LockedArtifact]) -> Choices:
        if self._must_count_loads:
            self._loads.update(queries.count_open_artifacts(self._recipient_ids))
            self._must_count_loads = False
        rejected_labeler_ids = queries.find_rejected_labeler_ids(rows)
        excluded_ids = {
            row.id: {*(row.labeled_by or ()), *rejected_labeler_ids.get(row.id, ())}
            for row in sorted(rows.values(), key=lambda row: (-row.urgency, row.urgent_at, row.id))
        }
        return self._distribute(excluded_ids)

    def _assign_rows(self, rows: Mapping[UUID, LockedArtifact], choices: Choices) -> list[UUID]:
        assignees_by_id = {
            id_: self._team_assignees or [build_assignee(user_id) for user_id in choices[id_]]
            for id_ in rows
        }
        effects = update_assignments(
            [
                ArtifactAssignment(id_, assignees, due_at=self._due_at)
                for id_, assignees in assignees_by_id.items()
            ],
            clears_due=self._sets_due and self._due_at is None,
        )
        # An assignment is also new if the user had skipped the artifact.
        return [
            id_
            for id_, row in rows.items()
            if effects[id_].deleted_skip
            or any(assignee not in row.assignees for assignee in assignees_by_id[id_])
        ]

    def _emit_assigned(self, row_ids: Sequence[UUID], choices: Choices) -> None:
        counts = Counter(str(user_id) for id_ in row_ids for user_id in choices[id_])
        user_ids = [str(user_id) for user_id in self._recipient_ids if str(user_id) in counts]
        is_same_for_all = all(
            counts[str(user_id)] == len(row_ids) for user_id in self._recipient_ids
        )
        if not self._assigns_one_labeler and is_same_for_all:
            counts.clear()
        payload: AssignedPayload = {
            "artifact_ids": row_ids,
            "user_ids": user_ids,
            "team_ids": [self._team_id] if self._team_id and self._team_assignees else [],
            "count": len(row_ids),
            "counts": counts,
            "by": self._by,
            "due_at": self._due_at,
        }
        events.emit(emitted_events.ASSIGNED, payload)

    def _build_error(self, _row: LockedArtifact) -> ApiError:
        return errors.conflict(_NO_ELIGIBLE_ASSIGNEE_MESSAGE)


def update_assignments(
    assignments: Sequence[ArtifactAssignment], *, clears_due: bool = False
) -> dict[UUID, queries.AssignmentEffects]:
    """Update assignees and other values of artifacts; return the side effects by artifact id.

    None leaves a value unchanged. If `clears_due` is set, the due times of all artifacts in
    `assignments` are removed. The skips of users who are assigned directly are deleted. The result
    omits artifacts that do not exist. The caller must have locked the assignees and schemas, and
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
