"""Compute the differences between two tag sets."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from app.engines.agreement.marks import ALIKE, pairs
from app.engines.agreement.places import (
    UNKNOWN,
    Place,
    Shape,
    Shapes,
    by_place,
    in_order,
    marks_of,
    value_key,
    written,
)
from app.engines.agreement.rows import Lineup, line_up, table_of
from app.engines.fields import Tag

Change: TypeAlias = dict[str, Any]
_Pairs: TypeAlias = list[tuple[Tag | None, Tag | None]]
_MEMBERS = ("value", "evidence", "confidence", "source")


class ContentDiff(NamedTuple):
    """The differences between two tag sets, with table rows matched by content.

    `changes` has the same form as the result of `diff`, except that the tags of one change may be
    in different rows; `row` is the row of `to`, or of `from` when `to` is None. `moved` is a list
    of {table, from, to, count}: `count` consecutive rows that started at number `from` before and
    start at `to` after.

    To turn the first tag set into the second, remove the `from` tags of all changes, renumber the
    remaining rows by `moved`, and insert the `to` tags.
    """

    changes: list[Change]
    moved: list[dict[str, Any]]


def diff_by_content(before: Sequence[Tag], after: Sequence[Tag], known: Shapes) -> ContentDiff:
    """Compare two tag sets, matching table rows by content instead of by number."""
    lined = line_up([before, after], known)
    ours, theirs = lined.sets
    changes = [
        {
            **change,
            "row": _number(lined, change, 1 if change["to"] else 0),
            "from": _original(lined, change, 0),
            "to": _original(lined, change, 1),
        }
        for change in diff(ours, theirs, known)
    ]
    return ContentDiff(changes, _moved(lined))


def _number(lined: Lineup, change: Change, side: int) -> int | None:
    if change["row"] is None:
        return None
    return lined.rows[table_of(change["field"]), change["row"]][side]


def _original(lined: Lineup, change: Change, side: int) -> Tag | None:
    tag = change["to" if side else "from"]
    row = _number(lined, change, side)
    return tag if tag is None or tag["row"] == row else {**tag, "row": row}


def _moved(lined: Lineup) -> list[dict[str, Any]]:
    """Return the runs of consecutive rows that moved by the same distance."""
    found: list[dict[str, Any]] = []
    for (table, _), (old, new) in sorted(lined.rows.items()):
        if old is None or new is None or old == new:
            continue
        last = found[-1] if found else None
        if (
            last
            and table == last["table"]
            and old - last["from"] == new - last["to"] == last["count"]
        ):
            last["count"] += 1
        else:
            found.append({"table": table, "from": old, "to": new, "count": 1})
    return found


def diff(
    before: Sequence[Tag], after: Sequence[Tag], known: Shapes, *, same: bool = False
) -> list[Change]:
    """Compare two tag sets and return the changes, place by place in schema order.

    Each change has field, row, kind (`added`, `removed`, `changed`, `same`), members (which of
    value, evidence, confidence and source differ in a changed tag), from and to (the tags, or
    None). Unchanged tags are included only with `same`.

    Where a place has several tags, identical tags are paired first, then equal values, then marks
    that overlap (spans by any amount, regions by half); the rest was removed or added. The order of
    tags does not count as a difference. Rows are matched by number, so applying the changes to
    `before` gives `after`, except for that order. `diff_by_content` matches rows by content
    instead.
    """
    ours, theirs = by_place(before), by_place(after)
    found: list[Change] = []
    for place in in_order(ours.keys() | theirs.keys(), known):
        left, right = ours.get(place, []), theirs.get(place, [])
        if left == right and not same:
            continue
        shape = known.get(place[0], UNKNOWN)
        found.extend(_changes(place, _aligned(left, right, shape), same=same))
    return found


def _changes(place: Place, aligned: _Pairs, *, same: bool) -> Iterator[Change]:
    for one, other in aligned:
        members: list[str] = []
        if one is None or other is None:
            kind = "added" if one is None else "removed"
        else:
            members = [name for name in _MEMBERS if one[name] != other[name]]
            kind = "changed" if members else "same"
        if kind != "same" or same:
            field, row = place
            yield {
                "field": field,
                "row": row,
                "kind": kind,
                "members": members,
                "from": one,
                "to": other,
            }


def _aligned(left: list[Tag], right: list[Tag], shape: Shape) -> _Pairs:
    """Pair the tags of one place; an unpaired tag gets None as its partner."""
    if not shape.multiple and len(left) <= 1 and len(right) <= 1:
        return [(left[0] if left else None, right[0] if right else None)]
    found, left, right = _alike(left, right, written)
    if not shape.is_mark:
        more, left, right = _alike(left, right, value_key)
        found += more
    # The position of a mark identifies it better than its value, which may be what was edited.
    ours, theirs = (marks_of(tags, shape, labelled=False) for tags in (left, right))
    if ours and theirs:
        chosen = pairs(ours, theirs, 0.0 if shape.kind == "span" else ALIKE)
        found += [(left[here], right[there]) for here, there in chosen]
        gone, come = {here for here, _ in chosen}, {there for _, there in chosen}
        left = [tag for position, tag in enumerate(left) if position not in gone]
        right = [tag for position, tag in enumerate(right) if position not in come]
    return [*found, *((tag, None) for tag in left), *((None, tag) for tag in right)]


def _alike(left: list[Tag], right: list[Tag], key: Any) -> tuple[_Pairs, list[Tag], list[Tag]]:
    """Pair tags whose `key(tag)` is equal; return the pairs and the unpaired tags of both sides."""
    waiting: dict[Any, list[Tag]] = defaultdict(list)
    for tag in reversed(right):
        waiting[key(tag)].append(tag)
    found: _Pairs = []
    rest = []
    for tag in left:
        others = waiting.get(key(tag))
        if others:
            found.append((tag, others.pop()))
        else:
            rest.append(tag)
    unmatched = {id(tag) for others in waiting.values() for tag in others}
    return found, rest, [tag for tag in right if id(tag) in unmatched]
