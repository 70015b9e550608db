"""Deleting documents, and the files that no document has."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from itertools import groupby, islice
from operator import itemgetter
from uuid import UUID

from app.documents.artifacts.queries import cleaning as queries
from app.documents.artifacts.queries import reading
from app.documents.artifacts.service import files
from app.kit import db, errors, events, tenancy
from app.kit.storage.store import STAGING, Entry

STRAY_AFTER = timedelta(hours=1)
DRAWING_KEPT = timedelta(days=7)
_BATCH = 500
_LOCKED_AT_ONCE = 10
_CONTENT = re.compile(
    r"organizations/(?P<organization>[0-9a-f-]{36})/blobs/[0-9a-f]{2}/(?P<sha256>[0-9a-f]{64})"
    r"(?P<drawing>\.pages/.+)?"
)


def delete(artifact_id: UUID, revision: int | None = None) -> None:
    """Delete a document with its labels, now; its files follow: `artifact.deleted`.

    Raises 404, 409 `stale_precondition`.
    """
    row = reading.one(artifact_id, lock=True)
    if row is None:
        raise errors.not_found()
    if revision is not None and revision != row.revision:
        raise errors.stale(row.revision)
    queries.delete_one(artifact_id)
    events.emit("artifact.deleted", {"artifact_id": artifact_id, "sha256": row.sha256})


def delete_contents(digests: Iterable[str], checkpoint: Callable[[], None]) -> int:
    """Delete the files of contents of the bound organization that no artifact has, return how many.

    A few contents are locked at a time, and `checkpoint` ends the transaction after each few:
    whoever uploads the same content waits for it.
    """
    organization_id = tenancy.current_organization_id()
    left = iter(sorted(set(digests)))
    deleted = 0
    while some := list(islice(left, _LOCKED_AT_ONCE)):
        for sha256 in queries.lock_unused(organization_id, some):
            files.remove(organization_id, sha256)
            deleted += 1
        checkpoint()
    return deleted


def sweep() -> int:
    """Delete files that are no document's, and drawings of a week ago; how many.

    A file younger than an hour may belong to a request that has not committed. Runs across
    organizations, outside a transaction of its own.
    """
    store = files.storage()
    swept = store.sweep(STAGING, STRAY_AFTER)
    oldest, faded = db.utc_now() - STRAY_AFTER, db.utc_now() - DRAWING_KEPT
    found: Iterator[tuple[Entry, re.Match[str]]] = (
        (entry, match)
        for entry in store.list("organizations")
        if entry.modified < oldest and (match := _CONTENT.fullmatch(entry.key))
    )
    while batch := list(islice(found, _BATCH)):
        contents = [(match["organization"], match["sha256"]) for _, match in batch]
        held = queries.held(contents)
        db.session().commit()
        for entry, match in batch:
            if match["drawing"] and entry.modified < faded:
                store.delete(entry.key)
                swept += 1
        swept += _remove(content for content in dict.fromkeys(contents) if content not in held)
    return swept


def _remove(strays: Iterable[tuple[str, str]]) -> int:
    removed = 0
    for organization, contents in groupby(sorted(strays), key=itemgetter(0)):
        with tenancy.organization(UUID(organization)):
            removed += delete_contents((sha256 for _, sha256 in contents), db.session().commit)
    return removed
