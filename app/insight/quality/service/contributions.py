"""Compute what one document contributes to the daily aggregates, from its rows alone."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import combinations, pairwise
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from app.engines.agreement import (
    MOST_MATCHED,
    Budget,
    Shape,
    Shapes,
    align_rows,
    diff_by_content,
    measure_agreement,
)
from app.engines.fields import Tag
from app.insight.quality.models import COUNTERS, SHARE, Subject
from app.workflow.tag_sets.transitions import COMPLETED, NOT_INDEPENDENT, TagSetStatus

_POSITIONS = {name: position for position, name in enumerate(COUNTERS)}
_SUBMISSIONS = ("submit", "import")
_DECISIONS = ("accept", "correction", "reject")
_PAIR = 2


class Key(NamedTuple):
    """The key of a cell within its organization."""

    subject: Subject
    schema_id: UUID
    name: str
    field_type: str
    day: date


Contributions = dict[Key, list[int]]
"""The counters of each cell, in the order of `COUNTERS`."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of a tag set that is no save."""

    number: int
    kind: str
    author_id: UUID | None
    created_at: datetime
    tags: list[Tag]


@dataclass(frozen=True, slots=True)
class TagSetHistory:
    """A tag set with its revisions in order, without the saves."""

    id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None
    source: str
    status: str
    superseded: bool
    seconds_spent: int
    revisions: list[Revision]

    @property
    def is_independent(self) -> bool:
        """Return whether it is the opinion of one labeler."""
        return self.source not in NOT_INDEPENDENT

    def list_submissions(self) -> list[Revision]:
        """Return the revisions with which it was submitted."""
        return [one for one in self.revisions if one.kind in _SUBMISSIONS]


@dataclass(frozen=True, slots=True)
class Document:
    """An artifact with the histories of its tag sets.

    `has_tags` is false if the tags are too large to be compared; then they are empty.
    """

    schema_id: UUID | None
    gold: bool
    tag_sets: list[TagSetHistory]
    has_tags: bool = True


@dataclass(slots=True)
class _Tally:
    """The contributions of one document, while they are counted in a time zone."""

    zone: ZoneInfo
    counts: Contributions = field(default_factory=lambda: defaultdict(lambda: [0] * len(COUNTERS)))

    def add(
        self,
        at: datetime,
        schema_id: UUID,
        subjects: Iterable[tuple[Subject, str, str]],
        **counted: int,
    ) -> None:
        day = at.astimezone(self.zone).date()
        for subject, name, kind in subjects:
            cell = self.counts[Key(subject, schema_id, name, kind, day)]
            for counter, value in counted.items():
                cell[_POSITIONS[counter]] += value


def compute(
    document: Document | None, zone: ZoneInfo, get_shapes: Callable[[UUID], Shapes]
) -> Contributions:
    """Return the contributions of a document; none if it was deleted.

    `get_shapes` returns the fields of a schema version. They depend only on the rows of the
    document, so they are the same whenever and however often they are computed.
    """
    tally = _Tally(zone)
    if document is None:
        return {}
    for tag_set in document.tag_sets:
        _count_submissions(tally, tag_set)
        _count_decisions(tally, tag_set)
        if document.has_tags:
            _count_overturned(tally, tag_set)
            _count_corrections(tally, tag_set, get_shapes)
    if document.has_tags:
        budget = Budget(MOST_MATCHED)
        for schema_id in {tag_set.schema_id for tag_set in document.tag_sets}:
            _count_agreement(tally, schema_id, document, get_shapes, budget)
        if document.gold:
            _count_accuracy(tally, document, get_shapes, budget)
    return dict(tally.counts)


def _name_subjects(tag_set: TagSetHistory) -> list[tuple[Subject, str, str]]:
    """Return the subjects of what happens to a tag set: its schema and its labeler."""
    if tag_set.labeler_id is None:
        return []
    return [(Subject.SCHEMA, "", ""), (Subject.LABELER, str(tag_set.labeler_id), "")]


