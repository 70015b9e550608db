"""The origin of tags: the source of each tag, and the provenance of each value in a merge.

Users cannot mark their own tags as created by a model. The provenance of a merge has one entry for
each tag, in the order of the tags.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import orjson

from app.engines.agreement.comparing import Change, diff
from app.engines.agreement.rows import align_rows
from app.engines.agreement.tag_keys import FieldSpecs
from app.engines.fields import Tag
from app.kit.principal import Caller

Entry: TypeAlias = dict[str, Any]
"""A provenance entry: a dict with field, row, value, tag_set_ids, revisions and by.

`revisions` is in the order of `tag_set_ids`. `by` is how the tag was decided."""


def build_entry(tag: Tag, by: str, origins: Sequence[tuple[str, int]] = ()) -> Entry:
    """Build the provenance entry of a tag; `by` is how the tag was decided.

    `origins` contains the id and the revision of each tag set that has the tag.
    """
    return {
        **{name: tag[name] for name in ("field", "row", "value")},
        "tag_set_ids": [tag_set_id for tag_set_id, _ in origins],
        "revisions": [revision for _, revision in origins],
        "by": by,
    }


def correct_entries(
    entries: Sequence[Entry], before: Sequence[Tag], after: Sequence[Tag], field_specs: FieldSpecs
) -> list[Entry]:
    """Return the provenance entries of a merge after a reviewer changed its tags.

    `entries` and `before` are the merge's old entries and tags, and `after` are its new tags. Tags
    that the reviewer kept, even in another row, keep their origin. All other tags get the origin
    `reviewer`. Spans and boxes are compared by location.
    """
    aligned_before, aligned_after = align_rows([before, after], field_specs).tag_sets
    entries_by_key = defaultdict(list)
    for entry in reversed(entries):
        entries_by_key[_build_key(entry)].append(entry)
    # A merge that was corrected in an earlier release may have tags without an entry.
    origins = {
        id(tag): entries_by_key[_build_key(before_tag)].pop()
        for tag, before_tag in zip(aligned_before, before, strict=True)
        if entries_by_key.get(_build_key(before_tag))
    }
    positions = {id(tag): position for position, tag in enumerate(aligned_after)}
    result = [build_entry(tag, "reviewer") for tag in after]
    for change in diff(aligned_before, aligned_after, field_specs, include_same=True):
        origin = origins.get(id(change["from"]))
        if origin and change["to"] and not _has_new_value(change, field_specs):
            position = positions[id(change["to"])]
            result[position] = {**origin, "row": after[position]["row"]}
    return result


def _build_key(tag: Mapping[str, Any]) -> bytes:
    key = [tag[name] for name in ("field", "row", "value")]
    return orjson.dumps(key, option=orjson.OPT_SORT_KEYS)


def _has_new_value(change: Change, field_specs: FieldSpecs) -> bool:
    field_spec = field_specs.get(change["field"])
    compared_property = "evidence" if field_spec is not None and field_spec.has_marks else "value"
    return not {"value", compared_property}.isdisjoint(change["members"])


def can_keep_sources(tags: Iterable[Tag], caller: Caller) -> bool:
    """Return whether each tag can keep the `source` that the caller sent.

    Callers with an API key may set any source, because API keys are created by admins and used by
    other systems.
    """
    return caller.api_key_id is not None or all(tag["source"] == "human" for tag in tags)


def set_sources(tags: Iterable[Tag], known_tags: Iterable[Tag]) -> None:
    """Set the source of each tag to `human`, unless the tag equals one of `known_tags`.

    Tags are equal if they have the same field, value, confidence, source and evidence locations.
    Their rows may differ. If `known_tags` has n equal tags, at most n equal tags keep their source.
    """
    non_human_tags = [tag for tag in tags if tag["source"] != "human"]
    for tag in find_missing_tags(non_human_tags, known_tags):
        tag["source"] = "human"


def find_missing_tags(tags: Iterable[Tag], known_tags: Iterable[Tag]) -> list[Tag]:
    """Return those of `tags` that are missing from `known_tags`, compared as in `set_sources`.

    If `tags` contains an equal tag more often than `known_tags` does, the surplus is returned.
    """
    remaining_counts = Counter(map(_build_identity, known_tags))
    missing_tags = []
    for tag in tags:
        identity = _build_identity(tag)
        if remaining_counts[identity]:
            remaining_counts[identity] -= 1
        else:
            missing_tags.append(tag)
    return missing_tags


def _build_identity(tag: Tag) -> bytes:
    locations: list[Any] = [
        [evidence[name] for name in ("page", "box", "start", "end")] for evidence in tag["evidence"]
    ]
    properties = [tag[name] for name in ("field", "value", "confidence", "source")]
    return orjson.dumps([properties, locations], option=orjson.OPT_SORT_KEYS)
