"""Review decisions on many tag sets, by the same rules as single decisions."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from uuid import UUID

from app.identity.members.eligibility import lock_eligible_members
from app.kit import bulk, errors, events
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.schemas.artifact_schemas.service import drafts as schemas
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.emitted_events import build_accepted_payload, build_rejected_payload
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries import bulk as queries
from app.workflow.tag_sets.queries import deciding, drafts, locking, skips, statuses
from app.workflow.tag_sets.queries.bulk import ArtifactTagSet
from app.workflow.tag_sets.queries.locking import LockedReview
from app.workflow.tag_sets.service import rules
from app.workflow.tag_sets.service.decisions import (
    build_decision,
    check_decision,
    check_labeler_is_eligible,
)
from app.workflow.tag_sets.transitions import Action, TagSetStatus


def _get_max_rejections(tag_set: LockedReview) -> int | None:
    # `rules.get_version_rules` is not used, because it would compile every schema version.
    limit: int | None = {**schemas.DEFAULT_POLICY, **tag_set.review_policy}["max_rejections"]
    return limit


class _Batch:
    """The locked tag sets of a bulk request, and the other tag sets of their artifacts."""

    def __init__(
        self,
        action: Action,
        tag_set_ids: Sequence[UUID],
        caller: Caller,
        find_failures: bulk.FindFailures | None,
    ) -> None:
        self.action = action
        self.ids = list(dict.fromkeys(tag_set_ids))
        self.caller = caller
        tag_sets_by_id = {row.id: row for row in locking.lock_reviews(self.ids)}
        self.failures: dict[UUID, ApiError] = bulk.build_not_found_errors(self.ids, tag_sets_by_id)
        if find_failures is not None:
            self.failures.update(find_failures(self.ids))
        self.tag_sets = {
            tag_set_id: row
            for tag_set_id, row in tag_sets_by_id.items()
            if tag_set_id not in self.failures
        }
        self.team_ids = self._find_team_ids()
        self.merged_artifact_ids: set[UUID] = set()
        # The labeler id and the status of each tag set, by artifact id and tag set id.
        self.all_tag_sets: dict[UUID, dict[UUID, tuple[UUID | None, str]]] = defaultdict(dict)
        locked_tag_sets = tag_sets_by_id.values()
        rows: list[LockedReview | ArtifactTagSet] = [*locked_tag_sets]
        rows += queries.list_siblings(locked_tag_sets)
        for row in rows:
            self.all_tag_sets[row.artifact_id][row.id] = (row.labeler_id, row.status)
            if row.source == "merge" and row.status == "accepted":
                self.merged_artifact_ids.add(row.artifact_id)

    def _find_team_ids(self) -> list[UUID]:
        has_team = any(row.assignee_team_id is not None for row in self.tag_sets.values())
        return deciding.list_team_ids(self.caller.user_id) if has_team else []

    def check_tag_sets(self, check: Callable[[LockedReview], str]) -> list[LockedReview]:
        """Check the tag sets, record the failures, and return the tag sets that passed all checks.

        The tag sets are checked in the order of the request. `check` returns the new status of a
        tag set or raises ApiError. Later tag sets of the same artifact are checked against the new
        status.
        """
        valid_tag_sets = []
        for tag_set in (self.tag_sets[id_] for id_ in self.ids if id_ in self.tag_sets):
            try:
                check_decision(self.action, tag_set, self.caller, None, self.team_ids)
                status = check(tag_set)
            except ApiError as failure:
                self.failures[tag_set.id] = failure
            else:
                self.all_tag_sets[tag_set.artifact_id][tag_set.id] = (tag_set.labeler_id, status)
                valid_tag_sets.append(tag_set)
        return valid_tag_sets

    def list_labeler_ids(self) -> set[UUID]:
        """Return the ids of the labelers of `self.tag_sets`."""
        return {row.labeler_id for row in self.tag_sets.values() if row.labeler_id is not None}

    def count_accepted(self, tag_set: LockedReview) -> int:
        """Return the number of the artifact's accepted tag sets, including those of this batch."""
        artifact_tag_sets = self.all_tag_sets[tag_set.artifact_id]
        return sum(status == TagSetStatus.ACCEPTED for _, status in artifact_tag_sets.values())

    def has_other_tag_set(self, tag_set: LockedReview, blocking_statuses: Sequence[str]) -> bool:
        """Return whether the labeler has another tag set for the artifact in a blocking status."""
        return any(
            labeler_id == tag_set.labeler_id
            and status in blocking_statuses
            and sibling_id != tag_set.id
            for sibling_id, (labeler_id, status) in self.all_tag_sets[tag_set.artifact_id].items()
        )


def accept_many(
    tag_set_ids: Sequence[UUID],
    find_failures: bulk.FindFailures | None = None,
    *,
    caller: Caller,
    note: str | None = None,
) -> bulk.Failures:
    """Accept submitted tag sets and return an error for each tag set that was not accepted.

    Tag sets for which `find_failures` returns an error are not accepted. The other errors are
    `not_found`; `permission_denied` if the caller may not review the tag set (`check_reviewer`);
    and `conflict` if it is not submitted, is a merge, is claimed by another reviewer, or, unless
    the caller is an admin, is assigned to another user or team. The error is also `conflict` if the
    artifact has an accepted merge, or as many accepted tag sets as its schema requires, including
    those that this call has accepted. Emits `tag_set.accepted` for each accepted tag set.
    """
    batch = _Batch(Action.ACCEPT, tag_set_ids, caller, find_failures)

    def check(tag_set: LockedReview) -> str:
        if tag_set.source == "merge":
            raise errors.conflict("A merge cannot be accepted in bulk; accept it separately.")
        has_quorum = batch.count_accepted(tag_set) >= tag_set.required_labels
        if has_quorum or tag_set.artifact_id in batch.merged_artifact_ids:
            raise errors.conflict(
                "This artifact already has an accepted merge, or as many accepted tag sets as its"
                " schema requires."
            )
        return TagSetStatus.ACCEPTED

    tag_sets = batch.check_tag_sets(check)
    if not tag_sets:
        return batch.failures
    _record_decision(tag_sets, "accept", caller, TagSetStatus.ACCEPTED, reason=note)
    statuses.update_statuses(list({row.artifact_id for row in tag_sets}))
    payloads = [
        build_accepted_payload(row, reviewer_id=caller.user_id, corrected=False) for row in tag_sets
    ]
    events.emit_many(emitted_events.ACCEPTED, payloads)
    return batch.failures


