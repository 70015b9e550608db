"""Claims on artifacts. A claim reserves an artifact for one labeler for a limited time."""

from collections.abc import Sequence
from uuid import UUID

from app.documents.artifacts.models.documents import ArtifactRow
from app.documents.artifacts.service import reading as artifacts
from app.documents.artifacts.statuses import CLAIMABLE
from app.identity.organizations import service as organizations
from app.kit import errors, events
from app.kit.db import Checkpoint
from app.kit.principal import Caller
from app.workflow.assignment import emitted_events
from app.workflow.assignment.emitted_events import ReleasedPayload
from app.workflow.assignment.queries import claims as queries
from app.workflow.assignment.queries import next_artifact
from app.workflow.assignment.queries.next_artifact import ClaimCriteria
from app.workflow.tag_sets.queries import skips, statuses

_MAX_ATTEMPTS = 3
"""The maximum number of times that `claim_next` runs its queries."""


def claim(artifact_id: UUID, *, caller: Caller) -> ArtifactRow:
    """Claim an artifact for the caller, or renew the caller's claim.

    The claim expires after the organization's `claim_minutes`. The caller's skip of the artifact is
    deleted. Raises 404; 409 `conflict`. The details of a conflict are `claim` if another user has
    claimed the artifact, `labeled` if the caller has labeled it and has no draft, `reserved` if it
    is reserved for drafts of other users, or `state` if it cannot be labeled.
    """
    user_id = caller.user_id
    minutes = organizations.get_claim_minutes(caller.org.settings)
    row = queries.claim(artifact_id, user_id, minutes=minutes)
    if row is not None:
        return artifacts.get(artifact_id) if skips.delete_skip(artifact_id, user_id) else row
    row = artifacts.get(artifact_id)
    if row.archived:
        raise errors.conflict("The artifact is archived; unarchive it first.", state="archived")
    if row.status not in CLAIMABLE:
        message = f"The artifact cannot be labeled; its state is {row.status}."
        raise errors.conflict(message, state=row.status)
    if row.claim is not None and row.claim["user_id"] != str(user_id):
        raise errors.conflict("Another user has claimed the artifact.", claim=row.claim)
    if queries.has_labeled_without_draft(artifact_id, user_id):
        raise errors.conflict("You have already labeled the artifact.", labeled=True)
    raise errors.conflict(
        "The artifact is reserved for another labeler who has a draft.", reserved=True
    )


def claim_next(
    *,
    caller: Caller,
    schema_ids: Sequence[UUID] | None = None,
    team_id: UUID | None = None,
    language: str | None = None,
    exclude: Sequence[UUID] = (),
    skip_held: bool = False,
) -> ArtifactRow | None:
    """Claim the caller's next artifact and return it, or None if no artifact matches.

    An unknown schema, or a team of which the caller is not a member, matches no artifact. Artifacts
    are claimed in this order, the most urgent first in each group:

    1. artifacts that the caller has already claimed (excluded by `skip_held`),
    2. artifacts for which the caller has a draft, new or returned,
    3. artifacts assigned directly to the caller,
    4. artifacts assigned to the caller's teams,
    5. artifacts without assignees.

    Artifacts that other users have claimed are never returned. Unless the caller has a draft, the
    artifact's schema must be active, the artifact must need another tag set, and the caller must
    not have submitted one. Tag sets that are reserved for other users' drafts count as if they were
    submitted. In groups 4 and 5, the caller's teams must have the skills that the schema requires.
    In groups 2, 4 and 5, the caller must not have skipped the artifact; in group 2, only skips
    since the draft was created or returned count.
    """
    criteria = ClaimCriteria(schema_ids, language, team_id, exclude, skip_held)
    minutes = organizations.get_claim_minutes(caller.org.settings)
    # The queries skip artifacts that a bulk request locks or changes at the same time. If all
    # candidates were skipped, the queries are repeated to find artifacts with committed changes.
    for _ in range(_MAX_ATTEMPTS):
        result = next_artifact.claim_next(caller.user_id, criteria, minutes=minutes)
        if result.artifact is not None or not result.had_candidates:
            return result.artifact
    return None


def release(
    artifact_id: UUID, user_id: UUID, *, as_admin: bool = False, reason: str | None = None
) -> ArtifactRow:
    """Release an artifact: end the claim of the user `user_id` or, with `as_admin`, of any user.

    Labelers who release their own claim with a reason skip the artifact: their direct assignment is
    removed, and the artifact is not offered to them again until it is assigned directly or returned
    to them, or until they claim it. A blank reason counts as no reason. The labeler's draft no
    longer reserves the artifact, even if the claim had already expired. A returned or transferred
    draft reserves the artifact until the labeler skips it.

    Emits `artifact.released`, and records the reason, if there is one. Raises 404. If there is
    nothing to release, raises 403 if another user has claimed the artifact, or 409 if nobody has.
    """
    reason = reason if reason and reason.strip() else None
    claimed_by = queries.CLAIMABLE_ARTIFACTS.release(artifact_id, None if as_admin else user_id)
    reserved_for = statuses.end_reservations(
        artifact_id, claimed_by or (None if as_admin else user_id)
    )
    labeler_id = claimed_by or next(iter(reserved_for), None)
    if labeler_id is None and reason and user_id in statuses.list_reservation_user_ids(artifact_id):
        # A returned draft reserves the artifact without a time limit, until it is skipped.
        labeler_id = user_id
    if labeler_id is None:
        row = artifacts.get(artifact_id)
        if row.claim is None:
            raise errors.conflict("Nobody has claimed the artifact.", state=row.status)
        raise errors.denied("Another user has claimed the artifact.")
    if reason:
        _record_reason(artifact_id, user_id, reason, is_skip=labeler_id == user_id)
    statuses.update_statuses([artifact_id])
    _emit_released(artifact_id, user_id, reason)
    return artifacts.get(artifact_id)


def _record_reason(artifact_id: UUID, user_id: UUID, reason: str, *, is_skip: bool) -> None:
    if is_skip:
        skips.create_skip(artifact_id, user_id, reason)
    action = "skip" if is_skip else "release"
    skips.record_action(artifact_id, action, by=user_id, note=reason)


def release_all_claims(user_id: UUID, *, reason: str) -> None:
    """Release all claims of a user who can no longer label, and emit `artifact.released` events.

    Does nothing if the user can label. Safe to repeat.
    """
    for artifact_id in queries.CLAIMABLE_ARTIFACTS.release_all(user_id):
        _emit_released(artifact_id, user_id, reason)


def release_reservations(user_id: UUID, checkpoint: Checkpoint) -> None:
    """Release the artifacts that are reserved for a user who can no longer label.

    The user's drafts are kept. If the user can label again, the reservations are kept too.
    `checkpoint` is called after each batch.
    """
    last_id = UUID(int=0)
    while artifact_ids := statuses.lock_reserved_artifacts(user_id, last_id):
        statuses.update_statuses(artifact_ids)
        last_id = artifact_ids[-1]
        checkpoint()


def _emit_released(artifact_id: UUID, user_id: UUID, reason: str | None) -> None:
    payload: ReleasedPayload = {
        "artifact_id": artifact_id,
        "user_id": user_id,
        "reason": reason,
    }
    events.emit(emitted_events.RELEASED, payload)
