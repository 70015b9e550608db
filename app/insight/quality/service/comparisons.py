"""Compare the tag sets of one document with each other, and with the answer of a gold document."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from uuid import UUID

from app.engines.agreement import Budget, Shape, Shapes, align_rows, measure_agreement
from app.engines.fields import Tag
from app.insight.quality.models import SHARE, Subject
from app.insight.quality.service.histories import Document, TagSetHistory, Tally
from app.workflow.tag_sets.transitions import COMPLETED, TagSetStatus

_PAIR = 2


def _find_common_shapes(
    tag_sets: Iterable[TagSetHistory], get_shapes: Callable[[UUID], Shapes]
) -> dict[str, Shape]:
    """Return the fields that are the same in the schema versions of all tag sets."""
    first, *others = [
        get_shapes(one) for one in {tag_set.schema_version_id for tag_set in tag_sets}
    ]
    return {
        name: shape
        for name, shape in first.items()
        if all(other.get(name) == shape for other in others)
    }


def _select_tags(tags: Sequence[Tag], shapes: Shapes) -> list[Tag]:
    return [tag for tag in tags if tag["field"] in shapes]


def count_agreement(
    tally: Tally,
    schema_id: UUID,
    document: Document,
    get_shapes: Callable[[UUID], Shapes],
    budget: Budget,
) -> None:
    """Count the agreement of the current tag sets, as their labelers last submitted them."""
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


def count_accuracy(
    tally: Tally, document: Document, get_shapes: Callable[[UUID], Shapes], budget: Budget
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
        subjects = tag_set.list_subjects()
        tally.add(at, tag_set.schema_id, subjects, checked=1, accuracy=accuracy)
        for name, share in measured.fields.items():
            of_field = [(Subject.FIELD, name, shapes[name].kind)]
            tally.add(at, tag_set.schema_id, of_field, checked=1, accuracy=_round(share))


def _round(share: float) -> int:
    return round(share * SHARE)