def reject_many(
    tag_set_ids: Sequence[UUID],
    find_failures: bulk.FindFailures | None = None,
    *,
    caller: Caller,
    reason: str,
    send_to: str,
) -> bulk.Failures:
    """Reject submitted tag sets and return an error for each tag set that was not rejected.

    If `send_to` is `labeler`, each tag set becomes a draft of its labeler again; if it is `pool`,
    the tag sets stay rejected. The errors are those of `accept_many`, except that merges can be
    rejected and accepted tag sets do not matter. With `labeler`, the error is also `conflict` if
    the labeler has another tag set for the artifact or the rejection limit is reached, and
    `validation_error` if no labeler can edit the draft. Emits `tag_set.rejected` events.
    """
    batch = _Batch(Action.REJECT, tag_set_ids, caller, find_failures)
    are_returned = send_to == "labeler"
    user_ids = batch.list_labeler_ids() if are_returned else []
    eligible_ids = lock_eligible_members(user_ids, Role.labeler) if user_ids else set()

    def check(tag_set: LockedReview) -> str:
        if not are_returned:
            return TagSetStatus.REJECTED
        _check_can_return(batch, tag_set, eligible_ids)
        return TagSetStatus.DRAFT

    tag_sets = batch.check_tag_sets(check)
    if not tag_sets:
        return batch.failures
    status = TagSetStatus.DRAFT if are_returned else TagSetStatus.REJECTED
    rejections = TagSet.rejections + 1
    _record_decision(tag_sets, "reject", caller, status, reason=reason, rejections=rejections)
    if are_returned:
        _claim_for_labelers(tag_sets, caller)
    else:
        _record_skips_after_rejection(tag_sets, reason)
    statuses.update_statuses(list({row.artifact_id for row in tag_sets}))
    _emit_rejected(tag_sets, caller, reason, send_to)
    return batch.failures


def _emit_rejected(
    rejected_tag_sets: list[LockedReview], caller: Caller, reason: str, send_to: str
) -> None:
    payloads = [
        build_rejected_payload(tag_set, reviewer_id=caller.user_id, reason=reason, send_to=send_to)
        for tag_set in rejected_tag_sets
    ]
    events.emit_many(emitted_events.REJECTED, payloads)


def _record_skips_after_rejection(rejected_tag_sets: list[LockedReview], reason: str) -> None:
    """For each rejected tag set, record that its labeler skips the artifact."""
    labeler_ids: dict[UUID, list[UUID]] = {}
    for tag_set in rejected_tag_sets:
        if tag_set.labeler_id is not None:
            labeler_ids.setdefault(tag_set.artifact_id, []).append(tag_set.labeler_id)
    # Each pass records at most one skip per artifact. More than one pass is rare.
    while labeler_ids:
        skips.record_skips_after_rejection(
            {artifact_id: user_ids.pop() for artifact_id, user_ids in labeler_ids.items()}, reason
        )
        labeler_ids = {key: user_ids for key, user_ids in labeler_ids.items() if user_ids}


def _claim_for_labelers(returned_tag_sets: list[LockedReview], caller: Caller) -> None:
    """Claim the artifacts of returned tag sets for their labelers."""
    # If an artifact has several tag sets, the labeler of the first tag set gets the claim.
    labeler_ids = {
        tag_set.artifact_id: tag_set.labeler_id for tag_set in reversed(returned_tag_sets)
    }
    drafts.claim_artifacts(labeler_ids, minutes=rules.get_claim_minutes(caller))


def _check_can_return(batch: _Batch, tag_set: LockedReview, eligible_ids: Collection[UUID]) -> None:
    limit = _get_max_rejections(tag_set)
    if tag_set.labeler_id is None:
        raise errors.invalid("This tag set has no labeler. Set `send_to` to `pool`.", "send_to")
    check_labeler_is_eligible(tag_set.labeler_id, eligible_ids)
    if limit is not None and tag_set.rejections + tag_set.earlier_rejections >= limit:
        raise errors.conflict(
            "The schema's rejection limit is reached. Set `send_to` to `pool`, or reject this tag"
            " set separately and send it to another member."
        )
    if batch.has_other_tag_set(tag_set, rules.get_blocking_statuses(tag_set.required_labels)):
        raise errors.conflict("The labeler already has another tag set for this artifact.")


def _record_decision(
    decided_tag_sets: list[LockedReview],
    kind: str,
    caller: Caller,
    status: TagSetStatus,
    *,
    reason: str | None,
    **values: object,
) -> None:
    author_id, ids = caller.user_id, [row.id for row in decided_tag_sets]
    decision = build_decision(status, author_id, reason=reason, **values)
    deciding.update_tag_sets(ids, decision, kind=kind, author_id=author_id, note=reason)
