"""SQL queries that read documents and the histories of their tag sets."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from sqlalchemy import Select, Text, cast, func, null, select, text

from app.documents.artifacts.models import Artifact
from app.kit import db, tenancy
from app.workflow.tag_sets.models import TagSet, TagSetRevision

CHUNK_BYTES = 8 * 1024 * 1024
"""The maximum size in bytes of the tags that one query reads, in all revisions. A document with
more bytes is read alone."""
MAX_BYTES = 32 * 1024 * 1024
"""The maximum total size in bytes of a document's tags in all revisions. The tags of a larger
document are not compared."""
# With `!=`, PostgreSQL could read the partial index of all revisions that are not saves. If the
# organization is newer than the statistics, PostgreSQL would read this index for each tag set.
_IS_NOT_SAVE = TagSetRevision.kind.is_distinct_from("save")

_NEXT = text(
    """
    SELECT artifact_id FROM (
        (SELECT DISTINCT artifact_id FROM tag_sets
         WHERE organization_id = :organization_id AND artifact_id > :after
         ORDER BY artifact_id LIMIT :batch)
        UNION
        (SELECT artifact_id FROM quality_documents
         WHERE organization_id = :organization_id AND artifact_id > :after
         ORDER BY artifact_id LIMIT :batch)
    ) AS document
    ORDER BY artifact_id LIMIT :batch
    """
)
_COUNT = text(
    "SELECT count(DISTINCT artifact_id) FROM tag_sets WHERE organization_id = :organization_id"
)


class TagSetRow(Protocol):
    """A tag set, with the size in bytes of the tags that are read for it."""

    artifact_id: UUID
    id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None
    source: str
    status: str
    superseded_by: UUID | None
    seconds_spent: int
    loaded_bytes: int


class RevisionRow(Protocol):
    """A revision of a tag set, other than a save."""

    tag_set_id: UUID
    number: int
    kind: str
    author_id: UUID | None
    created_at: datetime
    tags: list[dict[str, Any]] | None


class LoadedDocument(NamedTuple):
    """A document with the rows of its tag sets and revisions.

    `revisions` maps tag set ids to revisions. It may also have revisions of other documents. If
    `has_tags` is false, the tags in the revisions are None.
    """

    id: UUID
    schema_id: UUID | None
    gold: bool
    tag_sets: Sequence[TagSetRow]
    revisions: dict[UUID, list[RevisionRow]]
    has_tags: bool


def list_next_artifacts(after: UUID, batch: int) -> list[UUID]:
    """Return the ids of the next artifacts that have tag sets or contributions.

    At most `batch` ids above `after` are returned, in ascending order.
    """
    values = {**_build_organization_params(), "after": after, "batch": batch}
    return list(db.session().scalars(_NEXT, values))


def count_labeled_artifacts() -> int:
    """Count the artifacts that have tag sets. Scans an index of all tag sets."""
    return int(db.session().execute(_COUNT, _build_organization_params()).scalar_one())


def load_documents(artifact_ids: Sequence[UUID]) -> Iterator[LoadedDocument]:
    """Yield the artifacts that exist, with the histories of their tag sets, in bounded memory."""
    artifacts = db.session().execute(
        select(Artifact.id, Artifact.schema_id, Artifact.gold)
        .where(Artifact.id.in_(artifact_ids))
        .order_by(Artifact.id)
    )
    tag_sets: dict[UUID, list[TagSetRow]] = defaultdict(list)
    for row in _list_tag_sets(artifact_ids):
        tag_sets[row.artifact_id].append(row)
    chunk: list[Any] = []
    size = 0
    for artifact in artifacts.all():
        artifact_bytes = sum(row.loaded_bytes for row in tag_sets[artifact.id])
        if chunk and size + artifact_bytes > CHUNK_BYTES:
            yield from _load_chunk(chunk, tag_sets, has_tags=size <= MAX_BYTES)
            chunk, size = [], 0
        chunk.append(artifact)
        size += artifact_bytes
    yield from _load_chunk(chunk, tag_sets, has_tags=size <= MAX_BYTES)


def _list_tag_sets(artifact_ids: Sequence[UUID]) -> Sequence[TagSetRow]:
    # Earlier revisions may be much larger than the current tags. Only saves store their size.
    loaded_bytes = (
        select(func.coalesce(func.sum(func.octet_length(cast(TagSetRevision.tags, Text))), 0))
        .where(
            TagSetRevision.organization_id == tenancy.current_organization_id(),
            TagSetRevision.tag_set_id == TagSet.id,
            _IS_NOT_SAVE,
        )
        .scalar_subquery()
    )
    statement = (
        select(
            TagSet.artifact_id,
            TagSet.id,
            TagSet.schema_id,
            TagSet.schema_version_id,
            TagSet.labeler_id,
            TagSet.source,
            TagSet.status,
            TagSet.superseded_by,
            TagSet.seconds_spent,
            loaded_bytes.label("loaded_bytes"),
        )
        .where(TagSet.artifact_id.in_(artifact_ids))
        .order_by(TagSet.artifact_id, TagSet.id)
    )
    return db.session().execute(statement).all()


def _load_chunk(
    artifacts: Sequence[Any], tag_sets: dict[UUID, list[TagSetRow]], *, has_tags: bool
) -> Iterator[LoadedDocument]:
    ids = [row.id for artifact in artifacts for row in tag_sets[artifact.id]]
    revisions: dict[UUID, list[RevisionRow]] = defaultdict(list)
    for row in _list_revisions(ids, has_tags=has_tags):
        revisions[row.tag_set_id].append(row)
    for artifact in artifacts:
        yield LoadedDocument(
            artifact.id,
            artifact.schema_id,
            artifact.gold,
            tag_sets[artifact.id],
            revisions,
            has_tags,
        )


def _list_revisions(tag_set_ids: Sequence[UUID], *, has_tags: bool) -> Sequence[RevisionRow]:
    if not tag_set_ids:
        return []
    tags = TagSetRevision.tags if has_tags else null()
    statement: Select[Any] = (
        select(
            TagSetRevision.tag_set_id,
            TagSetRevision.number,
            TagSetRevision.kind,
            TagSetRevision.author_id,
            TagSetRevision.created_at,
            tags.label("tags"),
        )
        .where(TagSetRevision.tag_set_id.in_(tag_set_ids))
        .where(_IS_NOT_SAVE)
        .order_by(TagSetRevision.tag_set_id, TagSetRevision.number)
    )
    return db.session().execute(statement).all()


def _build_organization_params() -> dict[str, Any]:
    return {"organization_id": tenancy.current_organization_id()}
