"""Delete documents, and files that belong to no document."""

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import groupby, islice
from operator import itemgetter
from uuid import UUID

from app.documents.artifacts import emitted_events
from app.documents.artifacts.emitted_events import DeletedPayload
from app.documents.artifacts.queries import creating as queries
from app.documents.artifacts.queries import updating
from app.documents.artifacts.service import files
from app.documents.artifacts.service.reading import lock
from app.kit import db, events, tenancy
from app.kit.db import Checkpoint
from app.kit.storage.store import FileEntry

STRAY_AFTER = timedelta(hours=1)
"""The minimum age of a stray file; a younger file may belong to a request in progress."""
PAGE_IMAGE_LIFETIME = timedelta(days=7)
_BATCH = 500
_CONTENT = re.compile(
    r"organizations/(?P<organization>[0-9a-f-]{36})/blobs/[0-9a-f]{2}/(?P<sha256>[0-9a-f]{64})"
    r"(?P<page_image>\.pages/.+)?"
)


def delete(artifact_id: UUID, revision: int | None = None) -> None:
    """Delete a document with its tag sets.

    Emits `artifact.deleted`; a job then deletes the files. Raises 404, and 409 `stale_precondition`
    if `revision` is not the current revision.
    """
    artifact = lock(artifact_id, revision)
    updating.delete_many([artifact_id])
    payload: DeletedPayload = {"artifact_id": artifact_id, "sha256": artifact.sha256}
    events.emit(emitted_events.DELETED, payload)


def delete_contents(digests: Iterable[str], checkpoint: Checkpoint) -> int:
    """Delete the stored files with these SHA-256 digests that no document of the organization uses.

    Each content has a transaction of its own, which `checkpoint` commits, because uploads of the
    same content wait for its lock. Returns the number of deleted files.
    """
    deleted_count = 0
    for sha256 in sorted(set(digests)):
        # If the session is lost, so is the lock, and the file may belong to a new document. So the
        # query comes directly before the deletion, and fails if the session was lost before it.
        is_unused = queries.lock_unused_content(sha256)
        if is_unused:
            files.delete_content(sha256)
        checkpoint()
        if is_unused:
            # This needs no lock: a new document with the content can render its images again.
            files.delete_page_images(sha256)
            deleted_count += 1
    return deleted_count


def sweep() -> int:
    """Sweep the storage: delete files that belong to no document, and old page images.

    Page images are old after `PAGE_IMAGE_LIFETIME`. Files younger than `STRAY_AFTER` are skipped,
    because they may belong to a request that has not committed yet. Runs across
    organizations, and commits the session itself. Returns the number of deleted contents and page
    images.
    """
    store = files.get_storage()
    deleted_count = 0
    now = db.utc_now()
    matches: Iterator[tuple[FileEntry, re.Match[str]]] = (
        (entry, match)
        for entry in store.list("organizations")
        if entry.modified < now - STRAY_AFTER and (match := _CONTENT.fullmatch(entry.key))
    )
    while batch := list(islice(matches, _BATCH)):
        contents = [(match["organization"], match["sha256"]) for _, match in batch]
        used_contents = queries.find_used_contents(contents)
        db.session().commit()
        for entry, match in batch:
            if match["page_image"] and entry.modified < now - PAGE_IMAGE_LIFETIME:
                store.delete(entry.key)
                deleted_count += 1
        deleted_count += _delete_unused_contents(
            content for content in set(contents) if content not in used_contents
        )
    return deleted_count


def _delete_unused_contents(contents: Iterable[tuple[str, str]]) -> int:
    deleted_count = 0
    for organization, group in groupby(sorted(contents), key=itemgetter(0)):
        with tenancy.organization(UUID(organization)):
            deleted_count += delete_contents((sha256 for _, sha256 in group), db.session().commit)
    return deleted_count
