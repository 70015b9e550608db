"""SQL queries for tag sets that began from a prediction, and for their automatic feedback."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Select, Text, and_, cast, func, literal, select
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.orm import aliased

from app.insight.feedback.models import PredictionFeedback
from app.kit import db
from app.kit.chunks import split_by_size
from app.kit.id_conditions import build_id_condition
from app.kit.tenancy import build_join
from app.workflow.tag_sets.models import TagSet, TagSetRevision, build_checked_condition
from app.workflow.tag_sets.transitions import TagSetStatus

MAX_BYTES = 8 * 1024 * 1024
"""The maximum size in bytes of the tags that one query reads: the first and the current tags of
each tag set. A larger tag set gets no automatic feedback."""

_initial_revision = aliased(TagSetRevision)

# Only revisions created by a save store the size of their tags.
_SIZE = TagSet.tags_bytes + func.coalesce(
    _initial_revision.tags_bytes, func.octet_length(cast(_initial_revision.tags, Text))
)
# A copy of another labeler's tag set is excluded, because it began with that labeler's work.
_STARTED_FROM_PREDICTION = ~func.jsonb_path_exists(
    _initial_revision.tags, cast(literal('$[*] ? (@.source != "model")'), JSONPATH)
)


class EligibleTagSet(NamedTuple):
    """An accepted tag set that is eligible for automatic feedback.

    `initial_tags` are the tags of the first revision, which are the predicted tags. `is_checked` is
    true if a person has saved or reviewed the tag set.
    """

    id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None
    decided_at: datetime
    revision: int
    model: str
    is_checked: bool
    initial_tags: list[dict[str, Any]]
    tags: list[dict[str, Any]]


def find_eligible_revisions(tag_set_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return the revision numbers of the eligible tag sets among these ids, by tag set id.

    Tag sets are eligible for automatic feedback if they are accepted, they began from a prediction,
    their first revision has only predicted tags, and they have at most `MAX_BYTES` of tags.
    """
    rows = db.session().execute(_filter_eligible(select(TagSet.id, TagSet.revision), tag_set_ids))
    return {row.id: row.revision for row in rows}


def load_tag_sets(tag_set_ids: Sequence[UUID]) -> Iterator[list[EligibleTagSet]]:
    """Yield the eligible tag sets among these ids, in chunks with at most `MAX_BYTES` of tags."""
    rows = db.session().execute(
        _filter_eligible(select(TagSet.id, _SIZE.label("size")), tag_set_ids)
    )
    for chunk in split_by_size(rows.all(), attrgetter("size"), MAX_BYTES):
        yield _load_chunk([row.id for row in chunk])


def _load_chunk(tag_set_ids: Sequence[UUID]) -> list[EligibleTagSet]:
    columns = db.build_columns(
        EligibleTagSet._fields,
        TagSet,
        model=func.coalesce(TagSet.prediction_model_version, "unknown"),
        is_checked=build_checked_condition(),
        initial_tags=_initial_revision.tags,
    )
    rows = db.session().execute(_filter_eligible(select(*columns), tag_set_ids))
    return [EligibleTagSet._make(row) for row in rows]


def _filter_eligible(
    statement: Select[*tuple[Any, ...]], tag_set_ids: Sequence[UUID]
) -> Select[*tuple[Any, ...]]:
    """Restrict the statement to tag sets eligible for automatic feedback, ordered by id."""
    return (
        statement.select_from(TagSet)
        .join(
            _initial_revision,
            and_(build_join(_initial_revision.tag_set_id, TagSet), _initial_revision.number == 1),
        )
        .where(
            build_id_condition(TagSet.id, tag_set_ids),
            TagSet.status == TagSetStatus.ACCEPTED,
            TagSet.prediction_id.is_not(None),
            _SIZE <= MAX_BYTES,
            _STARTED_FROM_PREDICTION,
        )
        .order_by(TagSet.id)
    )


def find_recorded_revisions(tag_set_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return the revision number of the automatic feedback on each tag set, by tag set id."""
    statement = select(PredictionFeedback.tag_set_id, PredictionFeedback.accepted_revision).where(
        build_id_condition(PredictionFeedback.tag_set_id, tag_set_ids),
        PredictionFeedback.position == 0,
    )
    return {row.tag_set_id: row.accepted_revision for row in db.session().execute(statement)}


def iterate_predicted_tag_sets(batch_size: int) -> Iterator[list[tuple[UUID, UUID]]]:
    """Yield the tag sets that began from a prediction, as pairs of artifact id and tag set id.

    The pairs are in batches of at most `batch_size`, sorted by tag set id.
    """
    last_id = UUID(int=0)
    while True:
        statement = (
            select(TagSet.artifact_id, TagSet.id)
            .where(TagSet.prediction_id.is_not(None), TagSet.id > last_id)
            .order_by(TagSet.id)
            .limit(batch_size)
        )
        rows = db.session().execute(statement).all()
        if not rows:
            return
        last_id = rows[-1].id
        yield [(row.artifact_id, row.id) for row in rows]