def _count_submissions(tally: _Tally, tag_set: TagSetHistory) -> None:
    subjects = _name_subjects(tag_set)
    submissions = tag_set.list_submissions()
    for revision in submissions:
        tally.add(revision.created_at, tag_set.schema_id, subjects, submitted=1)
    # The time of a returned draft still grows, so it counts when it is submitted again.
    if submissions and tag_set.seconds_spent > 0 and tag_set.status != TagSetStatus.DRAFT:
        at = submissions[-1].created_at
        tally.add(at, tag_set.schema_id, subjects, timed=1, seconds=tag_set.seconds_spent)


def _count_decisions(tally: _Tally, tag_set: TagSetHistory) -> None:
    names = {"accept": "accepted", "correction": "corrected", "reject": "rejected"}
    for revision in tag_set.revisions:
        if revision.kind not in _DECISIONS:
            continue
        subjects = _name_subjects(tag_set)
        name = names[revision.kind]
        if revision.author_id is None:
            name = "auto_accepted"
        else:
            subjects = [*subjects, (Subject.REVIEWER, str(revision.author_id), "")]
        tally.add(revision.created_at, tag_set.schema_id, subjects, **{name: 1})


def _count_overturned(tally: _Tally, tag_set: TagSetHistory) -> None:
    outcomes = [one for one in tag_set.revisions if one.kind in (*_DECISIONS, "reopen")]
    for position, decision in enumerate(outcomes):
        if decision.author_id is None or decision.kind == "reopen":
            continue
        later = outcomes[position + 1 :]
        if decision.kind == "reject":
            after = next((one for one in later if one.kind != "reopen"), None)
            overturned = (
                after is not None and after.kind == "accept" and after.tags == decision.tags
            )
        else:
            overturned = bool(later) and later[0].kind == "reopen"
        if overturned:
            subjects = [(Subject.REVIEWER, str(decision.author_id), "")]
            tally.add(decision.created_at, tag_set.schema_id, subjects, overturned=1)


def _count_corrections(
    tally: _Tally, tag_set: TagSetHistory, get_shapes: Callable[[UUID], Shapes]
) -> None:
    """Count the fields whose values a reviewer kept or changed when they accepted a tag set."""
    if tag_set.labeler_id is None:
        return
    for before, after in pairwise(tag_set.revisions):
        if after.kind not in ("accept", "correction") or after.author_id is None:
            continue
        shapes = get_shapes(tag_set.schema_version_id)
        names = {one["field"] for one in (*before.tags, *after.tags)}
        changed = set()
        if after.kind == "correction":
            changes = diff_by_content(before.tags, after.tags, shapes).changes
            changed = {change["field"] for change in changes if _changes_value(change, shapes)}
        for name in names & shapes.keys():
            counter = "corrected" if name in changed else "accepted"
            subjects = [(Subject.FIELD, name, shapes[name].kind)]
            tally.add(after.created_at, tag_set.schema_id, subjects, **{counter: 1})


def _changes_value(change: Mapping[str, object], shapes: Shapes) -> bool:
    """Return whether a change is of a value, or of a mark's position, and not of details."""
    if change["kind"] != "changed":
        return True
    shape = shapes.get(str(change["field"]))
    counted = {"value", "evidence"} if shape is not None and shape.is_mark else {"value"}
    return not counted.isdisjoint(change["members"])  # type: ignore[call-overload, no-any-return]


def _find_common_shapes(
    tag_sets: Iterable[TagSetHistory], get_shapes: Callable[[UUID], Shapes]
) -> dict[str, Shape]:
    """Return the fields that are the same in the schema versions of all tag sets."""
    first, *others = [get_shapes(one) for one in {tag_set.schema_version_id for tag_set in tag_sets}]
    return {
        name: shape
        for name, shape in first.items()
        if all(other.get(name) == shape for other in others)
    }


