"""Review decisions on many tag sets, by the same rules as single decisions."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any
from uuid import UUID

from app.identity.members.eligibility import lock_eligible
from app.kit import bulk, db, errors, events
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.schemas.artifact_schemas import service as schemas
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.emitted_events import build_accepted, build_rejected
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries import bulk as queries
from app.workflow.tag_sets.queries import deciding, recording, skips, statuses
from app.workflow.tag_sets.queries.bulk import LockedReview
from app.workflow.tag_sets.service import rules
from app.workflow.tag_sets.service.decisions import REVIEW_RESET, check_can_label
from app.workflow.tag_sets.transitions import Action, TagSetStatus


def _get_max_rejections(tag_set: LockedReview) -> int | None:
    # `rules.get_terms` would read and compile every schema version of the batch.
    limit: int | None = {**schemas.DEFAULT_POLICY, **tag_set.review_policy}["max_rejections"]
    return limit


class _Batch:
    """The locked tag sets of a request and their siblings, against which decisions are checked."""

    def __init__(
        self,
        action: Action,
        tag_set_ids: Sequence[UUID],
        caller: Caller,
        find_unfit: bulk.FindUnfit | None,
    ) -> None:
        self.action = action
        self.ids = list(dict.fromkeys(tag_set_ids))
        self.caller = caller
        locked = {row.id: row for row in queries.lock(self.ids)}
        self.failures: dict[UUID, ApiError] = bulk.find_missing(self.ids, locked)
        if find_unfit is not None:
            self.failures.update(find_unfit(self.ids))
        self.tag_sets = {
            tag_set_id: row for tag_set_id, row in locked.items() if tag_set_id not in self.failures
        }
        self.teams = self._find_teams()
        self.merged_artifact_ids: set[UUID] = set()
        self.siblings: dict[UUID, dict[UUID, tuple[UUID | None, str]]] = defaultdict(dict)
        for row in queries.list_siblings({row.artifact_id for row in self.tag_sets.values()}):
            self.siblings[row.artifact_id][row.id] = (row.labeler_id, row.status)
            if row.source == "merge" and row.status == "accepted":
                self.merged_artifact_ids.add(row.artifact_id)

    def _find_teams(self) -> set[UUID]:
        assigned = any(row.assignee_team_id is not None for row in self.tag_sets.values())
        return deciding.list_team_ids(self.caller.user_id) if assigned else set()

    def decide(self, check: Callable[[LockedReview], str]) -> list[LockedReview]:
        """Return the tag sets on which the decision is valid, in order.

        `check` returns the new status or raises ApiError. The new status counts in the checks of
        later tag sets of the same artifact.
        """
        decided = []
        for tag_set in (self.tag_sets[key] for key in self.ids if key in self.tag_sets):
            try:
                rules.check_reviewer(self.caller, tag_set)
                rules.check_state(tag_set, self.action, None)
                rules.check_review(self.caller, tag_set, teams=self.teams)
                status = check(tag_set)
            except ApiError as failure:
                self.failures[tag_set.id] = failure
            else:
                self.siblings[tag_set.artifact_id][tag_set.id] = (tag_set.labeler_id, status)
                decided.append(tag_set)
        return decided

    def get_labelers(self) -> set[UUID]:
        """Return the labelers of the tag sets."""
        return {row.labeler_id for row in self.tag_sets.values() if row.labeler_id is not None}

    def count_accepted(self, tag_set: LockedReview) -> int:
        """Return the number of accepted tag sets of the same artifact."""
        siblings = self.siblings[tag_set.artifact_id]
        return sum(status == TagSetStatus.ACCEPTED for _, status in siblings.values())

    def has_other_tag_set(self, tag_set: LockedReview, blocking: Sequence[str]) -> bool:
        """Return whether the labeler has another tag set of the artifact in a blocking status."""
        return any(
            labeler_id == tag_set.labeler_id and status in blocking and sibling_id != tag_set.id
            for sibling_id, (labeler_id, status) in self.siblings[tag_set.artifact_id].items()
        )


def accept_many(
    tag_set_ids: Sequence[UUID],
    *,
    caller: Caller,
    note: str | None = None,
    find_unfit: bulk.FindUnfit | None = None,
) -> bulk.Failures:
    """Accept submitted tag sets, except the failures of `find_unfit`; return all failures.

    A failure is `not_found`; `permission_denied` on the caller's own tag set; or `conflict` if the
    tag set is not submitted, if it is a merge, if another reviewer has claimed it or is assigned,
    or if its artifact already has as many accepted tag sets as its schema requires. Tag sets that
    this call accepts count too. Emits `tag_set.accepted` for each accepted tag set.
    """
    batch = _Batch(Action.ACCEPT, tag_set_ids, caller, find_unfit)

    def check(tag_set: LockedReview) -> str:
        if tag_set.source == "merge":
            raise errors.conflict(
                "Accepting a merge also decides on its sources; accept it with a single request."
            )
        has_quorum = batch.count_accepted(tag_set) >= tag_set.required_labels
        if has_quorum or tag_set.artifact_id in batch.merged_artifact_ids:
            raise errors.conflict(
                "This artifact already has as many accepted tag sets as its schema requires."
            )
        return TagSetStatus.ACCEPTED

    decided = batch.decide(check)
    if not decided:
        return batch.failures
    values = {"status": TagSetStatus.ACCEPTED, "reason": note}
    _record_decision(decided, values, kind="accept", caller=caller)
    _update_artifacts(decided)
    payloads = [build_accepted(row, reviewer_id=caller.user_id, corrected=False) for row in decided]
    events.emit_many(emitted_events.ACCEPTED, payloads)
    return batch.failures


def reject_many(
    tag_set_ids: Sequence[UUID],
    *,
    caller: Caller,
    reason: str,
    send_to: str,
    find_unfit: bulk.FindUnfit | None = None,
) -> bulk.Failures:
    """Reject submitted tag sets for one reason and return the failures.

    If `send_to` is `labeler`, each tag set becomes a draft of its labeler again; if it is `pool`,
    each stays rejected. Failures are as in `accept_many`. With `labeler`, they are also `conflict`
    if the labeler has another tag set of the artifact or the schema's limit of rejections is
    reached, and `validation_error` if no labeler may label. Emits `tag_set.rejected` for each.
    """
    batch = _Batch(Action.REJECT, tag_set_ids, caller, find_unfit)
    to_labeler = send_to == "labeler"
    labelers = lock_eligible(batch.get_labelers(), Role.labeler) if to_labeler else set()

    def check(tag_set: LockedReview) -> str:
        if not to_labeler:
            return TagSetStatus.REJECTED
        _check_return(batch, tag_set, labelers)
        return TagSetStatus.DRAFT

    decided = batch.decide(check)
    if not decided:
        return batch.failures
    status = TagSetStatus.DRAFT if to_labeler else TagSetStatus.REJECTED
    values = {"status": status, "reason": reason, "rejections": TagSet.rejections + 1}
    _record_decision(decided, values, kind="reject", caller=caller)
    if to_labeler:
        _claim_for_labelers(decided, caller)
    else:
        _skip_rejected(decided, reason)
    _update_artifacts(decided)
    by = caller.user_id
    payloads = [build_rejected(t, reviewer_id=by, reason=reason, send_to=send_to) for t in decided]
    events.emit_many(emitted_events.REJECTED, payloads)
    return batch.failures


def _skip_rejected(rejected: list[LockedReview], reason: str) -> None:
    """Record a skip of the artifact for each labeler whose tag set was rejected."""
    labelers: dict[UUID, list[UUID]] = {}
    for tag_set in rejected:
        if tag_set.labeler_id is not None:
            labelers.setdefault(tag_set.artifact_id, []).append(tag_set.labeler_id)
    # Each pass skips an artifact for one labeler; more passes are rare.
    while labelers:
        skips.skip_rejected(
            {artifact_id: users.pop() for artifact_id, users in labelers.items()}, reason
        )
        labelers = {artifact_id: users for artifact_id, users in labelers.items() if users}


def _claim_for_labelers(returned: list[LockedReview], caller: Caller) -> None:
    """Claim the artifacts of returned tag sets for their labelers."""
    # If an artifact has several tag sets, the labeler of the first tag set gets the claim.
    next_labelers = {tag_set.artifact_id: tag_set.labeler_id for tag_set in reversed(returned)}
    deciding.claim_artifacts(next_labelers, minutes=rules.get_claim_minutes(caller))


def _check_return(batch: _Batch, tag_set: LockedReview, labelers: AbstractSet[UUID]) -> None:
    limit = _get_max_rejections(tag_set)
    if tag_set.labeler_id is None:
        raise errors.invalid("This tag set has no labeler to return it to; use `pool`.", "send_to")
    check_can_label(tag_set.labeler_id, labelers)
    if limit is not None and tag_set.rejections + tag_set.earlier_rejections >= limit:
        raise errors.conflict(
            "The schema's limit of rejections is reached. Send the tag set to the pool or to a"
            " member."
        )
    if batch.has_other_tag_set(tag_set, rules.get_blocking_statuses(tag_set.required_labels)):
        raise errors.conflict("The labeler already has another tag set of this artifact.")


def _record_decision(
    decided: list[LockedReview], values: dict[str, Any], *, kind: str, caller: Caller
) -> None:
    recording.change(
        [row.id for row in decided],
        {**REVIEW_RESET, **values, "reviewer_id": caller.user_id, "decided_at": db.utc_now()},
        kind=kind,
        author_id=caller.user_id,
        note=values["reason"],
    )


def _update_artifacts(decided: list[LockedReview]) -> None:
    statuses.update_statuses(list({row.artifact_id for row in decided}))
