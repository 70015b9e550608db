"""SQL queries for the records that notifications refer to, such as exports and documents."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Select, case, select
from sqlalchemy.orm import InstrumentedAttribute

from app.delivery.exports.models import Export
from app.documents.artifacts.models.documents import Artifact
from app.identity.invitations.models import Invitation
from app.identity.organizations.models import Organization
from app.identity.users.models import User
from app.kit import db
from app.kit.tenancy import build_join
from app.workflow.comments.models import TagSetComment
from app.workflow.tag_sets.models import TagSet


class ExportResult(NamedTuple):
    """The result of an export.

    `user_id` is the user who requested or scheduled the export; None if an API key requested it.
    """

    user_id: UUID | None
    format: str
    row_count: int | None
    expires_at: datetime | None
    error: dict[str, Any] | None


def get_export_result(export_id: UUID) -> ExportResult | None:
    """Return the result of an export, or None if it no longer exists."""
    requester_id = case((Export.api_key_id.is_(None), Export.created_by))
    columns = db.build_columns(ExportResult._fields, Export, user_id=requester_id)
    return db.find_row(ExportResult, select(*columns).where(Export.id == export_id))


class SentInvitation(NamedTuple):
    """An invitation: the user who sent it, the invited address, and the organization's slug."""

    invited_by: UUID
    email: str
    slug: str


def get_invitation(invitation_id: UUID) -> SentInvitation | None:
    """Return an invitation, or None if the invitation or its sender no longer exists."""
    statement = (
        select(Invitation.invited_by, Invitation.email, Organization.slug)
        .join(Organization, Organization.id == Invitation.organization_id)
        .where(Invitation.id == invitation_id, Invitation.invited_by.is_not(None))
    )
    return db.find_row(SentInvitation, statement)


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
    return db.find_row(Comment, statement)


def get_document_names(artifact_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return document names by artifact id; deleted documents are omitted."""
    return _fetch_names(select(Artifact.id, Artifact.name), Artifact.id, artifact_ids)


def get_tag_set_document_names(tag_set_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the name of each tag set's document by tag set id; deleted tag sets are omitted."""
    statement = select(TagSet.id, Artifact.name).join(
        Artifact, build_join(TagSet.artifact_id, Artifact)
    )
    return _fetch_names(statement, TagSet.id, tag_set_ids)


def get_user_names(user_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the names of users by id."""
    return _fetch_names(select(User.id, User.name), User.id, user_ids)


def _fetch_names(
    statement: Select[UUID, str], key: InstrumentedAttribute[UUID], ids: Iterable[UUID]
) -> dict[UUID, str]:
    sorted_ids = sorted(set(ids))
    if not sorted_ids:
        return {}
    return {row[0]: row[1] for row in db.session().execute(statement.where(key.in_(sorted_ids)))}
