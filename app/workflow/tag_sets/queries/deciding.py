"""SQL queries that record status changes of locked tag sets: submit, accept, reject, reopen.

Every change of a tag set is recorded as a revision.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Select,
    and_,
    cast,
    extract,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.orm import aliased

from app.identity.teams.models import TeamMember
from app.kit import db, tenancy
from app.kit.id_conditions import build_id_condition
from app.workflow.tag_sets.models import TagSet, TagSetRevision
from app.workflow.tag_sets.transitions import TagSetStatus


def find_id_by_labeler(
    artifact_id: UUID, user_id: UUID, statuses: tuple[str, ...], *, excluded_id: UUID | None = None
) -> UUID | None:
    """Return the id of a user's tag set for an artifact, or None if there is none.

    Only tag sets in one of `statuses` are considered. The tag set `excluded_id` is ignored.
    """
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id, TagSet.labeler_id == user_id, TagSet.status.in_(statuses)
    )
    if excluded_id is not None:
        statement = statement.where(TagSet.id != excluded_id)
    return db.session().execute(statement.limit(1)).scalar_one_or_none()


def list_ids(
    artifact_id: UUID, statuses: tuple[str, ...], *, source: str | None = None
) -> list[UUID]:
    """Return the ids of an artifact's tag sets in one of the statuses, oldest first.

    `source` restricts the tag sets to one source, such as `merge`.
    """
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id, TagSet.status.in_(statuses)
    )
    if source is not None:
        statement = statement.where(TagSet.source == source)
    return list(db.session().execute(statement.order_by(TagSet.id)).scalars())


def get_provenance(tag_set_id: UUID) -> list[dict[str, Any]]:
    """Return the provenance entries of a merge, or an empty list for any other tag set."""
    statement = select(TagSet.provenance).where(TagSet.id == tag_set_id)
    return list(db.session().execute(statement).scalar_one() or ())


def list_team_ids(user_id: UUID) -> list[UUID]:
    """Return the ids of a user's teams."""
    statement = select(TeamMember.team_id).where(TeamMember.user_id == user_id)
    return list(db.session().scalars(statement))


_DECISION_KINDS = ("accept", "correction", "reject")
_RECORDED_COLUMNS = (
    TagSet.organization_id,
    TagSet.id,
    TagSet.revision,
    TagSet.tags,
    TagSet.updated_at,
    TagSet.schema_id,
)
"""The columns of a tag set that are stored in its revisions."""
_previous_revision = aliased(TagSetRevision)
"""The revision before the revision that is being recorded."""


def insert_revisions(
    tag_set_ids: Sequence[UUID], *, kind: str, author_id: UUID | None, note: str | None = None
) -> None:
    """Insert a revision for each tag set, with its current state."""
    current = select(*_RECORDED_COLUMNS).where(*_build_conditions(tag_set_ids)).subquery()
    _insert_revisions(current, kind=kind, author_id=author_id, note=note)


def update_tag_sets(
    tag_set_ids: Sequence[UUID],
    values: Mapping[str, object],
    *conditions: ColumnElement[bool],
    kind: str,
    author_id: UUID | None,
    note: str | None = None,
) -> None:
    """Update locked tag sets that meet `conditions`, and record a revision of each of them."""
    changed_tag_sets = (
        update(TagSet)
        .where(*_build_conditions(tag_set_ids), *conditions)
        .values(**values, revision=TagSet.revision + 1)
        .returning(*_RECORDED_COLUMNS)
        .cte("changed")
    )
    _insert_revisions(changed_tag_sets, kind=kind, author_id=author_id, note=note)


def supersede(
    tag_set_ids: Sequence[UUID],
    merge_id: UUID,
    values: Mapping[str, object],
    author_id: UUID | None,
) -> None:
    """Update the sources of a merge with `values`, and mark them as superseded by the merge.

    Only sources that are submitted, or that another merge has superseded, are changed.
    """
    is_submitted = TagSet.status == TagSetStatus.SUBMITTED
    is_superseded = and_(TagSet.status == TagSetStatus.REJECTED, TagSet.superseded_by.is_not(None))
    update_tag_sets(
        tag_set_ids,
        {**values, "superseded_by": merge_id},
        or_(is_submitted, is_superseded),
        kind="supersede",
        author_id=author_id,
    )


def _build_conditions(tag_set_ids: Sequence[UUID]) -> list[ColumnElement[bool]]:
    # The ORM does not add the condition on the organization inside an INSERT.
    in_organization = TagSet.organization_id == tenancy.current_organization_id()
    return [in_organization, build_id_condition(TagSet.id, tag_set_ids)]


def _insert_revisions(
    tag_sets: FromClause, *, kind: str, author_id: UUID | None, note: str | None
) -> None:
    """Insert a revision for each row of `tag_sets`, which has the `_RECORDED_COLUMNS`.

    A decision also stores the schema, and the time since the previous revision.
    """
    columns = ["organization_id", "tag_set_id", "number", "tags", "created_at"]
    columns += ["author_id", "kind", "note"]
    revision_rows: Select[Any] = select(
        *(tag_sets.c[name] for name in ("organization_id", "id", "revision", "tags", "updated_at")),
        literal(author_id, TagSetRevision.author_id.type),
        literal(kind),
        literal(note, TagSetRevision.note.type),
    )
    if kind in _DECISION_KINDS:
        columns += ["schema_id", "waited_microseconds"]
        waited_seconds = extract("epoch", tag_sets.c.updated_at - _previous_revision.created_at)
        revision_rows = revision_rows.add_columns(
            tag_sets.c.schema_id, cast(waited_seconds * 1_000_000, BigInteger)
        ).outerjoin_from(
            tag_sets,
            _previous_revision,
            and_(
                _previous_revision.organization_id == tag_sets.c.organization_id,
                _previous_revision.tag_set_id == tag_sets.c.id,
                _previous_revision.number == tag_sets.c.revision - 1,
            ),
        )
    db.session().execute(insert(TagSetRevision).from_select(columns, revision_rows))
