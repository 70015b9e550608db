"""Compiled fields by version: a version never changes, so what was compiled once serves on."""

from collections import OrderedDict
from threading import Lock
from typing import Any
from uuid import UUID

from app.engines.fields import CompiledFields, compile_fields

CAPACITY = 256
_kept: OrderedDict[UUID, CompiledFields] = OrderedDict()
_lock = Lock()


def compiled(version_id: UUID, fields: list[dict[str, Any]]) -> CompiledFields:
    """The fields of `version_id` made ready; the least recently used of many are forgotten."""
    with _lock:
        found = _kept.get(version_id)
        if found is not None:
            _kept.move_to_end(version_id)
            return found
    # Outside the lock: two threads may both compile, and both results are right.
    made = compile_fields(fields)
    with _lock:
        _kept[version_id] = made
        _kept.move_to_end(version_id)
        while len(_kept) > CAPACITY:
            _kept.popitem(last=False)
    return made
