"""Where each value of a merge came from: one entry for each of its tags, in their order."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import orjson

from app.engines.agreement import Shapes, diff, line_up
from app.engines.fields import Tag

Entry: TypeAlias = dict[str, Any]
"""field, row, value, tag_set_ids, revisions (of each of them, in their order) and by."""


def entry(tag: Tag, by: str, said: Sequence[tuple[str, int]] = ()) -> Entry:
    """That `by` decided for a tag; `said` are the label sets that have it, and their revisions."""
    return {
        **{name: tag[name] for name in ("field", "row", "value")},
        "tag_set_ids": [one for one, _ in said],
        "revisions": [revision for _, revision in said],
        "by": by,
    }


def corrected(
    entries: Sequence[Entry], before: Sequence[Tag], after: Sequence[Tag], known: Shapes
) -> list[Entry]:
    """The entries once a reviewer has made the tags `before` into those `after`.

    What they left, though in another row, came from where it did; the rest is their own. Of spans
    and boxes it is the place that tells.
    """
    ours, theirs = line_up([before, after], known).sets
    told = defaultdict(list)
    for one in reversed(entries):
        told[_key(one)].append(one)
    # Of a merge that was corrected before corrections were traced, some have no entry.
    origins = {
        id(tag): told[_key(was)].pop()
        for tag, was in zip(ours, before, strict=True)
        if told.get(_key(was))
    }
    numbers = {id(tag): number for number, tag in enumerate(theirs)}
    found = [entry(tag, "reviewer") for tag in after]
    for change in diff(ours, theirs, known, same=True):
        kept = origins.get(id(change["from"]))
        if kept and change["to"] and not _said_anew(change, known):
            number = numbers[id(change["to"])]
            found[number] = {**kept, "row": after[number]["row"]}
    return found


def _key(of: Mapping[str, Any]) -> bytes:
    named = [of[name] for name in ("field", "row", "value")]
    return orjson.dumps(named, option=orjson.OPT_SORT_KEYS)


def _said_anew(change: Entry, known: Shapes) -> bool:
    shape = known.get(change["field"])
    member = "evidence" if shape is not None and shape.is_mark else "value"
    return not {"value", member}.isdisjoint(change["members"])
