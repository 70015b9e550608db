"""SQL that reads documents, their text and their pages."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Uuid,
    and_,
    bindparam,
    cast,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, aggregate_order_by

from app.documents.artifacts.models import (
    ARTIFACT_COLUMNS,
    HAS_TEXT_LAYER,
    Artifact,
    ArtifactAssignee,
    ArtifactPage,
    ArtifactText,
)
from app.documents.artifacts.queries.searching import matches
from app.kit import db, tenancy
from app.kit.pagination import Page, PageRequest, paginate, within
from app.kit.prepared import Prepared

_ALL = select(*ARTIFACT_COLUMNS)
_ONE = _ALL.where(Artifact.id == bindparam("artifact_id"))
_LOCKED = _ONE.with_for_update(key_share=True)


_SHOWN = Prepared.from_select(
    "show_artifact",
    _ONE.where(Artifact.organization_id == bindparam("organization_id")),
    organization_id="uuid",
    artifact_id="uuid",
)


_CONTENT: Any = select(
    Artifact.name,
    Artifact.media_type,
    Artifact.size_bytes,
    Artifact.sha256,
    Artifact.status,
    Artifact.page_count,
).where(Artifact.id == bindparam("artifact_id"))
_SPANS = (
    select(
        func.jsonb_agg(
            aggregate_order_by(
                func.jsonb_build_object(
                    "number",
                    ArtifactPage.number,
                    "start",
                    ArtifactPage.start,
                    "end",
                    ArtifactPage.end,
                ),
                ArtifactPage.number,
            )
        )
    )
    .where(
        ArtifactPage.organization_id == bindparam("organization_id"),
        ArtifactPage.artifact_id == bindparam("artifact_id"),
    )
    .scalar_subquery()
)
_SHOWN_TEXT: Any = (
    select(
        Artifact.status,
        ArtifactText.text,
        Artifact.text_length.label("length"),
        Artifact.language,
        HAS_TEXT_LAYER,
        func.coalesce(_SPANS, literal_column("CAST('[]' AS jsonb)"), type_=JSONB).label("pages"),
    )
    .join(
        ArtifactText,
        and_(
            ArtifactText.organization_id == Artifact.organization_id,
            ArtifactText.artifact_id == Artifact.id,
        ),
    )
    .where(
        Artifact.organization_id == bindparam("organization_id"),
        Artifact.id == bindparam("artifact_id"),
    )
)
_TEXT = Prepared.from_select("show_text", _SHOWN_TEXT, organization_id="uuid", artifact_id="uuid")
_PAGES: Any = select(
    ArtifactPage.number,
    ArtifactPage.width,
    ArtifactPage.height,
    ArtifactPage.rotation,
    ArtifactPage.start,
    ArtifactPage.end,
    ArtifactPage.words.is_(None).label("flowing"),
)


def shown(artifact_id: UUID) -> Any:
    """Return an artifact as a named tuple of `ARTIFACT_COLUMNS`, ids as text, or None."""
    return _SHOWN.first(str(tenancy.current_organization_id()), str(artifact_id))


def selected_ids(filters: dict[str, Any]) -> Select[Any]:
    """Return a SELECT of the ids of all documents that match `filters`."""
    return filtered(select(Artifact.id), **filters)


def by_ids(artifact_ids: Sequence[UUID], filters: dict[str, Any] | None = None) -> Select[Any]:
    """Return a SELECT of those `artifact_ids` that exist and still match `filters`.

    The full-text search `q` is not repeated.
    """
    return still(select(Artifact.id), artifact_ids, filters)


def still(
    statement: Select[Any], artifact_ids: Sequence[UUID], filters: dict[str, Any] | None = None
) -> Select[Any]:
    """Restrict `statement`, a SELECT of documents, to the documents of `by_ids`."""
    if filters is not None:
        statement = filtered(statement, **{k: v for k, v in filters.items() if k != "q"})
    return statement.where(among(artifact_ids))


def among(artifact_ids: Sequence[UUID]) -> ColumnElement[bool]:
    """Return the condition that a document is one of these.

    It uses one array: SQLAlchemy and PostgreSQL are slow with a list of a thousand values.
    """
    return Artifact.id == func.any(cast(list(artifact_ids), ARRAY(Uuid)))


def filtered(
    statement: Select[Any],
    *,
    status: list[str] | None = None,
    assignee: UUID | None = None,
    assigned: bool | None = None,
    due_after: datetime | None = None,
    due_before: datetime | None = None,
    archived: str = "false",
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    q: str | None = None,
    **equal: Any,
) -> Select[Any]:
    """Restrict `statement`, a SELECT of documents, to those that match the list's filters."""
    if status:
        statement = statement.where(
            Artifact.status == status[0] if len(status) == 1 else Artifact.status.in_(status)
        )
    statement = statement.where(*_in_hands(assignee, assigned=assigned))
    if due_after is not None:
        statement = statement.where(Artifact.due_at >= due_after)
    if due_before is not None:
        statement = statement.where(Artifact.due_at < due_before)
    statement = timed(
        statement,
        Artifact,
        archived=archived,
        created_after=created_after,
        created_before=created_before,
    )
    if q is not None:
        statement = statement.where(Artifact.id.in_(select(matches(q).c.id)))
    for name, value in equal.items():
        statement = statement.where(getattr(Artifact, name) == value)
    return statement


def _in_hands(assignee: UUID | None, *, assigned: bool | None) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if assignee is not None:
        theirs = select(ArtifactAssignee.artifact_id).where(
            ArtifactAssignee.assignee_id == assignee
        )
        by_name, by_team = ([{kind: str(assignee)}] for kind in ("user_id", "team_id"))
        found += [
            Artifact.id.in_(theirs),
            # After waiting for a row lock, PostgreSQL checks again only the conditions on that row.
            or_(Artifact.assignees.contains(by_name), Artifact.assignees.contains(by_team)),
        ]
    if assigned is not None:
        nobody = Artifact.assignees == []
        found.append(~nobody if assigned else nobody)
    return found


def timed(
    statement: Select[Any],
    of: Any,
    *,
    archived: str = "false",
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Select[Any]:
    """Restrict `statement` by archived mark and creation time, using the columns of `of`."""
    if archived != "any":
        statement = statement.where(of.archived.is_(archived == "true"))
    return statement.where(*within(of.created_at, created_after, created_before))


def one(artifact_id: UUID, *, lock: bool = False) -> Row[Any] | None:
    """Return a document, or None; `lock` prevents changes by others until the transaction ends."""
    return _row(_LOCKED if lock else _ONE, artifact_id)


def _row(statement: Select[Any], artifact_id: UUID) -> Row[Any] | None:
    found: Row[Any] | None
    found = db.session().execute(statement, {"artifact_id": artifact_id}).one_or_none()
    return found


def content(artifact_id: UUID) -> Row[Any] | None:
    """Return the columns that describe a document's content, or None.

    Columns: name, media_type, size_bytes, sha256, status, page_count.
    """
    return _row(_CONTENT, artifact_id)


def text(artifact_id: UUID) -> Any:
    """Return a document's text and its layout, or None if there is none.

    Columns: status, text, length in code points, language, and each page's number, start and end.
    """
    return _TEXT.first(str(tenancy.current_organization_id()), str(artifact_id))


def pages(request: PageRequest, artifact_id: UUID) -> Page:
    """Return a page of pages; `flowing` says that words are computed from the text, not stored."""
    statement = _PAGES.where(ArtifactPage.artifact_id == artifact_id)
    sorts = {"number": ArtifactPage.number}
    return paginate(statement, request, sorts=sorts, unique=ArtifactPage.number)
