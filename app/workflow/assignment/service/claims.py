"""Claims, which reserve an artifact for one labeler for a limited time."""

from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.documents.artifacts import service as artifacts
from app.documents.artifacts.statuses import CLAIMABLE
from app.kit import errors, events
from app.workflow.assignment.queries import claims as queries
from app.workflow.tag_sets import service as tag_sets


def claim(artifact_id: UUID, user_id: UUID) -> Row[Any]:
    """Claim an artifact for the organization's `claim_minutes`, or renew the user's claim.

    Raises 404; 409 `conflict` with `details.claim` if another user has claimed the artifact, with
    `details.reserved` if it is reserved for the drafts of other users, and with `details.state` if
    it cannot be labeled.
    """
    row = queries.claim(artifact_id, user_id)
    if row is not None:
        return artifacts.get(artifact_id) if tag_sets.delete_skip(artifact_id, user_id) else row
    row = artifacts.get(artifact_id)
    if row.archived:
        raise errors.conflict("The artifact is archived.", state="archived")
    if row.status not in CLAIMABLE:
        raise errors.conflict("The artifact is not open for labeling.", state=row.status)
    if row.claim is not None and row.claim["user_id"] != str(user_id):
        raise errors.conflict("Somebody else has claimed the artifact.", claim=row.claim)
    raise errors.conflict(
        "The artifact is reserved for another labeler, who has a draft.", reserved=True
    )


def release(
    artifact_id: UUID, user_id: UUID, *, as_admin: bool = False, reason: str | None = None
) -> Row[Any]:
    """End the claim on an artifact; an admin may end the claim of any user.

    Labelers who release their own claim with a reason skip the artifact: their assignment by name
    is removed, and the artifact is not offered to them again until it is assigned or returned to
    them by name, or they claim it. A blank reason counts as no reason. The labeler's draft stops
    reserving the artifact, even if the claim has expired.

    Emits `artifact.released` with the reason. Raises 404; 409 if nobody has claimed the artifact;
    403 if another user has claimed it.
    """
    reason = reason if reason and reason.strip() else None
    claimed_by = queries.release(artifact_id, None if as_admin else user_id)
    reserved_for = tag_sets.end_reservations(
        artifact_id, claimed_by or (None if as_admin else user_id)
    )
    labeler_id = claimed_by or next(iter(reserved_for), None)
    if labeler_id is None:
        row = artifacts.get(artifact_id)
        if row.claim is None:
            raise errors.conflict("Nobody has claimed the artifact.", state=row.status)
        raise errors.denied("Somebody else has claimed the artifact.")
    if reason:
        _record_reason(artifact_id, user_id, reason, skips=labeler_id == user_id)
    tag_sets.update_statuses([artifact_id])
    payload = {"artifact_id": artifact_id, "user_id": user_id, "reason": reason}
    events.emit("artifact.released", payload)
    return artifacts.get(artifact_id)


def _record_reason(artifact_id: UUID, user_id: UUID, reason: str, *, skips: bool) -> None:
    if skips:
        tag_sets.create_skip(artifact_id, user_id, reason)
    kind = "skip" if skips else "release"
    tag_sets.record_action(artifact_id, kind, by=user_id, note=reason)


def release_member(user_id: UUID, *, reason: str) -> None:
    """End every claim of a user and emit `artifact.released` for each. Safe to repeat."""
    for artifact_id in queries.release_all(user_id):
        payload = {"artifact_id": artifact_id, "user_id": user_id, "reason": reason}
        events.emit("artifact.released", payload)


def expire_claims() -> int:
    """End at most 1,000 expired claims across all organizations and return the number ended."""
    return queries.expire()
