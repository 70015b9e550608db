"""Compute the differences between two tag sets."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from app.engines.agreement.boxes import pair_by_key
from app.engines.agreement.marks import MIN_OVERLAP, match_marks
from app.engines.agreement.rows import RowAlignment, align_rows, get_table_key
from app.engines.agreement.tag_keys import (
    UNKNOWN_FIELD_SPEC,
    FieldSpec,
    FieldSpecs,
    TagKey,
    build_value_key,
    group_by_tag_key,
    list_marks,
    serialize_tag,
    sort_tag_keys,
)
from app.engines.fields import Tag

Change: TypeAlias = dict[str, Any]
_TagPairs: TypeAlias = list[tuple[Tag | None, Tag | None]]
_COMPARED_PROPERTIES = ("value", "evidence", "confidence", "source")


class ContentDiff(NamedTuple):
    """The differences between two tag sets, with table rows matched by content.

    `changes` is a list as returned by `diff`, except that the two tags of a change may be in
    different rows. `row` is the row of the `to` tag, or of the `from` tag if `to` is None. `moved`
    is a list of {table, from, to, count}; each item is a run of `count` consecutive rows that
    starts at row `from` in the first tag set and at row `to` in the second.

    To convert the first tag set to the second, remove the `from` tags of all changes, renumber the
    remaining rows according to `moved`, and insert the `to` tags.
    """

    changes: list[Change]
    moved: list[dict[str, Any]]


def diff_by_content(
    before: Sequence[Tag], after: Sequence[Tag], field_specs: FieldSpecs
) -> ContentDiff:
    """Compare two tag sets, matching table rows by content instead of by number."""
    alignment = align_rows([before, after], field_specs)
    old_tags, new_tags = alignment.tag_sets
    changes = [
        {
            **change,
            "row": _get_row_number(alignment, change, 1 if change["to"] else 0),
            "from": _get_original_tag(alignment, change, 0),
            "to": _get_original_tag(alignment, change, 1),
        }
        for change in diff(old_tags, new_tags, field_specs)
    ]
    return ContentDiff(changes, _find_moved_runs(alignment))


def _get_row_number(alignment: RowAlignment, change: Change, side: int) -> int | None:
    """Return the original row number of a change in tag set `side` (0 or 1).

    Returns None if the field is not in a table, or if the tag set does not have the row.
    """
    if change["row"] is None:
        return None
    return alignment.rows[get_table_key(change["field"]), change["row"]][side]


def _get_original_tag(alignment: RowAlignment, change: Change, side: int) -> Tag | None:
    """Return the `from` tag (`side` 0) or the `to` tag (`side` 1) of a change, or None.

    The tag has the row number that it had before the alignment.
    """
    tag = change["to" if side else "from"]
    row = _get_row_number(alignment, change, side)
    return tag if tag is None or tag["row"] == row else {**tag, "row": row}


def _find_moved_runs(alignment: RowAlignment) -> list[dict[str, Any]]:
    """Find the runs of consecutive rows that moved by the same distance."""
    runs: list[dict[str, Any]] = []
    for (table, _), (old_row, new_row) in sorted(alignment.rows.items()):
        if old_row is None or new_row is None or old_row == new_row:
            continue
        last = runs[-1] if runs else None
        if (
            last
            and table == last["table"]
            and old_row - last["from"] == new_row - last["to"] == last["count"]
        ):
            last["count"] += 1
        else:
            runs.append({"table": table, "from": old_row, "to": new_row, "count": 1})
    return runs


def diff(
    before: Sequence[Tag],
    after: Sequence[Tag],
    field_specs: FieldSpecs,
    *,
    include_same: bool = False,
) -> list[Change]:
    """Compare two tag sets; return the changes, sorted by field in schema order and then by row.

    Each change has the keys field, row, kind, members, from and to. `kind` is `added`, `removed`,
    `changed` or `same`. `members` lists the properties of a changed tag that differ: value,
    evidence, confidence or source. `from` and `to` are the tags, or None if there is no such tag.
    Unchanged tags are included only if `include_same` is true.

    If several tags have the same field and row, identical tags are paired first. In span and region
    fields, tags with overlapping positions are paired next (spans with any overlap, regions that
    overlap by at least half); in other fields, tags with equal values are paired next. Tags that
    remain unpaired were removed or added. The order of tags does not count as a difference. Rows
    are matched by number, so applying the changes to `before` gives `after`, except for the order
    of the tags. `diff_by_content` matches rows by content instead.
    """
    tags_before, tags_after = group_by_tag_key(before), group_by_tag_key(after)
    changes: list[Change] = []
    for tag_key in sort_tag_keys(tags_before.keys() | tags_after.keys(), field_specs):
        left, right = tags_before.get(tag_key, []), tags_after.get(tag_key, [])
        if left == right and not include_same:
            continue
        field_spec = field_specs.get(tag_key[0], UNKNOWN_FIELD_SPEC)
        changes.extend(
            _list_changes(tag_key, _align_tags(left, right, field_spec), include_same=include_same)
        )
    return changes


def _list_changes(tag_key: TagKey, pairs: _TagPairs, *, include_same: bool) -> Iterator[Change]:
    for old, new in pairs:
        changed_properties: list[str] = []
        if old is None or new is None:
            kind = "added" if old is None else "removed"
        else:
            changed_properties = [name for name in _COMPARED_PROPERTIES if old[name] != new[name]]
            kind = "changed" if changed_properties else "same"
        if kind != "same" or include_same:
            field, row = tag_key
            yield {
                "field": field,
                "row": row,
                "kind": kind,
                "members": changed_properties,
                "from": old,
                "to": new,
            }


def _align_tags(left: list[Tag], right: list[Tag], field_spec: FieldSpec) -> _TagPairs:
    """Align tags with the same tag key in pairs; an unpaired tag gets None as its partner."""
    if not field_spec.multiple and len(left) <= 1 and len(right) <= 1:
        return [(left[0] if left else None, right[0] if right else None)]
    identical_pairs, left, right = pair_by_key(left, right, serialize_tag, serialize_tag)
    pairs: _TagPairs = [*identical_pairs]
    if not field_spec.has_marks:
        equal_value_pairs, left, right = pair_by_key(left, right, build_value_key, build_value_key)
        pairs += equal_value_pairs
    # The position of a tag identifies it better than its value, which may have been edited.
    left_marks, right_marks = (
        list_marks(tags, field_spec, labeled=False) for tags in (left, right)
    )
    if left_marks and right_marks:
        min_overlap = 0.0 if field_spec.field_type == "span" else MIN_OVERLAP
        matches = match_marks(left_marks, right_marks, min_overlap)
        pairs += [(left[left_index], right[right_index]) for left_index, right_index in matches]
        paired_left = {left_index for left_index, _ in matches}
        paired_right = {right_index for _, right_index in matches}
        left = [tag for position, tag in enumerate(left) if position not in paired_left]
        right = [tag for position, tag in enumerate(right) if position not in paired_right]
    return [*pairs, *((tag, None) for tag in left), *((None, tag) for tag in right)]
