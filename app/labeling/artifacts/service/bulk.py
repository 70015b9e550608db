"""Archiving and deleting many documents at once, and those whose time is over."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.kit import bulk, db, errors, events
from app.kit.logging import get_logger
from app.labeling.artifacts.queries import claiming
from app.labeling.artifacts.queries import updating as queries

BATCH = 1000
"""How many documents a statement changes: memory and the time of each stay small."""
PAGES = 5000
"""How many pages a statement deletes, unless they are one document's: a thousand scans of some
hundred pages take longer than a statement may."""

log = get_logger(__name__)
Rows = Sequence[Row[Any]]


def archive_many(*, archived: bool, by: UUID | None, **selection: Any) -> dict[str, Any]:
    """Archive documents by id or by filter, or take them back; what became of each.

    As with one: claims end, label sets stay. Emits `artifacts.archived` for each thousand. Raises
    409 `conflict` with `details.count` when the filter finds another number than was expected.
    """

    def act(rows: Rows) -> None:
        changed = [row.id for row in rows if row.archived != archived]
        if changed:
            queries.archive(changed, archived=archived)
            # The state of one that nobody held stays as it is.
            held = [row.id for row in rows if row.claim_user_id is not None]
            claiming.refresh(held if archived else changed)
            told = {"artifact_ids": changed, "archived": archived, "count": len(changed), "by": by}
            events.emit("artifacts.archived", told)

    return _for_each(act, **selection)


def delete_many(**selection: Any) -> dict[str, Any]:
    """Delete documents with their labels, by id or by filter; what became of each.

    Emits `artifact.deleted` for each: their files follow. Raises as `archive_many`.
    """
    return _for_each(_delete, **selection)


def _delete(rows: Rows) -> None:
    for some in _portions(rows):
        queries.delete_many(some)
    gone = [{"artifact_id": row.id, "sha256": row.sha256} for row in rows]
    events.emit_many("artifact.deleted", gone)


def _portions(rows: Rows) -> Iterator[list[UUID]]:
    """The documents' ids, so many at once as have `PAGES` pages together."""
    portion: list[UUID] = []
    pages = 0
    for row in rows:
        pages += row.page_count or 0
        if portion and pages > PAGES:
            yield portion
            portion, pages = [], row.page_count or 0
        portion.append(row.id)
    if portion:
        yield portion


def _for_each(
    act: Callable[[Rows], None],
    *,
    artifact_ids: Sequence[UUID] = (),
    filter: dict[str, Any] | None = None,  # noqa: A002 - as the body's
    expected_count: int | None = None,
) -> dict[str, Any]:
    if filter is None:
        rows = queries.lock_ids(artifact_ids)
        if rows:
            act(rows)
        return bulk.by_id(artifact_ids, bulk.missing(artifact_ids, [row.id for row in rows]))
    _check_count(queries.count(filter), expected_count)
    done = 0
    for rows in _found(filter):
        act(rows)
        done += len(rows)
    # Documents come and go: if others were found than were counted, nothing stands.
    _check_count(done, expected_count)
    return bulk.by_filter(done, {})


def _found(filters: dict[str, Any]) -> Iterator[Rows]:
    after = None
    while rows := queries.lock_found(filters, after=after, most=BATCH):
        yield rows
        after = rows[-1].id


def _check_count(count: int, expected: int | None) -> None:
    if count != expected:
        raise errors.conflict("The filter finds another number of documents.", count=count)


def delete_expired(days: int, checkpoint: Callable[[], None]) -> int:
    """Delete every document of the bound organization that came in more than `days` ago, whatever
    its state; how many.

    Emits `artifact.deleted` for each. `checkpoint` commits each batch: whoever comes after a kill
    goes on with what is left.
    """
    until = db.utc_now() - timedelta(days=days)
    deleted = 0
    while rows := queries.lock_created_before(until, most=BATCH):
        _delete(rows)
        checkpoint()
        deleted += len(rows)
        log.info("artifacts.retention", deleted=deleted, days=days)
    return deleted
