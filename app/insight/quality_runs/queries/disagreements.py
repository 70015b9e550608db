"""SQL queries for disagreements between labelers."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import Insert, insert

from app.documents.artifacts.models.documents import Artifact
from app.insight.quality_runs.counters import DISAGREEMENTS
from app.insight.quality_runs.models import Disagreement
from app.insight.quality_runs.queries.answers import IS_ANSWER, MAX_BYTES, OWN_TAGS, SUBMITTED_AT
from app.kit import counters, db, tenancy
from app.kit.chunks import split_by_size
from app.kit.pagination import Page, PageRequest, paginate
from app.kit.tenancy import build_join

CHUNK_BYTES = 8 * 1024 * 1024
"""The maximum size in bytes of the tags in one query, unless a single document has more."""

_LOCK = tenancy.build_text(
    "SELECT pg_advisory_xact_lock(hashtextextended('disagreements ' || :organization_id, 0))"
)
_ANSWERS = tenancy.build_text(
    f"""
    SELECT DISTINCT ON (t.artifact_id, t.schema_id, t.labeler_id)
        t.artifact_id, t.schema_id, t.schema_version_id, CAST({OWN_TAGS} AS text) AS tags
    FROM tag_sets t
    WHERE t.organization_id = :organization_id AND t.artifact_id = ANY(:artifact_ids)
      AND {IS_ANSWER} AND t.tags_bytes <= {MAX_BYTES}
    ORDER BY t.artifact_id, t.schema_id, t.labeler_id, {SUBMITTED_AT} DESC, t.id DESC
    """  # noqa: S608 - constants
)
_SIZES = tenancy.build_text(
    f"""
    SELECT t.artifact_id, sum(t.tags_bytes) AS size FROM tag_sets t
    WHERE t.organization_id = :organization_id AND t.artifact_id = ANY(:artifact_ids)
      AND {IS_ANSWER} AND t.tags_bytes <= {MAX_BYTES}
    GROUP BY t.artifact_id HAVING count(DISTINCT t.labeler_id) > 1 ORDER BY t.artifact_id
    """  # noqa: S608 - constants
)
_NEXT_DOCUMENTS = tenancy.build_text(
    """
    SELECT DISTINCT t.artifact_id FROM tag_sets t
    WHERE t.organization_id = :organization_id AND t.artifact_id > :after
      AND t.schema_id = :schema_id
    ORDER BY t.artifact_id LIMIT :batch
    """
)
_DELETE_RESOLVED = tenancy.build_text(
    """
    DELETE FROM quality_disagreements d
    WHERE d.organization_id = :organization_id AND d.artifact_id = ANY(:artifact_ids)
      AND NOT EXISTS (
        SELECT FROM unnest(CAST(:artifacts AS uuid[]), CAST(:schemas AS uuid[]),
                           CAST(:fields AS text[])) AS kept (artifact_id, schema_id, field)
        WHERE kept.artifact_id = d.artifact_id AND kept.schema_id = d.schema_id
          AND kept.field = d.field)
    """
)
_KEY_COLUMNS = ("organization_id", "artifact_id", "schema_id", "field")
_RESULT_COLUMNS = ("share", "raters", "answers")
_LISTED_COLUMNS = ("id", "schema_id", "field", *_RESULT_COLUMNS, "compared_at", "artifact")


class StoredAnswer(NamedTuple):
    """The tags that one labeler submitted for a document and a schema."""

    artifact_id: UUID
    schema_id: UUID
    version_id: UUID
    tags: list[dict[str, Any]]


def lock() -> None:
    """Acquire the organization's advisory lock for disagreements until the transaction ends."""
    db.session().execute(_LOCK)


def list_answers(artifact_ids: Sequence[UUID]) -> list[StoredAnswer]:
    """Return each labeler's newest answer per document and schema.

    Tag sets with more than `MAX_BYTES` of tags are ignored.
    """
    return [
        StoredAnswer(row.artifact_id, row.schema_id, row.schema_version_id, orjson.loads(row.tags))
        for row in db.session().execute(_ANSWERS, {"artifact_ids": list(artifact_ids)})
    ]


def list_chunks(artifact_ids: Sequence[UUID]) -> list[list[UUID]]:
    """Return the ids of the documents that have answers from several labelers, in chunks by size.

    The tags in a chunk have at most `CHUNK_BYTES`, unless a single document has more.
    """
    rows = db.session().execute(_SIZES, {"artifact_ids": list(artifact_ids)}).all()
    chunks = split_by_size(rows, attrgetter("size"), CHUNK_BYTES)
    return [[row.artifact_id for row in chunk] for chunk in chunks]


def list_next_artifact_ids(schema_id: UUID, after: UUID, limit: int) -> list[UUID]:
    """Return the ids of the next documents that have tag sets of a schema, in ascending order.

    At most `limit` ids above `after` are returned.
    """
    values = {"schema_id": schema_id, "after": after, "batch": limit}
    return list(db.session().scalars(_NEXT_DOCUMENTS, values))


def replace(artifact_ids: Sequence[UUID], rows: Sequence[dict[str, Any]]) -> None:
    """Replace the disagreements on these documents with `rows`.

    Rows for deleted documents are ignored. A stored row with the same result keeps its id.
    Otherwise, a client that reads the list page by page would miss it.
    """
    values = {
        "artifact_ids": list(artifact_ids),
        "artifacts": [str(row["artifact_id"]) for row in rows],
        "schemas": [str(row["schema_id"]) for row in rows],
        "fields": [row["field"] for row in rows],
    }
    db.session().execute(_DELETE_RESOLVED, values)
    document_ids = {row["artifact_id"] for row in rows}
    # The lock keeps the documents until the commit, so that the foreign key cannot fail.
    statement = (
        select(Artifact.id)
        .where(Artifact.id.in_(document_ids))
        .with_for_update(read=True, key_share=True)
    )
    existing_ids = set(db.session().scalars(statement))
    remaining_rows = [row for row in rows if row["artifact_id"] in existing_ids]
    if remaining_rows:
        db.session().execute(_build_upsert(), remaining_rows)


def _build_upsert() -> Insert:
    """Build the statement that inserts disagreements, or updates them if the result differs."""
    statement = insert(Disagreement)
    excluded = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=_KEY_COLUMNS,
        set_={name: excluded[name] for name in ("id", "compared_at", *_RESULT_COLUMNS)},
        where=or_(*(getattr(Disagreement, name) != excluded[name] for name in _RESULT_COLUMNS)),
    )


def list_disagreements(
    *,
    page: PageRequest,
    schema_id: UUID | None = None,
    field: str | None = None,
) -> Page:
    """Return a page of disagreements with the names of their documents."""
    values = {"schema_id": schema_id, "field": field}
    filters = {name: value for name, value in values.items() if value is not None}
    conditions = [getattr(Disagreement, name) == value for name, value in filters.items()]
    artifact = func.jsonb_build_object("id", Artifact.id, "name", Artifact.name)
    statement = (
        select(*db.build_columns(_LISTED_COLUMNS, Disagreement, artifact=artifact))
        .join(Artifact, build_join(Disagreement.artifact_id, Artifact))
        .where(*conditions)
    )
    total = counters.build_total(DISAGREEMENTS, filters)
    return paginate(
        statement,
        page,
        sort_columns={"disagreement": Disagreement.share},
        unique=Disagreement.id,
        total=total,
    )
