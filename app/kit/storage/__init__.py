"""Where files are kept: one interface for a disk and an object store."""

from app.kit.storage.keys import InvalidKey, NotStored, StorageUnavailable, TooLarge, blob_key
from app.kit.storage.space import Reserve, StorageFull
from app.kit.storage.store import Entry, Staged, Storage, Stored, Stream, Totals

__all__ = [
    "Entry",
    "InvalidKey",
    "NotStored",
    "Reserve",
    "Staged",
    "Storage",
    "StorageFull",
    "StorageUnavailable",
    "Stored",
    "Stream",
    "TooLarge",
    "Totals",
    "blob_key",
]
