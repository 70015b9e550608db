"""Archive and delete many documents at once, and delete documents past their retention time."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.documents.artifacts.queries import reading
from app.documents.artifacts.queries import updating as queries
from app.documents.artifacts.service.ports import workflow
from app.kit import bulk, db, errors, events
from app.kit.errors import ApiError
from app.kit.logging import get_logger

PAGES = 5000
"""The most pages that one statement deletes, unless a single document has more. Deleting a thousand
scans of a few hundred pages at once would exceed the time limit of a statement."""

log = get_logger(__name__)
Rows = Sequence[Row[Any]]


def archive_many(*, archived: bool, by: UUID | None, **selection: Any) -> dict[str, Any]:
    """Archive or unarchive documents by id or by filter; return the result for each.

    As for a single document, claims end and tag sets stay. Emits `artifacts.archived` for each
    batch of 1,000. With a filter, each batch is its own transaction (`bulk.in_batches`). Raises 409
    `conflict` with `details.count` if the filter matches a number other than `expected_count`.
    """

    def act(rows: Rows) -> None:
        changed = [row.id for row in rows if row.archived != archived]
        if not changed:
            return
        if archived:
            queries.archive(changed)
            # The status of a document without a claim does not change.
            workflow().update_statuses([row.id for row in rows if row.claim_user_id is not None])
        else:
            workflow().unarchive(changed)
        told = {"artifact_ids": changed, "archived": archived, "count": len(changed), "by": by}
        events.emit("artifacts.archived", told)

    return _for_each(act, **selection)


def delete_many(**selection: Any) -> dict[str, Any]:
    """Delete documents with their tag sets, by id or by filter; return the result for each.

    Emits `artifact.deleted` for each; a job then deletes the files. Transactions and errors are as
    in `archive_many`.
    """
    return _for_each(_delete, **selection)


def _delete(rows: Rows) -> None:
    for some in _portions(rows):
        queries.delete_many(some)
    gone = [{"artifact_id": row.id, "sha256": row.sha256} for row in rows]
    events.emit_many("artifact.deleted", gone)


def _portions(rows: Rows) -> Iterator[list[UUID]]:
    """Yield the documents' ids in portions of at most `PAGES` pages, or of one larger document."""
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
    def act_on(ids: Sequence[UUID], filters: dict[str, Any] | None) -> dict[UUID, ApiError]:
        rows = queries.lock_ids(ids, filters)
        if rows:
            act(rows)
        return bulk.find_missing(ids, [row.id for row in rows])

    if filter is None:
        return bulk.build_result(artifact_ids, act_on(artifact_ids, None))
    found = bulk.find(reading.selected_ids(filter), expected=expected_count)
    return bulk.in_batches(found, lambda ids: changed_since(act_on(ids, filter)))


def changed_since(missed: dict[UUID, ApiError]) -> dict[UUID, ApiError]:
    """Return the errors of documents that a filter matched before and no longer matches.

    Documents that still exist have changed, so their error is a 409.
    """
    there = queries.there(list(missed)) if missed else []
    error = errors.conflict("The document has changed: the filter finds it no more.")
    return missed | dict.fromkeys(there, error)


def delete_expired(days: int, checkpoint: Callable[[], None]) -> int:
    """Delete the organization's documents that are older than `days`; return how many.

    Emits `artifact.deleted` for each, whatever its status. `checkpoint` commits each batch, so a
    run after a crash continues with the remaining documents.
    """
    until = db.utc_now() - timedelta(days=days)
    deleted = 0
    while rows := queries.lock_created_before(until, most=bulk.BATCH):
        _delete(rows)
        checkpoint()
        deleted += len(rows)
        log.info("artifacts.retention", deleted=deleted, days=days)
    return deleted
