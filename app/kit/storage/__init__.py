"""File storage: one interface for local disks and object stores."""

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
