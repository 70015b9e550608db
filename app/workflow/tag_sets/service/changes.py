"""Lists of changes, cut to what an answer can hold."""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from app.engines.agreement import Change

MAX_ENTRIES = 500
MAX_BYTES = 1024 * 1024


def fitting(items: Iterable[dict[str, Any]], *, most_bytes: int) -> list[dict[str, Any]]:
    """The first of them, as many as fit as JSON."""
    kept = []
    room = most_bytes
    for item in items:
        room -= len(orjson.dumps(item))
        if room < 0:
            break
        kept.append(item)
    return kept


def bounded(
    changes: Sequence[Change],
    *,
    moved: Sequence[dict[str, Any]] = (),
    entries: int = MAX_ENTRIES,
    most_bytes: int = MAX_BYTES,
) -> dict[str, Any]:
    """How many changes there are of each kind, and as many of them as fit, as JSON.

    {added, removed, changed, entries, moved, truncated}; truncated: there are more than `entries`
    and `moved` have.
    """
    kept = fitting(changes[:entries], most_bytes=most_bytes)
    kinds = [change["kind"] for change in changes]
    counts = {kind: kinds.count(kind) for kind in ("added", "removed", "changed")}
    cut = len(kept) < len(changes) or len(moved) > entries
    return {**counts, "entries": kept, "moved": list(moved[:entries]), "truncated": cut}
