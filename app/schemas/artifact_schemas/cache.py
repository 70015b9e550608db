"""Compiled fields by version: a version never changes, so what was compiled once serves on."""

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
        # Outside the lock: two threads may both compile, and both results are right.
        cached = compile_fields(fields)
        with _lock:
            _cache[version_id] = cached
    return cached
