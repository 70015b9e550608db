"""SQL of what happened to the label sets of one document."""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    Integer,
    String,
    Uuid,
    and_,
    case,
    cast,
    func,
    literal_column,
    null,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.documents.artifacts.models import Artifact
from app.identity.users.models import User
from app.kit import db
from app.schemas.artifact_schemas.models import ArtifactSchema, SchemaVersion
from app.workflow.tag_sets.models import TagSet, TagSetRevision
from app.workflow.tag_sets.queries.reading import Reader, is_visible_to


def acts(artifact_id: UUID, reader: Reader | None) -> Any:
    """A SELECT of every revision but saves: id (made of its key), at, tag_set_id, kind, author_id,
    author (an e-mail address), note, and changes: for whom it was made, and of what a merge was."""
    key = cast(TagSetRevision.tag_set_id, String) + "/" + cast(TagSetRevision.number, String)
    statement = (
        select(
            cast(func.md5(key), Uuid()).label("id"),
            TagSetRevision.created_at.label("at"),
            TagSetRevision.tag_set_id,
            TagSetRevision.kind,
            TagSetRevision.author_id,
            User.email.label("author"),
            TagSetRevision.note,
            case(
                (TagSetRevision.kind == "create", _from_nothing("labeler_id", TagSet.labeler_id)),
                (TagSetRevision.kind == "merge", _from_nothing("merged_from", TagSet.merged_from)),
                else_=literal_column("CAST('{}' AS jsonb)", JSONB()),
            ).label("changes"),
        )
        .join(
            TagSet,
            and_(
                TagSet.organization_id == TagSetRevision.organization_id,
                TagSet.id == TagSetRevision.tag_set_id,
            ),
        )
        .outerjoin(User, User.id == TagSetRevision.author_id)
        .where(TagSet.artifact_id == artifact_id, TagSetRevision.kind != "save")
    )
    return statement if reader is None else statement.where(is_visible_to(reader))


def _from_nothing(name: str, value: Any) -> Any:
    return func.jsonb_build_object(name, func.jsonb_build_array(null(), value), type_=JSONB())


def ids(artifact_id: UUID, reader: Reader | None) -> Any:
    """A SELECT of the ids of a document's label sets."""
    statement = select(TagSet.id).where(TagSet.artifact_id == artifact_id)
    return statement if reader is None else statement.where(is_visible_to(reader))


def is_blind(artifact_id: UUID, user_id: UUID) -> bool:
    """Whether several people label the document, each for themselves, and this one is not done."""
    wanted = SchemaVersion.review_policy["labels_per_artifact"].astext.cast(Integer)
    of_document = (
        select(ArtifactSchema.current_version_id)
        .join(Artifact, Artifact.schema_id == ArtifactSchema.id)
        .where(Artifact.id == artifact_id)
    )
    of_sets = select(TagSet.schema_version_id).where(TagSet.artifact_id == artifact_id)
    versions = select(SchemaVersion.id).where(
        wanted > 1, or_(SchemaVersion.id.in_(of_document), SchemaVersion.id.in_(of_sets))
    )
    done = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id,
        TagSet.schema_id.in_(select(Artifact.schema_id).where(Artifact.id == artifact_id)),
        TagSet.labeler_id == user_id,
        TagSet.submitted_at.is_not(None),
    )
    return bool(db.session().scalar(select(and_(versions.exists(), ~done.exists()))))
