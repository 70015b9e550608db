"""SQL of a label set's revisions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Text, cast, func, select

from app.identity.users.models import User
from app.kit import db
from app.kit.pagination import Page, PageRequest, paginate, within
from app.workflow.tag_sets.models import TagSetRevision
from app.workflow.tag_sets.queries.reading import person

# Only saves have noted their size.
_SIZE = func.coalesce(TagSetRevision.tags_bytes, func.octet_length(cast(TagSetRevision.tags, Text)))
_COUNT = func.coalesce(TagSetRevision.tag_count, func.jsonb_array_length(TagSetRevision.tags))


def page(
    request: PageRequest,
    tag_set_id: UUID,
    *,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """A page of the revisions, without their tags."""
    conditions = [TagSetRevision.tag_set_id == tag_set_id]
    conditions += within(TagSetRevision.created_at, created_after, created_before)
    statement = (
        select(
            TagSetRevision.number,
            TagSetRevision.kind,
            person(User, "author"),
            TagSetRevision.note,
            TagSetRevision.created_at,
            _COUNT.label("tag_count"),
        )
        .outerjoin(User, User.id == TagSetRevision.author_id)
        .where(*conditions)
    )
    return paginate(
        statement,
        request,
        sorts={"number": TagSetRevision.number},
        unique=TagSetRevision.number,
        count=select(TagSetRevision.number).where(*conditions),
    )


def tags(
    tag_set_id: UUID, numbers: Sequence[int], *, most_bytes: int | None = None
) -> dict[int, list[Any]]:
    """The tags of revisions by number; those of more than `most_bytes` as JSON are left out."""
    statement = select(TagSetRevision.number, TagSetRevision.tags).where(
        TagSetRevision.tag_set_id == tag_set_id, TagSetRevision.number.in_(numbers)
    )
    if most_bytes is not None:
        statement = statement.where(most_bytes >= _SIZE)
    return {row.number: row.tags for row in db.session().execute(statement)}
