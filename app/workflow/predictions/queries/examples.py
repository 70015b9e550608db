"""SQL queries for the accepted tag sets on which models are trained, and for their documents.

If the policy of a schema version accepts tag sets by confidence, its tag sets whose values nobody
has checked are omitted. A model that is trained on its own values becomes more confident of its
errors, so that more errors are accepted.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, or_, select

from app.documents.artifacts.models.content import ArtifactPage
from app.documents.artifacts.models.documents import Artifact
from app.kit import db
from app.kit.tenancy import build_join
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.models import TagSet, build_checked_condition
from app.workflow.tag_sets.transitions import TagSetStatus


class AcceptedTagSet(NamedTuple):
    """An accepted tag set without its tags."""

    id: UUID
    artifact_id: UUID
    labeler_id: UUID | None
    revision: int
    decided_at: datetime | None


class VersionRow(NamedTuple):
    """A schema version with its fields."""

    id: UUID
    schema_id: UUID
    fields: list[dict[str, Any]]


class PageRow(NamedTuple):
    """A page and its offsets in the text; `words` is None if the document has no fixed pages."""

    number: int
    start: int
    end: int
    words: list[dict[str, Any]] | None


def list_versions(schema_id: UUID) -> list[VersionRow]:
    """Return all versions of a schema, in any order."""
    statement = select(*db.build_columns(VersionRow._fields, SchemaVersion)).where(
        SchemaVersion.schema_id == schema_id
    )
    return [VersionRow._make(row) for row in db.session().execute(statement)]


def _build_trust_condition(schema_id: UUID) -> ColumnElement[bool]:
    """Build the condition that a tag set can be trusted: it is safe to train a model on it.

    Either a person has checked the values, or the schema version does not accept tag sets by
    confidence.
    """
    min_confidence = SchemaVersion.review_policy["auto_accept_confidence"].astext
    versions = select(SchemaVersion.id).where(
        SchemaVersion.schema_id == schema_id, min_confidence.is_not(None)
    )
    return or_(build_checked_condition(), TagSet.schema_version_id.not_in(versions))


def _build_training_condition() -> ColumnElement[bool]:
    # The text of a scan without words consists only of form feeds between pages. A tag set without
    # tags cannot train a model.
    min_length = func.greatest(func.coalesce(Artifact.page_count, 1), 1)
    return and_(Artifact.text_length >= min_length, TagSet.tag_count > 0)


def _build_accepted_conditions(
    schema_id: UUID, version_ids: Sequence[UUID]
) -> list[ColumnElement[bool]]:
    return [
        TagSet.schema_id == schema_id,
        TagSet.schema_version_id.in_(version_ids),
        TagSet.status == TagSetStatus.ACCEPTED,
        _build_trust_condition(schema_id),
    ]


def count_accepted(schema_id: UUID, version_ids: Sequence[UUID], limit: int | None = None) -> int:
    """Return the number of accepted tag sets with these schema versions, at most `limit`.

    Tag sets that must not train a model are not counted; see the module docstring.
    """
    rows = (
        select(TagSet.id)
        .where(*_build_accepted_conditions(schema_id, version_ids))
        .limit(limit)
        .subquery()
    )
    return int(db.session().scalar(select(func.count()).select_from(rows)) or 0)


def count_training_documents(
    schema_id: UUID, version_ids: Sequence[UUID], limit: int | None = None
) -> int:
    """Return the number of documents that a model can learn from, but at most `limit`.

    Such a document has words, and an accepted tag set with tags for one of the versions.
    """
    statement = (
        select(TagSet.artifact_id)
        .join(Artifact, build_join(TagSet.artifact_id, Artifact))
        .where(*_build_accepted_conditions(schema_id, version_ids), _build_training_condition())
    )
    rows = statement.distinct().limit(limit).subquery()
    return int(db.session().scalar(select(func.count()).select_from(rows)) or 0)


def list_accepted(schema_id: UUID, version_ids: Sequence[UUID], limit: int) -> list[AcceptedTagSet]:
    """Return the newest accepted tag set of each of at most `limit` documents, newest first.

    Documents without words and tag sets without tags are omitted. Only the newest 2 * `limit` tag
    sets are read, so fewer documents may be returned if documents have several tag sets.
    """
    statement = (
        select(*db.build_columns(AcceptedTagSet._fields, TagSet))
        .join(Artifact, build_join(TagSet.artifact_id, Artifact))
        .where(*_build_accepted_conditions(schema_id, version_ids), _build_training_condition())
        .order_by(TagSet.created_at.desc(), TagSet.id.desc())
        .limit(2 * limit)
    )
    newest: dict[UUID, AcceptedTagSet] = {}
    for row in db.session().execute(statement):
        newest.setdefault(row.artifact_id, AcceptedTagSet._make(row))
    return list(newest.values())[:limit]


def find_tags(tag_set: AcceptedTagSet) -> list[dict[str, Any]] | None:
    """Return the tags of an accepted tag set.

    Returns None if the tag set was reopened, changed or deleted after it was listed.
    """
    statement = select(TagSet.tags).where(
        TagSet.id == tag_set.id,
        TagSet.status == TagSetStatus.ACCEPTED,
        TagSet.revision == tag_set.revision,
    )
    return db.session().scalar(statement)


def list_pages(artifact_id: UUID, limit: int) -> list[PageRow]:
    """Return the first `limit` pages of a document with their words."""
    statement = (
        select(*db.build_columns(PageRow._fields, ArtifactPage))
        .where(ArtifactPage.artifact_id == artifact_id)
        .order_by(ArtifactPage.number)
        .limit(limit)
    )
    return [PageRow._make(row) for row in db.session().execute(statement)]


def find_version_id(schema_id: UUID, number: int | None) -> UUID | None:
    """Return the id of the schema version with this number, or None if it does not exist.

    If `number` is None, return the id of the latest version.
    """
    statement = select(SchemaVersion.id).where(SchemaVersion.schema_id == schema_id)
    if number is not None:
        statement = statement.where(SchemaVersion.number == number)
    return db.session().scalars(statement.order_by(SchemaVersion.number.desc()).limit(1)).first()


def lock_documents(artifact_ids: Sequence[UUID]) -> int:
    """Lock documents against deletion until the transaction ends, and return how many exist."""
    statement = select(Artifact.id).where(Artifact.id.in_(artifact_ids)).order_by(Artifact.id)
    return len(db.session().scalars(statement.with_for_update(read=True, key_share=True)).all())
