"""Lists of changes, limited to the size of a response."""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from app.engines.agreement import Change

MAX_ENTRIES = 500
MAX_BYTES = 1024 * 1024


def limit_size(items: Iterable[dict[str, Any]], *, max_bytes: int) -> list[dict[str, Any]]:
    """Return the first items, as many as fit into `max_bytes` as JSON."""
    fitting = []
    remaining = max_bytes
    for item in items:
        remaining -= len(orjson.dumps(item))
        if remaining < 0:
            break
        fitting.append(item)
    return fitting


def summarize_changes(
    changes: Sequence[Change],
    *,
    moved: Sequence[dict[str, Any]] = (),
    max_entries: int = MAX_ENTRIES,
    max_bytes: int = MAX_BYTES,
) -> dict[str, Any]:
    """Return the number of changes of each type and the first changes that fit.

    The result has added, removed, changed, entries, moved and truncated. `truncated` is true if
    there are more changes than in `entries`, or more than `max_entries` moved ranges.
    """
    entries = limit_size(changes[:max_entries], max_bytes=max_bytes)
    kinds = [change["kind"] for change in changes]
    counts = {kind: kinds.count(kind) for kind in ("added", "removed", "changed")}
    truncated = len(entries) < len(changes) or len(moved) > max_entries
    return {
        **counts,
        "entries": entries,
        "moved": list(moved[:max_entries]),
        "truncated": truncated,
    }
