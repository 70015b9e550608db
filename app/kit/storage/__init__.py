"""File storage: one interface for local disks and object stores."""

from app.kit.storage.keys import InvalidKey, NotStored, StorageUnavailable, TooLarge, build_blob_key
from app.kit.storage.space import DiskReserve, StorageFull
from app.kit.storage.store import StagedFile, Storage, StoredFile

__all__ = [
    "DiskReserve",
    "InvalidKey",
    "NotStored",
    "StagedFile",
    "Storage",
    "StorageFull",
    "StorageUnavailable",
    "StoredFile",
    "TooLarge",
    "build_blob_key",
]
