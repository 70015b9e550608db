"""SQL queries that read documents, their text and their pages."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    Uuid,
    bindparam,
    case,
    cast,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from app.documents.artifacts.models.content import ArtifactPage, ArtifactText
from app.documents.artifacts.models.documents import (
    ARTIFACT_COLUMNS,
    HAS_TEXT_LAYER,
    Artifact,
    ArtifactRow,
)
from app.documents.artifacts.models.people import ArtifactAssignee
from app.kit import db, tenancy
from app.kit.id_conditions import build_id_condition
from app.kit.pagination import Page, PageRequest, build_period_conditions, paginate
from app.kit.periods import Column
from app.kit.prepared import Prepared
from app.kit.tenancy import build_join

_ARTIFACT = select(*ARTIFACT_COLUMNS).where(Artifact.id == bindparam("artifact_id"))
_LOCKED_ARTIFACT = _ARTIFACT.with_for_update(key_share=True)
_API_ROW = Prepared.from_select(
    "show_artifact",
    _ARTIFACT.where(Artifact.organization_id == bindparam("organization_id")),
    organization_id="uuid",
    artifact_id="uuid",
)


SORT_COLUMNS: dict[str, Column] = {
    "created_at": Artifact.created_at,
    "name": Artifact.name,
    "priority": Artifact.priority,
    "updated_at": Artifact.updated_at,
}
MAX_METADATA_BYTES = 16 * 1024 * 1024
"""The maximum size in bytes of all metadata on a list page. Each document gets an equal share."""
# Ids are read as text: a page has hundreds, and each would only be converted back to text.
_LIST_STATEMENT = select(
    *(
        cast(column, Text).label(str(column.key)) if isinstance(column.type, Uuid) else column
        for column in ARTIFACT_COLUMNS
        if column.key != "metadata"
    )
)
PAGE_COLUMNS = ("number", "width", "height", "rotation", "start", "end")
"""The columns of a page without its words."""


class ArtifactContent(NamedTuple):
    """The columns of a document that describe its content."""

    name: str
    media_type: str
    size_bytes: int
    sha256: str
    status: str
    page_count: int | None


_CONTENT = select(*(getattr(Artifact, name) for name in ArtifactContent._fields)).where(
    Artifact.id == bindparam("artifact_id")
)
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
_TEXT_ROW = (
    select(
        Artifact.status,
        ArtifactText.text,
        Artifact.text_length.label("length"),
        Artifact.language,
        HAS_TEXT_LAYER,
        func.coalesce(_SPANS, literal_column("CAST('[]' AS jsonb)"), type_=JSONB).label("pages"),
    )
    .join(ArtifactText, build_join(ArtifactText.artifact_id, Artifact))
    .where(
        Artifact.organization_id == bindparam("organization_id"),
        Artifact.id == bindparam("artifact_id"),
    )
)
_TEXT = Prepared.from_select("show_text", _TEXT_ROW, organization_id="uuid", artifact_id="uuid")


class TextRow(NamedTuple):
    """A document's text: `length` is in code points, `pages` are {number, start, end}."""

    status: str
    text: str
    length: int
    language: str | None
    has_text_layer: bool | None
    pages: list[dict[str, int]]


_TEXT.build_row = TextRow._make
_PAGES = select(
    *(getattr(ArtifactPage, name) for name in PAGE_COLUMNS),
    ArtifactPage.words.is_(None).label("is_virtual"),
)


def build_list_statement(page_size: int | ColumnElement[int]) -> Select[Any]:
    """Build the SELECT of the documents in a list of `page_size` documents.

    `metadata` is null if it exceeds an equal share of `MAX_METADATA_BYTES`.
    """
    is_small = func.octet_length(cast(Artifact.meta, Text)) <= MAX_METADATA_BYTES // page_size
    return _LIST_STATEMENT.add_columns(case((is_small, Artifact.meta)).label("metadata"))


def find_api_row(artifact_id: UUID) -> tuple[object, ...] | None:
    """Return an artifact's `ARTIFACT_COLUMNS` with ids as strings; None if it does not exist."""
    row: tuple[object, ...] | None
    row = _API_ROW.first(str(tenancy.current_organization_id()), str(artifact_id))
    return row


