"""SQL queries for the documents to route. Only the columns that rules need are read."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import RowMapping, TextClause, text

from app.engines.conditions.attributes import MAX_TEXT_CHARS, METADATA_PREFIX
from app.kit import db, tenancy
from app.workflow.predictions.queries.latest import build_latest
from app.workflow.routing_rules.models import ArtifactRouting

_UNASSIGNED = "NOT document.archived AND document.assignees = '[]'"
_IS_READY_AND_UNASSIGNED = f"document.status = 'ready' AND {_UNASSIGNED}"
_AWAITS_ROUTING = "document.status = 'processing' AND document.routing_since IS NOT NULL"
_IS_ROUTABLE = f"(document.status = 'ready' OR {_AWAITS_ROUTING}) AND {_UNASSIGNED}"
# A ready document with `routing_since` has been processed by the rules; its `artifact.ingested`
# event, which is emitted later, must not route it again. A document without `routing_since` became
# ready while there were no rules. Its event may be handled twice, so it is routed only if it has no
# match. A reprocessed document has the status `processing` and is routed again.
_IS_UNROUTED = f"""
    (document.status = 'processing' OR document.routing_since IS NULL AND NOT EXISTS (
        SELECT FROM {ArtifactRouting.__tablename__} routing
        WHERE routing.organization_id = :org AND routing.artifact_id = document.id))
"""
# SQL columns by attribute name. A column is read only if a rule needs the attribute.
_COLUMNS = {
    "media_type": "document.media_type",
    "language": "document.language",
    "page_count": "document.page_count",
    "size_bytes": "document.size_bytes",
    "connector_id": "CAST(document.connector_id AS text) AS connector_id",
    "text": f"left(content.text, {MAX_TEXT_CHARS}) AS text",
    "confidence": f"""(
        SELECT min(CAST(tag ->> 'confidence' AS float8))
        FROM jsonb_array_elements(({build_latest("tags", "document")})) AS tag
    ) AS confidence""",  # noqa: S608 - made of constants
}
_METADATA = """(
    SELECT jsonb_object_agg(key, document.metadata -> key)
    FROM unnest(CAST(:metadata_keys AS text[])) AS key
    WHERE jsonb_exists(document.metadata, key)
) AS metadata"""
_JOIN_TEXT = """
    LEFT JOIN artifact_texts content
     ON content.organization_id = :org AND content.artifact_id = document.id
"""
_GET_TIME = text("SELECT clock_timestamp()")
_LIST_UNASSIGNED = text(
    f"""
    SELECT document.created_at, document.id FROM artifacts document
    WHERE document.organization_id = :org AND {_IS_READY_AND_UNASSIGNED}
     AND (document.created_at, document.id) > (:at, :id)
     AND document.created_at <= :created_until
    ORDER BY document.created_at, document.id LIMIT :limit
    """  # noqa: S608 - made of constants
)
_COUNT_UNASSIGNED = text(
    f"""
    SELECT count(*) FROM artifacts document
    WHERE document.organization_id = :org AND {_IS_READY_AND_UNASSIGNED}
    """  # noqa: S608 - as above
)
# All code locks rows in the order of their ids, to avoid deadlocks.
_LOCK = f"""
    SELECT document.id FROM artifacts document
    WHERE document.organization_id = :org AND document.id = ANY(CAST(:ids AS uuid[]))
     AND {_IS_ROUTABLE} {{condition}}
    ORDER BY document.id FOR NO KEY UPDATE
