"""What became of one label set's tags in another."""

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
    """Two label sets, rows of tables compared by what they say.

    `changes` are those of `diff`, but that the tags of one may stand in different rows; `row` is
    that of `to`, or of `from` where there is no `to`. `moved`: {table, from, to, count}, as many
    rows one after another that have the numbers `from` on before and `to` on after. To make the
    one of the other, take out what the changes have in `from`, renumber by `moved` what is left,
    and put in what they have in `to`.
    """

    changes: list[Change]
    moved: list[dict[str, Any]]


def diff_by_content(before: Sequence[Tag], after: Sequence[Tag], known: Shapes) -> ContentDiff:
    """What differs between two label sets, whatever the numbers of their rows."""
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
    """Runs of rows that moved together."""
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
    """What differs, place by place in the schema's order; with `same` also what does not.

    Each: field, row, kind (`added`, `removed`, `changed`, `same`), members (of a changed tag, which
    of value, evidence, confidence and source differ), from and to (the tags, or None).

    A field that takes one value has at most one change per place. Where a place has several tags,
    equal ones go together first, then equal values, then marks that overlap (spans at all, regions
    by half); what is left was removed or added. Their order is no difference. Applying the changes
    to `before` gives `after`, but for that order. Rows are matched by their number: that makes the
    changes all that a client needs to save anew. `diff_by_content` matches them by what they say.
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
    """Which tag of one place became which; None on the side that has none."""
    if not shape.multiple and len(left) <= 1 and len(right) <= 1:
        return [(left[0] if left else None, right[0] if right else None)]
    found, left, right = _alike(left, right, written)
    if not shape.is_mark:
        more, left, right = _alike(left, right, value_key)
        found += more
    # Where a mark stands tells more than its value, which may have been what was changed.
    ours, theirs = (marks_of(tags, shape, labelled=False) for tags in (left, right))
    if ours and theirs:
        chosen = pairs(ours, theirs, 0.0 if shape.kind == "span" else ALIKE)
        found += [(left[here], right[there]) for here, there in chosen]
        gone, come = {here for here, _ in chosen}, {there for _, there in chosen}
        left = [tag for position, tag in enumerate(left) if position not in gone]
        right = [tag for position, tag in enumerate(right) if position not in come]
    return [*found, *((tag, None) for tag in left), *((None, tag) for tag in right)]


def _alike(left: list[Tag], right: list[Tag], key: Any) -> tuple[_Pairs, list[Tag], list[Tag]]:
    """Pairs of equal `key`, and what is left of both sides; the key is of the tag."""
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
