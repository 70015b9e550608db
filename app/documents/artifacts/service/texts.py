"""In-memory cache of the texts of documents being labeled; each save of a draft needs the text."""

import sys
from datetime import datetime
from threading import Lock
from uuid import UUID

from cachetools import LRUCache

from app.documents.artifacts.queries import texts
from app.engines.fields import SourceText
from app.kit import tenancy

CACHE_BYTES = 16 * 2**20
"""The size limit of the cache of one process; a larger text is not cached."""

_Key = tuple[UUID, UUID, datetime]

_cache: LRUCache[_Key, str] = LRUCache(CACHE_BYTES, getsizeof=sys.getsizeof)
_lock = Lock()


def source_text(artifact_id: UUID, updated_at: datetime) -> SourceText:
    """Return the text of a document that the caller has locked; it is loaded on first use.

    `updated_at` is that of the locked document: every write of the text changes it, and saving a
    draft does not.
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
