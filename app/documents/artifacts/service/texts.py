"""Texts of documents that are being labeled, kept in memory: a draft is saved again and again."""

import sys
from datetime import datetime
from threading import Lock
from uuid import UUID

from cachetools import LRUCache

from app.documents.artifacts.queries import texts
from app.engines.fields import SourceText
from app.kit import tenancy

CACHE_BYTES = 16 * 2**20
"""What the texts of one process take at most; a text of more than that is read each time."""

_Key = tuple[UUID, UUID, datetime]

_cache: LRUCache[_Key, str] = LRUCache(CACHE_BYTES, getsizeof=sys.getsizeof)
_lock = Lock()


def source_text(artifact_id: UUID, updated_at: datetime) -> SourceText:
    """Return the text of a document that the caller has locked, read when it is first needed.

    `updated_at` is the locked document's: whatever writes a text sets it, and a save does not.
    """
    key = (tenancy.current_organization_id(), artifact_id, updated_at)
    return SourceText(lambda: _load(key))


def _load(key: _Key) -> str:
    with _lock:
        text = _cache.get(key)
    if text is None:
        text = texts.read(key[1])
        if sys.getsizeof(text) <= CACHE_BYTES:
            with _lock:
                _cache[key] = text
    return text
