"""Compare the tag sets of a document with each other, and with the accepted answer."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from uuid import UUID

from app.engines.agreement import Budget, Shape, Shapes, align_rows, measure_agreement
from app.engines.fields import Tag
from app.insight.quality.models import SHARE_SCALE, Subject
from app.insight.quality.service.histories import Document, TagSetHistory, Tally
from app.workflow.tag_sets.transitions import COMPLETED, TagSetStatus

_PAIR = 2


def _find_common_shapes(
    tag_sets: Iterable[TagSetHistory], get_shapes: Callable[[UUID], Shapes]
) -> dict[str, Shape]:
    """Return the fields that are the same in the schema versions of all tag sets."""
    first, *other_shapes = [
        get_shapes(version_id) for version_id in {tag_set.schema_version_id for tag_set in tag_sets}
    ]
    return {
        name: shape
        for name, shape in first.items()
        if all(shapes.get(name) == shape for shapes in other_shapes)
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
    """Count the agreement of a schema's tag sets, as their labelers last submitted them."""
    tag_sets = [
        tag_set
        for tag_set in document.tag_sets
        if tag_set.schema_id == schema_id
        and tag_set.is_independent
        and (tag_set.status in COMPLETED or tag_set.superseded)
        and tag_set.list_submissions()
    ]
    if len(tag_sets) < _PAIR:
        return
    shapes = _find_common_shapes(tag_sets, get_shapes)
    submissions = [tag_set.list_submissions()[-1] for tag_set in tag_sets]
    aligned = align_rows(
        [_select_tags(submission.tags, shapes) for submission in submissions], shapes
    )
    result = measure_agreement(aligned.sets, shapes, budget)
    if result is None or result.overall is None or not shapes:
        return
    at = max(submission.created_at for submission in submissions)
    tally.add(
        at, schema_id, [(Subject.SCHEMA, "", "")], compared=1, agreement=_round(result.overall)
    )
    for name, share in result.fields.items():
        subjects = [(Subject.FIELD, name, shapes[name].kind)]
        tally.add(at, schema_id, subjects, compared=1, agreement=_round(share))
    for index, share in _measure_by_set(aligned.sets, shapes, budget, result.overall).items():
        labeler_id = tag_sets[index].labeler_id
        if labeler_id is not None:
            subjects = [(Subject.LABELER, str(labeler_id), "")]
            tally.add(at, schema_id, subjects, compared=1, agreement=_round(share))


def _measure_by_set(
    sets: Sequence[Sequence[Tag]], shapes: Shapes, budget: Budget, overall: float
) -> dict[int, float]:
    """Return the mean agreement of each tag set with the other tag sets, by index.

    Tag sets whose agreement cannot be measured are left out.
    """
    if len(sets) == _PAIR:
        return {0: overall, 1: overall}
    shares: dict[int, list[float]] = defaultdict(list)
    for left, right in combinations(range(len(sets)), 2):
        result = measure_agreement([sets[left], sets[right]], shapes, budget)
        if result is not None and result.overall is not None:
            shares[left].append(result.overall)
            shares[right].append(result.overall)
    return {index: sum(values) / len(values) for index, values in shares.items()}


def count_accuracy(
    tally: Tally, document: Document, get_shapes: Callable[[UUID], Shapes], budget: Budget
) -> None:
    """Count how far labelers' first submissions agree with the correct answer of a gold document.

    The correct answer is the accepted tag set, preferably a merge. It is not compared with itself.
    """
    current = [tag_set for tag_set in document.tag_sets if tag_set.schema_id == document.schema_id]
    accepted = [tag_set for tag_set in current if tag_set.status == TagSetStatus.ACCEPTED]
    answer = min(
        accepted, key=lambda tag_set: (tag_set.source != "merge", tag_set.id), default=None
    )
    if answer is None or not answer.revisions:
        return
    for tag_set in current:
        submissions = tag_set.list_submissions()
        if tag_set is answer or not submissions or tag_set.labeler_id is None:
            continue
        shapes = _find_common_shapes((answer, tag_set), get_shapes)
        compared = (answer.revisions[-1], submissions[0])
        tags = [_select_tags(revision.tags, shapes) for revision in compared]
        result = measure_agreement(align_rows(tags, shapes).sets, shapes, budget)
        if result is None or result.overall is None or not shapes:
            continue
        at = submissions[0].created_at
        accuracy = _round(result.overall)
        subjects = tag_set.list_subjects()
        tally.add(at, tag_set.schema_id, subjects, checked=1, accuracy=accuracy)
        for name, share in result.fields.items():
            subjects = [(Subject.FIELD, name, shapes[name].kind)]
            tally.add(at, tag_set.schema_id, subjects, checked=1, accuracy=_round(share))


def _round(share: float) -> int:
    return round(share * SHARE_SCALE)
