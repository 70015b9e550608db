"""Compare the tag sets of a document with each other, and with the accepted answer."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from uuid import UUID

from app.engines.agreement.boxes import Budget
from app.engines.agreement.measures import measure_agreement
from app.engines.agreement.rows import align_rows
from app.engines.agreement.tag_keys import FieldSpec, FieldSpecs
from app.engines.fields import Tag
from app.insight.quality.models import FRACTION_SCALE, CellSubject
from app.insight.quality.queries.documents import DocumentHistory, TagSetHistory
from app.insight.quality.service.tally import Tally
from app.workflow.tag_sets.service import rules
from app.workflow.tag_sets.transitions import COMPLETED, TagSetStatus

_PAIR_SIZE = 2


def _find_common_field_specs(tag_sets: Iterable[TagSetHistory]) -> dict[str, FieldSpec]:
    """Return the field specifications that are equal in the schema versions of all tag sets.

    They are returned by field name.
    """
    version_ids = {tag_set.schema_version_id for tag_set in tag_sets}
    first, *other_field_specs = [rules.get_version_rules(key).field_specs for key in version_ids]
    return {
        name: field_spec
        for name, field_spec in first.items()
        if all(field_specs.get(name) == field_spec for field_specs in other_field_specs)
    }


def _select_tags(tags: Sequence[Tag], field_specs: FieldSpecs) -> list[Tag]:
    return [tag for tag in tags if tag["field"] in field_specs]


def _list_submitted_tag_sets(document: DocumentHistory, schema_id: UUID) -> list[TagSetHistory]:
    """List the newest submitted tag set of each labeler for a schema.

    A labeler has several tag sets if a merge of the first tag set was rejected later. Merges and
    imports have no labeler.
    """
    tag_set_by_labeler = {
        tag_set.labeler_id: tag_set
        for tag_set in document.tag_sets
        if tag_set.schema_id == schema_id
        and tag_set.labeler_id is not None
        and (tag_set.status in COMPLETED or tag_set.superseded)
        and tag_set.list_submissions()
    }
    return list(tag_set_by_labeler.values())


def add_agreement(tally: Tally, schema_id: UUID, document: DocumentHistory, budget: Budget) -> None:
    """Add to the tally how much labelers agree in their last submissions for a schema."""
    tag_sets = _list_submitted_tag_sets(document, schema_id)
    if len(tag_sets) < _PAIR_SIZE:
        return
    field_specs = _find_common_field_specs(tag_sets)
    submissions = [tag_set.list_submissions()[-1] for tag_set in tag_sets]
    alignment = align_rows(
        [_select_tags(submission.tags, field_specs) for submission in submissions], field_specs
    )
    result = measure_agreement(alignment.tag_sets, field_specs, budget)
    if result is None or result.overall is None or not field_specs:
        return
    at = max(submission.created_at for submission in submissions)
    subjects = [(CellSubject.SCHEMA, "", "")]
    tally.add(at, schema_id, subjects, compared=1, agreement=_scale_fraction(result.overall))
    for name, agreement in result.fields.items():
        subjects = [(CellSubject.FIELD, name, field_specs[name].field_type)]
        tally.add(at, schema_id, subjects, compared=1, agreement=_scale_fraction(agreement))
    for index, agreement in _measure_agreement_by_tag_set(
        alignment.tag_sets, field_specs, budget, result.overall
    ).items():
        subjects = [(CellSubject.LABELER, str(tag_sets[index].labeler_id), "")]
        tally.add(at, schema_id, subjects, compared=1, agreement=_scale_fraction(agreement))


def _measure_agreement_by_tag_set(
    tag_sets: Sequence[Sequence[Tag]], field_specs: FieldSpecs, budget: Budget, overall: float
) -> dict[int, float]:
    """Return the mean agreement of each tag set with the other tag sets, by index.

    `overall` is the agreement of all tag sets, which is the result if there are only two. Tag sets
    whose agreement cannot be measured are left out.
    """
    if len(tag_sets) == _PAIR_SIZE:
        return {0: overall, 1: overall}
    agreements: dict[int, list[float]] = defaultdict(list)
    for left, right in combinations(range(len(tag_sets)), 2):
        result = measure_agreement([tag_sets[left], tag_sets[right]], field_specs, budget)
        if result is not None and result.overall is not None:
            agreements[left].append(result.overall)
            agreements[right].append(result.overall)
    return {index: sum(values) / len(values) for index, values in agreements.items()}


def add_accuracy(tally: Tally, document: DocumentHistory, budget: Budget) -> None:
    """Add to the tally the accuracy of each tag set's first submission on a gold document.

    The accuracy is the agreement with the correct answer: the accepted tag set, preferably a merge.
    The correct answer is not compared with itself.
    """
    tag_sets = [tag_set for tag_set in document.tag_sets if tag_set.schema_id == document.schema_id]
    accepted_tag_sets = [tag_set for tag_set in tag_sets if tag_set.status == TagSetStatus.ACCEPTED]
    answer = min(
        accepted_tag_sets, key=lambda tag_set: (tag_set.source != "merge", tag_set.id), default=None
    )
    if answer is None or not answer.revisions:
        return
    for tag_set in tag_sets:
        submissions = tag_set.list_submissions()
        if tag_set is answer or not submissions or tag_set.labeler_id is None:
            continue
        field_specs = _find_common_field_specs((answer, tag_set))
        compared_revisions = (answer.revisions[-1], submissions[0])
        tags = [_select_tags(revision.tags, field_specs) for revision in compared_revisions]
        result = measure_agreement(align_rows(tags, field_specs).tag_sets, field_specs, budget)
        if result is None or result.overall is None or not field_specs:
            continue
        at = submissions[0].created_at
        accuracy = _scale_fraction(result.overall)
        subjects = tag_set.list_subjects()
        tally.add(at, tag_set.schema_id, subjects, checked=1, accuracy=accuracy)
        for name, field_accuracy in result.fields.items():
            subjects = [(CellSubject.FIELD, name, field_specs[name].field_type)]
            tally.add(
                at, tag_set.schema_id, subjects, checked=1, accuracy=_scale_fraction(field_accuracy)
            )


def _scale_fraction(fraction: float) -> int:
    return round(fraction * FRACTION_SCALE)