def _select_tags(tags: Sequence[Tag], shapes: Shapes) -> list[Tag]:
    return [tag for tag in tags if tag["field"] in shapes]


def _count_agreement(
    tally: _Tally,
    schema_id: UUID,
    document: Document,
    get_shapes: Callable[[UUID], Shapes],
    budget: Budget,
) -> None:
    """Count the agreement of the tag sets that stand, as their labelers submitted them last."""
    standing = [
        one
        for one in document.tag_sets
        if one.schema_id == schema_id
        and one.is_independent
        and (one.status in COMPLETED or one.superseded)
        and one.list_submissions()
    ]
    if len(standing) < _PAIR:
        return
    shapes = _find_common_shapes(standing, get_shapes)
    opinions = [one.list_submissions()[-1] for one in standing]
    lineup = align_rows([_select_tags(one.tags, shapes) for one in opinions], shapes)
    measured = measure_agreement(lineup.sets, shapes, budget)
    if measured is None or measured.overall is None or not shapes:
        return
    at = max(one.created_at for one in opinions)
    tally.add(
        at, schema_id, [(Subject.SCHEMA, "", "")], compared=1, agreement=_round(measured.overall)
    )
    for name, share in measured.fields.items():
        subjects = [(Subject.FIELD, name, shapes[name].kind)]
        tally.add(at, schema_id, subjects, compared=1, agreement=_round(share))
    for number, share in _measure_by_set(lineup.sets, shapes, budget, measured.overall).items():
        if standing[number].labeler_id is not None:
            subjects = [(Subject.LABELER, str(standing[number].labeler_id), "")]
            tally.add(at, schema_id, subjects, compared=1, agreement=_round(share))


def _measure_by_set(
    sets: Sequence[Sequence[Tag]], shapes: Shapes, budget: Budget, overall: float
) -> dict[int, float]:
    """Return the mean agreement of each tag set with the others, where it can be measured."""
    if len(sets) == _PAIR:
        return {0: overall, 1: overall}
    shares: dict[int, list[float]] = defaultdict(list)
    for left, right in combinations(range(len(sets)), 2):
        measured = measure_agreement([sets[left], sets[right]], shapes, budget)
        if measured is not None and measured.overall is not None:
            shares[left].append(measured.overall)
            shares[right].append(measured.overall)
    return {number: sum(values) / len(values) for number, values in shares.items()}


def _count_accuracy(
    tally: _Tally, document: Document, get_shapes: Callable[[UUID], Shapes], budget: Budget
) -> None:
    """Count how well labelers' first submissions agree with the answer of a gold document.

    The answer is the accepted tag set, preferably a merge. Its own labeler is not measured by it.
    """
    current = [one for one in document.tag_sets if one.schema_id == document.schema_id]
    accepted = [one for one in current if one.status == TagSetStatus.ACCEPTED]
    answer = min(accepted, key=lambda one: (one.source != "merge", one.id), default=None)
    if answer is None or not answer.revisions:
        return
    for tag_set in current:
        submissions = tag_set.list_submissions()
        if tag_set is answer or not submissions or tag_set.labeler_id is None:
            continue
        shapes = _find_common_shapes((answer, tag_set), get_shapes)
        tags = [_select_tags(one.tags, shapes) for one in (answer.revisions[-1], submissions[0])]
        measured = measure_agreement(align_rows(tags, shapes).sets, shapes, budget)
        if measured is None or measured.overall is None or not shapes:
            continue
        at = submissions[0].created_at
        accuracy = _round(measured.overall)
        subjects = _name_subjects(tag_set)
        tally.add(at, tag_set.schema_id, subjects, checked=1, accuracy=accuracy)
        for name, share in measured.fields.items():
            of_field = [(Subject.FIELD, name, shapes[name].kind)]
            tally.add(at, tag_set.schema_id, of_field, checked=1, accuracy=_round(share))


def _round(share: float) -> int:
    return round(share * SHARE)
