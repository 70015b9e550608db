"""SQL queries for accepted documents, review decisions, and the outcomes of predictions."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, String, Uuid, select
from sqlalchemy.dialects.postgresql import JSONB, distinct_on

from app.insight.feedback.models import PredictionFeedback
from app.kit import db, tenancy

BATCH_SIZE = 100
MAX_TAG_SETS_PER_DOCUMENT = 20
"""The maximum number of tag sets read per document. A schema cannot require more tag sets."""
MAX_VALUE_LENGTH = 200
"""The maximum number of characters read from a value. The full length is read separately."""


class SampledTagSet(NamedTuple):
    """An accepted tag set whose values are sampled.

    `values` maps each filled field to a pair: its first value as text, truncated to
    `MAX_VALUE_LENGTH`, and the full length of the value in characters. `values` is None if no field
    is filled.
    """

    artifact_id: UUID
    id: UUID
    labeler_id: UUID | None
    version_id: UUID
    decided_at: datetime
    values: dict[str, tuple[str, int]] | None


# The time of a document is the decision time of its first tag set: the newest merge, or the newest
# tag set if there is no merge. OFFSET 0 makes the planner read the tag sets of one artifact through
# an index. Otherwise, without statistics for a schema, the planner would read the whole period for
# each document.
#
# If a field has several values, only the first one is read, because the values of one document are
# not independent of each other. A table is treated as filled if any of its cells is filled.
_IS_ACCEPTED = """
    {of}.organization_id = :organization_id AND {of}.schema_id = :schema_id
    AND {of}.status = 'accepted' AND {of}.source <> 'model'
    AND {of}.decided_at >= :start AND {of}.decided_at < :end
"""
_TAG_SETS_OF_ARTIFACT = """
    (SELECT tag_set.* FROM tag_sets tag_set
     WHERE tag_set.organization_id = :organization_id AND tag_set.artifact_id = {artifact_id}
     OFFSET 0)
