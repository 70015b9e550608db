"""Lists of changes, cut to what an answer can hold."""

from collections.abc import Sequence
from typing import Any

import orjson

from app.engines.agreement import Change

MAX_ENTRIES = 500
MAX_BYTES = 1024 * 1024


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
    kept: list[Change] = []
    room = most_bytes
    for change in changes[:entries]:
        room -= len(orjson.dumps(change))
        if room < 0:
            break
        kept.append(change)
    kinds = [change["kind"] for change in changes]
    counts = {kind: kinds.count(kind) for kind in ("added", "removed", "changed")}
    cut = len(kept) < len(changes) or len(moved) > entries
    return {**counts, "entries": kept, "moved": list(moved[:entries]), "truncated": cut}