"""  # noqa: S608 - as above
_LOCK_ALL = text(_LOCK.format(condition=""))
_LOCK_UNROUTED = text(_LOCK.format(condition=f"AND {_IS_UNROUTED}"))


class RoutingPosition(NamedTuple):
    """The creation time and id of a document, which determine the order of routing."""

    created_at: datetime
    id: UUID


class DocumentRow(NamedTuple):
    """A document to route, with the attributes that the rules need.

    `is_routable` is true if the document can be routed now, and `labeled` if it has tag sets.
    """

    id: UUID
    name: str
    schema_id: UUID | None
    is_routable: bool
    labeled: bool
    attributes: dict[str, Any]


START_POSITION = RoutingPosition(datetime.min.replace(tzinfo=UTC), UUID(int=0))
"""The position before all documents."""


def _build_parameters(**values: object) -> dict[str, Any]:
    return {"org": tenancy.current_organization_id(), **values}


def _format_ids(ids: Iterable[UUID]) -> list[str]:
    return sorted(str(artifact_id) for artifact_id in ids)


def count_unassigned() -> int:
    """Return the number of ready artifacts without assignees; archived artifacts do not count."""
    return int(db.session().execute(_COUNT_UNASSIGNED, _build_parameters()).scalar_one())


def get_time() -> datetime:
    """Return the current time according to the database's clock."""
    time: datetime = db.session().execute(_GET_TIME).scalar_one()
    return time


def list_unassigned(
    after: RoutingPosition, created_until: datetime, limit: int
) -> list[RoutingPosition]:
    """Return the positions of at most `limit` ready artifacts without assignees, oldest first.

    Only artifacts after the position `after` are included. Archived artifacts, and artifacts that
    were created after `created_until`, are omitted.
    """
    values = _build_parameters(
        at=after.created_at, id=after.id, created_until=created_until, limit=limit
    )
    rows = db.session().execute(_LIST_UNASSIGNED, values)
    return [RoutingPosition(*row) for row in rows]


def lock(ids: Iterable[UUID], *, unrouted_only: bool) -> list[UUID]:
    """Lock those of the documents that can still be routed, and return their sorted ids.

    With `unrouted_only`, documents that the rules have already processed are omitted.
    """
    statement = _LOCK_UNROUTED if unrouted_only else _LOCK_ALL
    return list(db.session().scalars(statement, _build_parameters(ids=_format_ids(ids))))


def list_rows(ids: Sequence[UUID], attributes: frozenset[str]) -> list[DocumentRow]:
    """Return a row for each document, oldest first, with the values of `attributes`."""
    keys = sorted(
        name.removeprefix(METADATA_PREFIX)
        for name in attributes
        if name.startswith(METADATA_PREFIX)
    )
    parameters = _build_parameters(
        ids=_format_ids(ids), **({"metadata_keys": keys} if keys else {})
    )
    columns = frozenset(attributes & _COLUMNS.keys())
    statement = _build_statement(columns, with_metadata=bool(keys))
    rows = db.session().execute(statement, parameters).mappings()
    return [_build_row(row, attributes) for row in rows]


def _build_row(row: RowMapping, attributes: frozenset[str]) -> DocumentRow:
    values = {name: row[name] for name in attributes if not name.startswith(METADATA_PREFIX)}
    if values.get("schema_id") is not None:
        values["schema_id"] = str(values["schema_id"])
    for key, value in (row.get("metadata") or {}).items():
        values[f"{METADATA_PREFIX}{key}"] = value
    fixed_values = (row[name] for name in DocumentRow._fields[:-1])
    return DocumentRow._make([*fixed_values, values])


@cache
def _build_statement(columns: frozenset[str], *, with_metadata: bool) -> TextClause:
    selected_columns = [_COLUMNS[name] for name in sorted(columns)] + (
        [_METADATA] if with_metadata else []
    )
    return text(
        f"""
        SELECT document.id, document.name, document.schema_id, {_IS_ROUTABLE} AS is_routable,
               EXISTS (SELECT FROM tag_sets WHERE tag_sets.organization_id = :org
                        AND tag_sets.artifact_id = document.id) AS labeled
               {"".join(f", {column}" for column in selected_columns)}
        FROM artifacts document {_JOIN_TEXT if "text" in columns else ""}
        WHERE document.organization_id = :org AND document.id = ANY(CAST(:ids AS uuid[]))
        ORDER BY document.created_at, document.id
        """  # noqa: S608 - made of constants
    )
