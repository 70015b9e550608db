"""Cache of compiled fields by schema version; versions never change, so no entry expires."""

from collections.abc import Sequence
from threading import Lock
from uuid import UUID

from cachetools import LRUCache

from app.engines.fields import CompiledFields, Field, compile_fields

_cache: LRUCache[UUID, CompiledFields] = LRUCache(maxsize=256)
_lock = Lock()


def compiled(version_id: UUID, fields: Sequence[Field]) -> CompiledFields:
    """Return the compiled fields of a published version, from the cache if possible."""
    with _lock:
        cached = _cache.get(version_id)
    if cached is None:
        # Compile outside the lock: if two threads do it at once, their results are equal.
        cached = compile_fields(fields)
        with _lock:
            _cache[version_id] = cached
    return cached
