"""Delete the files of deleted documents, stored files that nothing uses, and old page images."""

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from time import monotonic
from typing import NamedTuple
from uuid import UUID

from app.documents.artifacts.queries import creating as queries
from app.documents.artifacts.service import files
from app.kit import db, tenancy
from app.kit.db import Checkpoint, PositionCheckpoint
from app.kit.storage.store import FileEntry

MIN_UNUSED_AGE = timedelta(hours=1)
"""The minimum age of an unused file to delete; younger files may belong to open transactions."""
PAGE_IMAGE_LIFETIME = timedelta(days=7)
_BATCH_SIZE = 200
"""The minimum number of files before each checkpoint, and the maximum number in one query."""
_MAX_LOCKED = 20
"""The maximum number of contents that are locked at the same time while their files are deleted."""
_ORGANIZATION_ID = re.compile(r"[0-9a-f-]{36}")
_CONTENT_KEY = re.compile(
    r"organizations/(?P<organization>[0-9a-f-]{36})/blobs/[0-9a-f]{2}/(?P<sha256>[0-9a-f]{64})"
    r"(?P<page_image>\.pages/.+)?"
)


class _StoredFile(NamedTuple):
    """The file of a document, or an image of one of its pages.

    `content` consists of the organization id and the SHA-256 digest of the document's file.
    """

    entry: FileEntry
    content: tuple[str, str]
    is_page_image: bool


def delete_contents(digests: Iterable[str], checkpoint: Checkpoint) -> int:
    """Delete the files with these SHA-256 digests that no document of the organization uses.

    Also deletes their page images. `checkpoint` commits a transaction for at most `_MAX_LOCKED`
    files, because uploads of the same content wait for the lock. Returns the number of deleted
    files; page images are not counted.
    """
    deleted_count = 0
    ordered_digests = sorted(set(digests))
    for start in range(0, len(ordered_digests), _MAX_LOCKED):
        unused_digests = queries.lock_unused_contents(ordered_digests[start : start + _MAX_LOCKED])
        checked_at = monotonic()
        for sha256 in unused_digests:
            # If the connection is lost, the locks are lost too, and a new document may use the
            # file. So each deletion directly follows a check, which then fails.
            checked_at = queries.check_connection(checked_at)
            files.delete_content(sha256)
        checkpoint()
        for sha256 in unused_digests:
            # This needs no lock: a new document with the content can render its images again.
            files.delete_page_images(sha256)
        deleted_count += len(unused_digests)
    return deleted_count


def sweep(checkpoint: PositionCheckpoint, position: str = "") -> int:
    """Sweep the storage: delete files that belong to no document, and old page images.

    Page images are old after `PAGE_IMAGE_LIFETIME`. Files younger than `MIN_UNUSED_AGE` are
    skipped, because they may belong to a request that has not committed yet. Runs across
    organizations, and commits the session itself. Sweeps the folders after `position` in order.
    After at least `_BATCH_SIZE` files, passes the last swept folder to `checkpoint`. Returns the
    number of deleted files and page images.
    """
    deleted_count = 0
    files_to_check: list[_StoredFile] = []
    for folder in _list_folders(position):
        files_to_check += _list_old_files(folder)
        if len(files_to_check) >= _BATCH_SIZE:
            deleted_count += _sweep_files(files_to_check)
            checkpoint(folder)
            files_to_check = []
    return deleted_count + _sweep_files(files_to_check)


def _list_folders(position: str) -> Iterator[str]:
    """List the content folders that come after `position`, in alphabetical order.

    The folders are read from the storage, because organizations that were erased may have files.
    """
    store = files.get_storage()
    for organization in filter(_ORGANIZATION_ID.fullmatch, store.list_folders("organizations")):
        parent = f"organizations/{organization}/blobs"
        if parent >= position[: len(parent)]:
            folders = (f"{parent}/{name}" for name in store.list_folders(parent))
            yield from (folder for folder in folders if folder > position)


def _list_old_files(folder: str) -> list[_StoredFile]:
    modified_before = db.utc_now() - MIN_UNUSED_AGE
    return [
        _StoredFile(entry, (match["organization"], match["sha256"]), bool(match["page_image"]))
        for entry in files.get_storage().list(folder)
        if entry.modified_at < modified_before and (match := _CONTENT_KEY.fullmatch(entry.key))
    ]


def _sweep_files(stored_files: list[_StoredFile]) -> int:
    """Delete the files that belong to no document, and old page images; return how many."""
    deleted_count = 0
    for start in range(0, len(stored_files), _BATCH_SIZE):
        batch = stored_files[start : start + _BATCH_SIZE]
        contents = {stored_file.content for stored_file in batch}
        used_contents = queries.find_used_contents(list(contents))
        db.session().commit()
        deleted_count += _delete_old_page_images(batch)
        deleted_count += _delete_unused_contents(contents - used_contents)
    return deleted_count


def _delete_old_page_images(stored_files: list[_StoredFile]) -> int:
    modified_before = db.utc_now() - PAGE_IMAGE_LIFETIME
    keys = [
        stored_file.entry.key
        for stored_file in stored_files
        if stored_file.is_page_image and stored_file.entry.modified_at < modified_before
    ]
    store = files.get_storage()
    for key in keys:
        store.delete(key)
    for folder in {key.rpartition("/")[0] for key in keys}:
        store.prune(folder)
    return len(keys)


def _delete_unused_contents(contents: Iterable[tuple[str, str]]) -> int:
    deleted_count = 0
    for organization_id, group in groupby(sorted(contents), key=itemgetter(0)):
        with tenancy.organization(UUID(organization_id)):
            deleted_count += delete_contents((sha256 for _, sha256 in group), db.session().commit)
    return deleted_count
