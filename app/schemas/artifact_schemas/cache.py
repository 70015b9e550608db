"""Cache of compiled fields by schema version; versions never change, so no entry expires."""

from threading import Lock
from typing import Any
from uuid import UUID

from cachetools import LRUCache

from app.engines.fields import CompiledFields, compile_fields

_cache: LRUCache[UUID, CompiledFields] = LRUCache(maxsize=256)
_lock = Lock()


def compiled(version_id: UUID, fields: list[dict[str, Any]]) -> CompiledFields:
    """Return the compiled fields of a schema version."""
    with _lock:
        cached = _cache.get(version_id)
    if cached is None:
        # Compile outside the lock: if two threads do it at once, their results are equal.
        cached = compile_fields(fields)
        with _lock:
            _cache[version_id] = cached
    return cached