def select_matching(
    artifact_ids: Sequence[UUID], filters: dict[str, Any] | None = None
) -> Select[Any]:
    """Return a SELECT of the `artifact_ids` that exist and still match `filters`.

    Ignores the full-text search `q`, because the caller has already run the search.
    """
    return restrict_to_matching(select(Artifact.id), artifact_ids, filters)


def restrict_to_matching(
    statement: Select[Any], artifact_ids: Sequence[UUID], filters: dict[str, Any] | None = None
) -> Select[Any]:
    """Restrict a SELECT of documents to the `artifact_ids` that match `filters`; ignore `q`."""
    if filters is not None:
        statement = apply_filters(statement, **{k: v for k, v in filters.items() if k != "q"})
    return statement.where(build_id_condition(Artifact.id, artifact_ids))


def apply_filters(
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
    **equal_filters: object,
) -> Select[Any]:
    """Restrict `statement`, a SELECT of documents, to those that match the filters.

    `equal_filters` maps column names to required values. The filter `q` is not accepted.
    """
    if status:
        statement = statement.where(
            Artifact.status == status[0] if len(status) == 1 else Artifact.status.in_(status)
        )
    statement = statement.where(*_build_assignee_conditions(assignee, assigned=assigned))
    statement = statement.where(*build_period_conditions(Artifact.due_at, due_after, due_before))
    statement = apply_search_index_filters(
        statement,
        Artifact,
        archived=archived,
        created_after=created_after,
        created_before=created_before,
    )
    for name, value in equal_filters.items():
        statement = statement.where(getattr(Artifact, name) == value)
    return statement


def _build_assignee_conditions(
    assignee: UUID | None, *, assigned: bool | None
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if assignee is not None:
        assigned_ids = select(ArtifactAssignee.artifact_id).where(
            ArtifactAssignee.assignee_id == assignee
        )
        to_user, to_team = ([{key: str(assignee)}] for key in ("user_id", "team_id"))
        conditions += [
            Artifact.id.in_(assigned_ids),
            # After waiting for a row lock, PostgreSQL checks again only the conditions on that row.
            or_(Artifact.assignees.contains(to_user), Artifact.assignees.contains(to_team)),
        ]
    if assigned is not None:
        is_unassigned = Artifact.assignees == []
        conditions.append(~is_unassigned if assigned else is_unassigned)
    return conditions


def apply_search_index_filters(
    statement: Select[Any],
    columns: type[Artifact] | ReadOnlyColumnCollection[str, Any],
    *,
    archived: str = "false",
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Select[Any]:
    """Apply the filters whose columns are also in the search index.

    `columns` must have `archived` and `created_at`.
    """
    if archived != "any":
        statement = statement.where(columns.archived.is_(archived == "true"))
    return statement.where(
        *build_period_conditions(columns.created_at, created_after, created_before)
    )


def find(artifact_id: UUID, *, lock: bool = False) -> ArtifactRow | None:
    """Return a document, or None if it does not exist. `lock` locks its row FOR NO KEY UPDATE."""
    statement = _LOCKED_ARTIFACT if lock else _ARTIFACT
    return db.find_row(ArtifactRow, statement, {"artifact_id": artifact_id})


def find_content(artifact_id: UUID) -> ArtifactContent | None:
    """Return the content columns of a document, or None if the document does not exist."""
    return db.find_row(ArtifactContent, _CONTENT, {"artifact_id": artifact_id})


def find_newest_digest() -> str | None:
    """Return the digest of the newest unarchived document's file, or None if there is none."""
    statement = select(Artifact.sha256).where(Artifact.archived.is_(False))
    statement = statement.order_by(Artifact.created_at.desc(), Artifact.id.desc()).limit(1)
    return db.session().scalar(statement)


def find_text(artifact_id: UUID) -> TextRow | None:
    """Return a document's text and the span of each page, or None if there is no such document."""
    row: TextRow | None
    row = _TEXT.first(str(tenancy.current_organization_id()), str(artifact_id))
    return row


def list_pages(request: PageRequest, artifact_id: UUID) -> Page:
    """Return one result page of the pages of a document.

    `is_virtual` is true in a row if the words are laid out from the text instead of stored.
    """
    statement = _PAGES.where(ArtifactPage.artifact_id == artifact_id)
    sort_columns = {"number": ArtifactPage.number}
    return paginate(statement, request, sort_columns=sort_columns, unique=ArtifactPage.number)
