"""SQL queries that read documents and the histories of their tag sets."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Text, cast, func, null, select

from app.documents.artifacts.models.documents import Artifact
from app.engines.fields import Tag
from app.insight.quality.models import CellSubject
from app.kit import db, tenancy
from app.kit.chunks import split_by_size
from app.kit.id_conditions import build_id_condition
from app.workflow.tag_sets.models import TagSet, TagSetRevision

CHUNK_BYTES = 8 * 1024 * 1024
"""The maximum size in bytes of the tags that one query reads, in all revisions except saves. A
larger document is read alone."""
MAX_BYTES = 32 * 1024 * 1024
"""The maximum size in bytes of a document's tags, in all revisions except saves. The tags of a
larger document are not compared."""
# With `!=`, PostgreSQL could use the partial index of all revisions that are not saves. Without
# recent table statistics, it would then read the whole index for each tag set.
_IS_NOT_SAVE = TagSetRevision.kind.is_distinct_from("save")
_SUBMISSION_KINDS = ("submit", "import")

SubjectKey = tuple[CellSubject, str, str]
"""A subject as in `QualityCell`: its type, its `name`, and its `field_type`. Only a field has a
`field_type`; otherwise it is empty."""

_NEXT_ARTIFACTS = tenancy.build_text(
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
_ARTIFACT_COUNT = tenancy.build_text(
    "SELECT count(DISTINCT artifact_id) FROM tag_sets WHERE organization_id = :organization_id"
)


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of a tag set that is not a save. Saves are not counted, so they are not loaded."""

    kind: str
    author_id: UUID | None
    created_at: datetime
    tags: list[Tag]


@dataclass(frozen=True, slots=True)
class TagSetHistory:
    """A tag set with its revisions in order, excluding saves.

    `loaded_bytes` is the size in bytes of the tags of these revisions.
    """

    artifact_id: UUID
    id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None
    source: str
    status: str
    superseded: bool
    seconds_spent: int
    loaded_bytes: int
    revisions: list[Revision] = field(default_factory=list)

    def list_subjects(self) -> list[SubjectKey]:
        """Return the schema and the labeler as subjects; an empty list if there is no labeler."""
        if self.labeler_id is None:
            return []
        return [(CellSubject.SCHEMA, "", ""), (CellSubject.LABELER, str(self.labeler_id), "")]

    def list_submissions(self) -> list[Revision]:
        """Return the revisions that submitted or imported the tag set."""
        return [revision for revision in self.revisions if revision.kind in _SUBMISSION_KINDS]


class DocumentHistory(NamedTuple):
    """An artifact with the histories of its tag sets.

    `has_tags` is false if the tags are too large to be compared; then the revisions have no tags.
    """

    id: UUID
    schema_id: UUID | None
    gold: bool
    tag_sets: list[TagSetHistory]
    has_tags: bool


def list_next_artifact_ids(after: UUID, limit: int) -> list[UUID]:
    """Return the ids of the next artifacts that have tag sets or contributions.

    At most `limit` ids above `after` are returned, in ascending order.
    """
    return list(db.session().scalars(_NEXT_ARTIFACTS, {"after": after, "batch": limit}))


def count_labeled_artifacts() -> int:
    """Count the artifacts that have tag sets. Scans an index of all tag sets."""
    return int(db.session().execute(_ARTIFACT_COUNT).scalar_one())


class _ArtifactRow(NamedTuple):
    """The columns of an artifact that `DocumentHistory` contains."""

    id: UUID
    schema_id: UUID | None
    gold: bool


class _RevisionRow(NamedTuple):
    """A revision of a tag set; `tags` is None if the tags were not loaded."""

    tag_set_id: UUID
    kind: str
    author_id: UUID | None
    created_at: datetime
    tags: list[Tag] | None


def load_documents(artifact_ids: Sequence[UUID]) -> Iterator[DocumentHistory]:
    """Yield the artifacts that exist among these ids, by id, without loading all tags at once."""
    statement = (
        select(*db.build_columns(_ArtifactRow._fields, Artifact))
        .where(build_id_condition(Artifact.id, artifact_ids))
        .order_by(Artifact.id)
    )
    artifacts = list(map(_ArtifactRow._make, db.session().execute(statement)))
    histories: dict[UUID, list[TagSetHistory]] = defaultdict(list)
    for history in _list_tag_sets(artifact_ids):
        histories[history.artifact_id].append(history)

    def get_size(artifact: _ArtifactRow) -> int:
        return sum(history.loaded_bytes for history in histories[artifact.id])

    for chunk in split_by_size(artifacts, get_size, CHUNK_BYTES):
        has_tags = sum(map(get_size, chunk)) <= MAX_BYTES
        yield from _load_chunk(chunk, histories, has_tags=has_tags)


def _list_tag_sets(artifact_ids: Sequence[UUID]) -> list[TagSetHistory]:
    """Return the tag sets of these artifacts, still without their revisions."""
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
    columns = db.build_columns(
        [name for name in TagSetHistory.__dataclass_fields__ if name != "revisions"],
        TagSet,
        superseded=TagSet.superseded_by.is_not(None),
        loaded_bytes=loaded_bytes,
    )
    statement = (
        select(*columns)
        .where(build_id_condition(TagSet.artifact_id, artifact_ids))
        .order_by(TagSet.artifact_id, TagSet.id)
    )
    return [TagSetHistory(*row) for row in db.session().execute(statement)]


def _load_chunk(
    artifacts: Sequence[_ArtifactRow], histories: dict[UUID, list[TagSetHistory]], *, has_tags: bool
) -> Iterator[DocumentHistory]:
    by_id = {history.id: history for artifact in artifacts for history in histories[artifact.id]}
    for row in _list_revisions(list(by_id), has_tags=has_tags):
        revision = Revision(row.kind, row.author_id, row.created_at, row.tags or [])
        by_id[row.tag_set_id].revisions.append(revision)
    for artifact in artifacts:
        tag_sets = histories.pop(artifact.id, [])
        yield DocumentHistory(artifact.id, artifact.schema_id, artifact.gold, tag_sets, has_tags)


def _list_revisions(tag_set_ids: Sequence[UUID], *, has_tags: bool) -> Iterable[_RevisionRow]:
    if not tag_set_ids:
        return []
    tags = TagSetRevision.tags if has_tags else null()
    statement = (
        select(*db.build_columns(_RevisionRow._fields, TagSetRevision, tags=tags))
        .where(build_id_condition(TagSetRevision.tag_set_id, tag_set_ids))
        .where(_IS_NOT_SAVE)
        .order_by(TagSetRevision.tag_set_id, TagSetRevision.number)
    )
    return map(_RevisionRow._make, db.session().execute(statement))
