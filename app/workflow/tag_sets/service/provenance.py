"""The provenance of a merge: one entry for each of its tags, in their order."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import orjson

from app.engines.agreement import Shapes, diff, line_up
from app.engines.fields import Tag

Entry: TypeAlias = dict[str, Any]
"""field, row, value, tag_set_ids, revisions (of these tag sets, in the same order), by."""


def build_entry(tag: Tag, by: str, origins: Sequence[tuple[str, int]] = ()) -> Entry:
    """Return the entry of a tag that `by` decided.

    `origins` has the id and the revision of each tag set that contains the tag.
    """
    return {
        **{name: tag[name] for name in ("field", "row", "value")},
        "tag_set_ids": [tag_set_id for tag_set_id, _ in origins],
        "revisions": [revision for _, revision in origins],
        "by": by,
    }


def correct_entries(
    entries: Sequence[Entry], before: Sequence[Tag], after: Sequence[Tag], shapes: Shapes
) -> list[Entry]:
    """Return the entries after a reviewer has changed the tags `before` into `after`.

    Tags that the reviewer kept, even in another row, keep their origin; the others are the
    reviewer's own. Spans and boxes are compared by their place.
    """
    old_tags, new_tags = line_up([before, after], shapes).sets
    entries_by_key = defaultdict(list)
    for entry in reversed(entries):
        entries_by_key[_key(entry)].append(entry)
    # Merges that were corrected by earlier releases have tags without an entry.
    origins = {
        id(tag): entries_by_key[_key(before_tag)].pop()
        for tag, before_tag in zip(old_tags, before, strict=True)
        if entries_by_key.get(_key(before_tag))
    }
    numbers = {id(tag): number for number, tag in enumerate(new_tags)}
    result = [build_entry(tag, "reviewer") for tag in after]
    for change in diff(old_tags, new_tags, shapes, same=True):
        origin = origins.get(id(change["from"]))
        if origin and change["to"] and not _has_new_value(change, shapes):
            number = numbers[id(change["to"])]
            result[number] = {**origin, "row": after[number]["row"]}
    return result


def _key(tag: Mapping[str, Any]) -> bytes:
    named = [tag[name] for name in ("field", "row", "value")]
    return orjson.dumps(named, option=orjson.OPT_SORT_KEYS)


def _has_new_value(change: Entry, shapes: Shapes) -> bool:
    shape = shapes.get(change["field"])
    member = "evidence" if shape is not None and shape.is_mark else "value"
    return not {"value", member}.isdisjoint(change["members"])
