"""SQL queries for the documents, users and comments that notifications mention."""

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import InstrumentedAttribute

from app.documents.artifacts.models.documents import Artifact
from app.identity.users.models import User
from app.kit import db
from app.kit.tenancy import build_join
from app.workflow.comments.models import TagSetComment
from app.workflow.tag_sets.models import TagSet


class Comment(NamedTuple):
    """A comment with the names of its author and document."""

    body: str
    author: str
    document: str


def get_comment(comment_id: UUID) -> Comment | None:
    """Return a comment, or None if it no longer exists."""
    statement = (
        select(TagSetComment.body, User.name, Artifact.name)
        .join(User, User.id == TagSetComment.author_id)
        .join(TagSet, build_join(TagSetComment.tag_set_id, TagSet))
        .join(Artifact, build_join(TagSet.artifact_id, Artifact))
        .where(TagSetComment.id == comment_id)
    )
    row = db.session().execute(statement).first()
    return None if row is None else Comment(*row)


def list_document_names(artifact_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return document names by artifact id; deleted documents are omitted."""
    return _fetch_names(select(Artifact.id, Artifact.name), Artifact.id, artifact_ids)


def list_tag_set_document_names(tag_set_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the name of each tag set's document by tag set id; deleted tag sets are omitted."""
    statement = select(TagSet.id, Artifact.name).join(
        Artifact, build_join(TagSet.artifact_id, Artifact)
    )
    return _fetch_names(statement, TagSet.id, tag_set_ids)


def list_user_names(user_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the names of users by id."""
    return _fetch_names(select(User.id, User.name), User.id, user_ids)


def _fetch_names(
    statement: Select[UUID, str], key: InstrumentedAttribute[UUID], ids: Iterable[UUID]
) -> dict[UUID, str]:
    sorted_ids = sorted(set(ids))
    if not sorted_ids:
        return {}
    return {row[0]: row[1] for row in db.session().execute(statement.where(key.in_(sorted_ids)))}
