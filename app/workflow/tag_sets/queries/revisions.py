"""SQL of a tag set's revisions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Text, cast, func, select

from app.identity.users.models import User
from app.kit import db
from app.kit.pagination import Page, PageRequest, paginate, within
from app.workflow.tag_sets.models import TagSetRevision
from app.workflow.tag_sets.queries.reading import build_person

# Only saves store their size.
_SIZE = func.coalesce(TagSetRevision.tags_bytes, func.octet_length(cast(TagSetRevision.tags, Text)))
_COUNT = func.coalesce(TagSetRevision.tag_count, func.jsonb_array_length(TagSetRevision.tags))


def get_page(
    request: PageRequest,
    tag_set_id: UUID,
    *,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of a tag set's revisions, without their tags."""
    conditions = [TagSetRevision.tag_set_id == tag_set_id]
    conditions += within(TagSetRevision.created_at, created_after, created_before)
    statement = (
        select(
            TagSetRevision.number,
            TagSetRevision.kind,
            build_person(User, "author"),
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


def get_tags(
    tag_set_id: UUID, numbers: Sequence[int], *, max_bytes: int | None = None
) -> dict[int, list[Any]]:
    """Return {number: tags} of revisions, except tags of more than `max_bytes` as JSON."""
    statement = select(TagSetRevision.number, TagSetRevision.tags).where(
        TagSetRevision.tag_set_id == tag_set_id, TagSetRevision.number.in_(numbers)
    )
    if max_bytes is not None:
        statement = statement.where(max_bytes >= _SIZE)
    return {row.number: row.tags for row in db.session().execute(statement)}
