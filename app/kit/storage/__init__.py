"""File storage: one interface for local disks and object stores."""

from app.kit.storage.keys import InvalidKey, NotStored, StorageUnavailable, TooLarge, build_blob_key
from app.kit.storage.space import DiskReserve, StorageFull
from app.kit.storage.store import FileEntry, FolderTotals, StagedFile, Storage, StoredFile
from app.kit.storage.streams import FileStream

__all__ = [
    "DiskReserve",
    "FileEntry",
    "FileStream",
    "FolderTotals",
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