"""
_ORDER = "({of}.source = 'merge') DESC, {of}.decided_at DESC, {of}.id DESC"
_DOCUMENTS = tenancy.build_text(
    f"""
    WITH documents AS MATERIALIZED (
        SELECT t.artifact_id, t.decided_at, t.id FROM tag_sets t
        WHERE {_IS_ACCEPTED.format(of="t")}
          AND (t.decided_at, t.id) < (CAST(:before_time AS timestamptz), CAST(:before_id AS uuid))
          AND t.id = (SELECT other.id
                      FROM {_TAG_SETS_OF_ARTIFACT.format(artifact_id="t.artifact_id")} AS other
                      WHERE {_IS_ACCEPTED.format(of="other")}
                      ORDER BY {_ORDER.format(of="other")} LIMIT 1)
        ORDER BY t.decided_at DESC, t.id DESC LIMIT :batch
    )
    SELECT t.artifact_id, t.id, t.labeler_id, t.schema_version_id AS version_id, t.decided_at,
        (SELECT jsonb_object_agg(first.field, first.value)
         FROM (SELECT DISTINCT ON (split_part(tag ->> 'field', '.', 1))
                   split_part(tag ->> 'field', '.', 1) AS field,
                   jsonb_build_array(left(tag ->> 'value', :max_value),
                                     char_length(tag ->> 'value')) AS value
               FROM jsonb_array_elements(t.tags) WITH ORDINALITY AS tags (tag, position)
               WHERE coalesce(tag ->> 'value', '') <> ''
               ORDER BY split_part(tag ->> 'field', '.', 1), position) AS first) AS values
    FROM documents
    CROSS JOIN LATERAL (
        SELECT t.* FROM {_TAG_SETS_OF_ARTIFACT.format(artifact_id="documents.artifact_id")} AS t
        WHERE {_IS_ACCEPTED.format(of="t")}
        ORDER BY {_ORDER.format(of="t")} LIMIT :max_per_document
    ) AS t
    ORDER BY documents.decided_at DESC, documents.id DESC, {_ORDER.format(of="t")}
    """  # noqa: S608 - consists of constants
).columns(
    artifact_id=Uuid(),
    id=Uuid(),
    labeler_id=Uuid(),
    version_id=Uuid(),
    decided_at=DateTime(timezone=True),
    values=JSONB(),
)
_MAX_ID = UUID(int=2**128 - 1)

DocumentTagSets = list[SampledTagSet]
"""The accepted tag sets of one document: merges before other tag sets, and newest first."""


def iterate_documents(
    schema_id: UUID, start: datetime, end: datetime, *, limit: int
) -> Iterator[list[DocumentTagSets]]:
    """Yield batches of the documents that were accepted in a period, newest documents first.

    All batches together have at most `limit` documents. A document has only the tag sets that were
    accepted in the period and whose source is not `model`, at most `MAX_TAG_SETS_PER_DOCUMENT`.
    Documents are ordered by the decision time of their first tag set.
    """
    before_time, before_id, remaining = end, _MAX_ID, limit
    while remaining > 0:
        values: dict[str, Any] = {
            "schema_id": schema_id,
            "start": start,
            "end": end,
            "before_time": before_time,
            "before_id": before_id,
            "batch": min(BATCH_SIZE, remaining),
            "max_per_document": MAX_TAG_SETS_PER_DOCUMENT,
            "max_value": MAX_VALUE_LENGTH,
        }
        rows = map(SampledTagSet._make, db.session().execute(_DOCUMENTS, values))
        documents = [list(group) for _, group in groupby(rows, attrgetter("artifact_id"))]
        yield documents
        remaining -= len(documents)
        if len(documents) < values["batch"]:
            return
        before_time, before_id = documents[-1][0].decided_at, documents[-1][0].id


class DecisionCount(NamedTuple):
    """The number `n` of decisions of type `kind` on tag sets of one labeler, or of no labeler."""

    labeler_id: UUID | None
    kind: str
    n: int


# All decisions on a tag set are counted, not only the last decision, because two rejections are
# worse than one rejection.
_DECISIONS = tenancy.build_text(
    """
    SELECT t.labeler_id, r.kind, CAST(count(*) AS bigint) AS n
    FROM (SELECT tag_set_id, kind FROM tag_set_revisions
          WHERE organization_id = :organization_id AND schema_id = :schema_id
            AND kind IN ('accept', 'correction', 'reject') AND author_id IS NOT NULL
            AND created_at >= :start AND created_at < :end
          ORDER BY created_at DESC LIMIT :limit) AS r
    JOIN tag_sets t ON t.organization_id = :organization_id AND t.id = r.tag_set_id
    GROUP BY t.labeler_id, r.kind
    """
).columns(labeler_id=Uuid(), kind=String(), n=BigInteger())


def count_decisions(
    schema_id: UUID, start: datetime, end: datetime, *, limit: int
) -> list[DecisionCount]:
    """Count the newest `limit` review decisions by users in a period, by labeler and type."""
    values = {"schema_id": schema_id, "start": start, "end": end, "limit": limit}
    return [DecisionCount._make(row) for row in db.session().execute(_DECISIONS, values)]


class PredictionOutcome(NamedTuple):
    """The outcome of a prediction for a field. `confidence` is in millionths; None if unknown."""

    tag_set_id: UUID
    field: str
    outcome: str
    confidence: int | None


def list_outcomes(tag_set_ids: Sequence[UUID]) -> list[PredictionOutcome]:
    """Return the outcomes of the predictions for these tag sets, one per tag set and field.

    Table cells are left out. If a field has several predictions, only the first outcome is
    returned, because predictions for the same field are not independent of each other.
    """
    columns: tuple[Any, ...] = (PredictionFeedback.tag_set_id, PredictionFeedback.field)
    statement = (
        select(*columns, PredictionFeedback.outcome, PredictionFeedback.confidence)
        .ext(distinct_on(*columns))
        .where(
            PredictionFeedback.tag_set_id.in_(tag_set_ids),
            PredictionFeedback.row.is_(None),
            PredictionFeedback.field.not_like("%.%"),
        )
        .order_by(*columns, PredictionFeedback.position, PredictionFeedback.id)
    )
    return [PredictionOutcome._make(row) for row in db.session().execute(statement)]
