"""SQL of the names of documents, users and comments that notifications mention."""

from collections.abc import Iterable
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Select, and_, select

from app.documents.artifacts.models import Artifact
from app.identity.users.models import User
from app.kit import db
from app.workflow.comments.models import TagSetComment
from app.workflow.tag_sets.models import TagSet


class Comment(NamedTuple):
    """A comment with the names of its author and document."""

    body: str
    author: str
    document: str


def comment(comment_id: UUID) -> Comment | None:
    """Return a comment, or None if it no longer exists."""
    statement = (
        select(TagSetComment.body, User.name, Artifact.name)
        .join(User, User.id == TagSetComment.author_id)
        .join(TagSet, _same(TagSet, TagSetComment.tag_set_id, TagSetComment))
        .join(Artifact, _same(Artifact, TagSet.artifact_id, TagSet))
        .where(TagSetComment.id == comment_id)
    )
    row = db.session().execute(statement).first()
    return None if row is None else Comment(*row)


def of_documents(artifact_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the names of documents by id, without those that no longer exist."""
    return _names(select(Artifact.id, Artifact.name), Artifact.id, artifact_ids)


def of_label_sets(tag_set_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the names of the documents of tag sets by tag set id, without those that are gone."""
    joined = select(TagSet.id, Artifact.name).join(
        Artifact, _same(Artifact, TagSet.artifact_id, TagSet)
    )
    return _names(joined, TagSet.id, tag_set_ids)


def of_people(user_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the names of users by id."""
    return _names(select(User.id, User.name), User.id, user_ids)


def _names(statement: Select[UUID, str], key: Any, ids: Iterable[UUID]) -> dict[UUID, str]:
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    return {row[0]: row[1] for row in db.session().execute(statement.where(key.in_(wanted)))}


def _same(target: Any, key: Any, source: Any) -> Any:
    return and_(target.organization_id == source.organization_id, target.id == key)
