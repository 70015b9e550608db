"""SQL that reads the newest accepted tag sets and review decisions of a period."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, String, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB

from app.kit import db, tenancy

BATCH = 500
MAX_VALUE = 200
"""Longer values are truncated; their full length is read separately."""


class AcceptedTagSet(NamedTuple):
    """An accepted tag set. `values` are {field: [first value as text, its length in characters]}.

    `decided_at` is a Unix time.
    """

    id: UUID
    labeler_id: UUID | None
    version_id: UUID
    decided_at: datetime
    values: dict[str, tuple[str, int]] | None


# Of a field with several values, the first one counts: the values of one document are not
# independent of each other. A table counts as filled if any of its cells is.
_TAG_SETS = text(
    """
    SELECT t.id, t.labeler_id, t.schema_version_id AS version_id, t.decided_at,
        (SELECT jsonb_object_agg(first.field, first.value)
         FROM (SELECT DISTINCT ON (split_part(tag ->> 'field', '.', 1))
                   split_part(tag ->> 'field', '.', 1) AS field,
                   jsonb_build_array(left(tag ->> 'value', :max_value),
                                     char_length(tag ->> 'value')) AS value
               FROM jsonb_array_elements(t.tags) WITH ORDINALITY AS tags (tag, position)
               WHERE coalesce(tag ->> 'value', '') <> ''
               ORDER BY split_part(tag ->> 'field', '.', 1), position) AS first) AS values
    FROM tag_sets t
    WHERE t.organization_id = :organization_id AND t.schema_id = :schema_id
      AND t.status = 'accepted' AND t.source <> 'model'
      AND t.decided_at >= :start AND t.decided_at < :end
      AND (t.decided_at, t.id) < (CAST(:before_time AS timestamptz), CAST(:before_id AS uuid))
    ORDER BY t.decided_at DESC, t.id DESC LIMIT :batch
    """
).columns(
    id=Uuid(),
    labeler_id=Uuid(),
    version_id=Uuid(),
    decided_at=DateTime(timezone=True),
    values=JSONB(),
)
_LAST_ID = UUID(int=2**128 - 1)


def iterate_tag_sets(
    schema_id: UUID, start: datetime, end: datetime, *, limit: int
) -> Iterator[list[AcceptedTagSet]]:
    """Yield the newest accepted tag sets of a period in batches, at most `limit`, newest first."""
    before_time, before_id, left = end, _LAST_ID, limit
    while left > 0:
        values: dict[str, Any] = {
            "organization_id": tenancy.current_organization_id(),
            "schema_id": schema_id,
            "start": start,
            "end": end,
            "before_time": before_time,
            "before_id": before_id,
            "batch": min(BATCH, left),
            "max_value": MAX_VALUE,
        }
        rows = [AcceptedTagSet._make(row) for row in db.session().execute(_TAG_SETS, values)]
        yield rows
        left -= len(rows)
        if len(rows) < values["batch"]:
            return
        before_time, before_id = rows[-1].decided_at, rows[-1].id


class Decisions(NamedTuple):
    """The number of review decisions of one type on the tag sets of a labeler."""

    labeler_id: UUID | None
    kind: str
    n: int


# A reviewer's first decision on a tag set would be the purest measure, but a tag set that is
# rejected twice is worse than one that is rejected once.
_DECISIONS = text(
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
) -> list[Decisions]:
    """Count the newest review decisions of a period, at most `limit`, by labeler and kind."""
    values = {
        "organization_id": tenancy.current_organization_id(),
        "schema_id": schema_id,
        "start": start,
        "end": end,
        "limit": limit,
    }
    return [Decisions._make(row) for row in db.session().execute(_DECISIONS, values)]
