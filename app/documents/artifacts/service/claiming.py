"""Who works on a document, and which state its label sets put it in."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.documents.artifacts.queries import acting, reserving, skipping
from app.documents.artifacts.queries import claiming as queries
from app.documents.artifacts.service.reading import get
from app.kit import errors, events


def claim(artifact_id: UUID, user_id: UUID) -> Row[Any]:
    """Take the document for labeling, or renew one's claim.

    Lasts as long as the organization's `claim_minutes` say. Raises 404; 409 `conflict` with
    `details.claim` while somebody else holds it, with `details.reserved` while it is kept for
    somebody else's draft, with `details.state` where nothing is to label.
    """
    row = queries.claim(artifact_id, user_id)
    if row is not None:
        return get(artifact_id) if unskip(artifact_id, user_id) else row
    row = get(artifact_id)
    if row.archived:
        raise errors.conflict("The document is archived.", state="archived")
    if row.status not in queries.CLAIMABLE:
        raise errors.conflict("The document is not open for labeling.", state=row.status)
    if row.claim is not None and row.claim["user_id"] != str(user_id):
        raise errors.conflict("Somebody else works on the document.", claim=row.claim)
    raise errors.conflict(
        "The document is kept for somebody who has begun to label it.", reserved=True
    )


def release(
    artifact_id: UUID, user_id: UUID, *, as_admin: bool = False, reason: str | None = None
) -> Row[Any]:
    """Give the document back; an admin may take it from whoever holds it.

    The holder's own reason makes it a skip: the document is not drawn for them again (`draw`) until
    it is assigned or sent to them by name, or they claim it. It is assigned to them by name no
    more: with no assignee left it is in the pool. A blank reason is none. A begun draft keeps the
    document no longer, even if the claim has ended. Emits `artifact.released` with the reason.
    Raises 404, 409 when nobody holds it, 403 when somebody else does.
    """
    reason = reason if reason and reason.strip() else None
    holder = queries.release(artifact_id, None if as_admin else user_id)
    kept_for = reserving.end_reservations(artifact_id, holder or (None if as_admin else user_id))
    holder = holder or next(iter(kept_for), None)
    if holder is None:
        row = get(artifact_id)
        if row.claim is None:
            raise errors.conflict("Nobody holds the document.", state=row.status)
        raise errors.denied("Somebody else holds the document.")
    skips = holder == user_id
    if reason and skips:
        skipping.skip(artifact_id, user_id, reason)
    if reason:
        kind = "skip" if skips else "release"
        acting.note(artifact_id, kind, by=user_id, tag_set_id=None, note=reason)
    queries.refresh([artifact_id])
    events.emit(
        "artifact.released", {"artifact_id": artifact_id, "user_id": user_id, "reason": reason}
    )
    return get(artifact_id)


def unskip(artifact_id: UUID, user_id: UUID) -> bool:
    """Let a document that is locked be drawn for somebody again who skipped it; whether they had.

    Begun work that was sent back to them is kept for them again.
    """
    skipped = skipping.unskip(artifact_id, user_id)
    if skipped:
        queries.refresh([artifact_id])
    return skipped


def release_member(user_id: UUID, *, reason: str) -> None:
    """Give back all that somebody claimed. Emits `artifact.released` for each; may be done
    twice."""
    for artifact_id in queries.release_all(user_id):
        data = {"artifact_id": artifact_id, "user_id": user_id, "reason": reason}
        events.emit("artifact.released", data)


def unreserve(user_id: UUID, checkpoint: Callable[[], None]) -> None:
    """Free the documents that wait for the drafts of somebody who does not label here any more.

    The drafts stay. `checkpoint` is called between batches.
    """
    last = UUID(int=0)
    while found := queries.lock_reserved(user_id, last):
        queries.refresh(found)
        last = found[-1]
        checkpoint()


def refresh_status(artifact_id: UUID) -> str:
    """`refresh_statuses` of one document; its state. Raises 404."""
    found = queries.refresh([artifact_id])
    if not found:
        raise errors.not_found()
    return found[artifact_id]


def refresh_statuses(artifact_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Count the documents' label sets and set the states that follow from them; the states.

    Call it last in the transaction that changed one, with the documents locked in the order of
    their ids. Done: as many are accepted as the schema wants. In review: nobody drafts, enough are
    submitted or accepted, and one waits. In progress: there is one that was not rejected, or a
    claim. Documents that are gone are left out.
    """
    return queries.refresh(artifact_ids)


def refresh_schema(schema_id: UUID, checkpoint: Callable[[], None]) -> None:
    """`refresh_statuses` of a schema's documents that are being labeled or reviewed: it may want
    another number of label sets than before. What is done stays so.

    `checkpoint` is called between batches.
    """
    place = None
    while found := queries.lock_labeled(schema_id, place):
        queries.refresh([row.id for row in found])
        checkpoint()
        place = max((row.created_at, row.id) for row in found)


def expire_claims() -> int:
    """End the claims that ran out, of every organization; how many (at most 1,000)."""
    return queries.expire()


def count_reserved_for_others(artifact_id: UUID, user_id: UUID) -> int:
    """Return how many of a document's labeling places other users' begun drafts reserve."""
    return reserving.count_reserved_for_others(artifact_id, user_id)


def pass_over(labelers: Mapping[UUID, UUID], reason: str) -> None:
    """Let locked documents, of which a reviewer rejected somebody's work, come last for them.

    `labelers` is {document: user}. They are assigned to these users by name no more.
    """
    reserving.pass_over(labelers, reason)


def list_organizations_to_free() -> list[UUID]:
    """Return the organizations with begun drafts that keep their document no longer."""
    return reserving.list_organizations_with_expired()


def free_expired(checkpoint: Callable[[], None]) -> None:
    """Free documents of the bound organization whose begun drafts were left for too long.

    The drafts stay. `checkpoint` is called between batches.
    """
    while freed := reserving.end_expired():
        queries.refresh(freed)
        checkpoint()
