"""SQL queries that update contributions of documents, and their daily aggregates (cells).

`QualityDocument` contains the contributions, and `QualityCell` the cells. Transactions lock in this
order: `QualityState`, `QualityDocument` by id, `QualityCell` by key.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import TextClause, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app.identity.organizations.models import CLOSED_STATUSES, Organization
from app.identity.organizations.service import DEFAULT_TIME_ZONE
from app.insight.quality.models import COUNTERS, RULES_VERSION, QualityDocument, QualityState
from app.kit import db, tenancy
from app.kit.id_conditions import build_id_condition

_CELL_KEY = "subject, schema_id, name, field_type, day"
_COUNTER_COLUMNS = ", ".join(COUNTERS)
SUM_COLUMNS = ", ".join(f"CAST(sum({name}) AS bigint) AS {name}" for name in COUNTERS)


def _match_keys(left: str, right: str, columns: str) -> str:
    """Build the SQL condition that the rows `left` and `right` are equal in `columns`."""
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in columns.split(", "))


def build_repair(table: str, key_columns: str, select_counted: str, condition: str) -> TextClause:
    """Build the statement that makes rows of `table` equal to the rows of `select_counted`.

    `key_columns` are separated by commas. `select_counted` is a SELECT of these columns and of the
    counters. `condition` selects the rows of `table` that are compared. The statement returns how
    many rows were wrong or missing.
    """
    return tenancy.build_text(
        f"""
        WITH counted AS ({select_counted}), wrong AS (
            DELETE FROM {table} stored
            WHERE {condition}
              AND NOT EXISTS (
                SELECT FROM counted WHERE {_match_keys("counted", "stored", key_columns)})
            RETURNING 1
        ), corrected AS (
            INSERT INTO {table} AS stored (organization_id, {key_columns}, {_COUNTER_COLUMNS})
            SELECT :organization_id, {key_columns}, {_COUNTER_COLUMNS}
            FROM counted ORDER BY {key_columns}
            ON CONFLICT (organization_id, {key_columns}) DO UPDATE
            SET {", ".join(f"{name} = excluded.{name}" for name in COUNTERS)}
            WHERE ({", ".join(f"stored.{name}" for name in COUNTERS)})
                  IS DISTINCT FROM ({", ".join(f"excluded.{name}" for name in COUNTERS)})
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM wrong) + (SELECT count(*) FROM corrected)
        """  # noqa: S608 - consists of constants
    )


# Inserts a row for each new document, locks the rows of the other documents in the order of their
# ids, and returns the stored contributions of all these documents.
_LOCK_DOCUMENTS = tenancy.build_text(
    """
    INSERT INTO quality_documents (organization_id, artifact_id, contributions)
    SELECT :organization_id, artifact_id, '[]'
    FROM unnest(CAST(:artifact_ids AS uuid[])) AS artifact_id ORDER BY artifact_id
    ON CONFLICT (organization_id, artifact_id) DO UPDATE SET artifact_id = excluded.artifact_id
    RETURNING artifact_id, contributions
    """
)
_STORE_DOCUMENTS = tenancy.build_text(
    """
    UPDATE quality_documents
    SET contributions = stored.contributions, schema_id = stored.schema_id
    FROM unnest(CAST(:artifact_ids AS uuid[]), CAST(:contributions AS jsonb[]),
                CAST(:schema_ids AS uuid[]))
        AS stored (artifact_id, contributions, schema_id)
    WHERE organization_id = :organization_id
      AND quality_documents.artifact_id = stored.artifact_id
    """
)
_CAST_COUNTERS = ", ".join(
    f"CAST(value ->> {4 + number} AS bigint) AS {name}"
    for number, name in enumerate(COUNTERS, start=1)
)
_CONTRIBUTION_ROWS = f"""
    SELECT value ->> 0 AS subject, CAST(value ->> 1 AS uuid) AS schema_id, value ->> 2 AS name,
           value ->> 3 AS field_type, CAST(value ->> 4 AS date) AS day, {_CAST_COUNTERS}
"""
_ADD_DELTAS = tenancy.build_text(
    f"""
    INSERT INTO quality_cells AS cell (organization_id, {_CELL_KEY}, {_COUNTER_COLUMNS})
    SELECT :organization_id, delta.* FROM (
        {_CONTRIBUTION_ROWS} FROM jsonb_array_elements(CAST(:deltas AS jsonb)) ORDER BY {_CELL_KEY}
    ) AS delta
    ON CONFLICT (organization_id, {_CELL_KEY}) DO UPDATE
    SET {", ".join(f"{name} = cell.{name} + excluded.{name}" for name in COUNTERS)}
    """  # noqa: S608 - consists of constants
)
_DELETE_EMPTY_CELLS = tenancy.build_text(
    f"""
    DELETE FROM quality_cells cell
    USING ({_CONTRIBUTION_ROWS} FROM jsonb_array_elements(CAST(:deltas AS jsonb))) AS delta
    WHERE cell.organization_id = :organization_id AND {_match_keys("cell", "delta", _CELL_KEY)}
      AND {" AND ".join(f"cell.{name} = 0" for name in COUNTERS)}
    """  # noqa: S608 - consists of constants
)
_LIST_SCHEMAS = tenancy.build_text(
    """
    SELECT schema_id FROM (
        SELECT schema_id FROM quality_cells WHERE organization_id = :organization_id
        UNION SELECT schema_id FROM quality_documents
        WHERE organization_id = :organization_id AND schema_id IS NOT NULL
        UNION SELECT CAST(value ->> 1 AS uuid)
        FROM quality_documents, jsonb_array_elements(contributions)
        WHERE organization_id = :organization_id AND schema_id IS NULL
    ) AS schemas
    WHERE schema_id > :after ORDER BY schema_id
    """
)
# While the state is locked, no other transaction changes documents or cells of the organization.
_REPAIR_CELLS = build_repair(
    "quality_cells",
    _CELL_KEY,
    f"""
    SELECT {_CELL_KEY}, {SUM_COLUMNS}
    FROM ({_CONTRIBUTION_ROWS} FROM quality_documents, jsonb_array_elements(contributions)
          WHERE organization_id = :organization_id
            AND (schema_id = :schema_id OR schema_id IS NULL)
            AND value ->> 1 = CAST(:schema_id AS text)) AS unpacked
    GROUP BY {_CELL_KEY}
    """,  # noqa: S608 - consists of constants
    "organization_id = :organization_id AND schema_id = :schema_id",
)
_STATE_COLUMNS = "time_zone", "rules", "counted_until", "repaired_until", "counted_at", "summed_at"


class RecountState(NamedTuple):
    """The progress of a recount: a `QualityState`, with values in the order of `_STATE_COLUMNS`."""

    time_zone: str
    rules: int
    last_counted_artifact_id: UUID | None
    last_repaired_schema_id: UUID | None
    counted_at: datetime | None
    summed_at: datetime | None


def lock_state_shared(time_zone: str) -> str:
    """Lock the `QualityState` of the current organization in share mode; return its time zone.

    Creates the state with `time_zone` if it does not exist. Transactions that count documents use
    this lock. Recounts and repairs use `lock_state`, so they wait until these transactions end.
    """
    statement = select(QualityState.time_zone).with_for_update(read=True)
    zone = db.session().scalar(statement)
    if zone is None:
        _create_state(time_zone)
        zone = db.session().scalars(statement).one()
    return zone


def lock_state(time_zone: str) -> RecountState:
    """Lock the `QualityState` of the current organization until the transaction ends; return it.

    Creates the state with `time_zone` if it does not exist.
    """
    _create_state(time_zone)
    statement = select(*db.build_columns(_STATE_COLUMNS, QualityState)).with_for_update()
    return RecountState._make(db.session().execute(statement).one())


def _create_state(time_zone: str) -> None:
    # There are no cells yet, so the sums are complete.
    values = {"time_zone": time_zone, "rules": RULES_VERSION, "summed_at": func.now()}
    db.session().execute(insert(QualityState).values(**values).on_conflict_do_nothing())


def set_state(state: RecountState) -> None:
    """Set the `QualityState` of the current organization. The caller must have locked it."""
    values = dict(zip(_STATE_COLUMNS, state, strict=True))
    condition = QualityState.organization_id == tenancy.current_organization_id()
    db.execute_bulk(update(QualityState).where(condition).values(**values))


def lock_contributions(artifact_ids: Sequence[UUID]) -> dict[UUID, list[Any]]:
    """Lock `QualityDocument` rows in the order of their ids; return their contributions by id.

    Creates a row without contributions for each document that has no row.
    """
    values = {"artifact_ids": list(map(str, artifact_ids))}
    rows = db.session().execute(_LOCK_DOCUMENTS, values)
    return {row.artifact_id: row.contributions for row in rows}


def store_contributions(contributions: Mapping[UUID, list[Any]]) -> None:
    """Store the contributions of locked documents, replacing earlier contributions.

    The rows of documents without contributions are deleted.
    """
    non_empty = {key: value for key, value in contributions.items() if value}
    if non_empty:
        values = {
            "artifact_ids": list(map(str, non_empty)),
            "contributions": [orjson.dumps(value).decode() for value in non_empty.values()],
            "schema_ids": [_find_only_schema(value) for value in non_empty.values()],
        }
        db.session().execute(_STORE_DOCUMENTS, values)
    ids_to_delete = [key for key, value in contributions.items() if not value]
    if ids_to_delete:
        condition = build_id_condition(QualityDocument.artifact_id, ids_to_delete)
        db.execute_bulk(delete(QualityDocument).where(condition))


def add_deltas(deltas: Sequence[list[Any]]) -> None:
    """Add deltas to the counters of `QualityCell` rows, and delete rows whose counters are all 0.

    Each delta has the format of a contribution (see `QualityDocument`).
    """
    if not deltas:
        return
    values = {"deltas": orjson.dumps(deltas).decode()}
    db.session().execute(_ADD_DELTAS, values)
    db.session().execute(_DELETE_EMPTY_CELLS, values)


def list_schema_ids(after: UUID) -> list[UUID]:
    """Return the schema ids above `after` that have cells or contributions, in ascending order.

    Turns off the statement timeout until the transaction ends.
    """
    # Reading the cells of a large organization takes longer than the timeout of requests.
    db.disable_statement_timeout()
    return list(db.session().scalars(_LIST_SCHEMAS, {"after": after}))


def repair(schema_id: UUID) -> int:
    """Repair the cells of a schema: make them equal to the sums of the stored contributions.

    Returns how many rows were wrong or missing. The caller must have locked the `QualityState`.
    Turns off the statement timeout until the transaction ends.
    """
    db.disable_statement_timeout()
    return int(db.session().execute(_REPAIR_CELLS, {"schema_id": schema_id}).scalar_one())


def list_outdated_organization_ids() -> list[UUID]:
    """Return the ids of organizations whose aggregates must be recounted.

    An organization is included if it never completed a recount, if its last recount is running or
    was interrupted, or if its aggregates were counted with another `RULES_VERSION` or time zone.
    Closed organizations are excluded.
    """
    zone = func.coalesce(Organization.settings["time_zone"].astext, DEFAULT_TIME_ZONE)
    statement = (
        select(Organization.id)
        .outerjoin(QualityState, QualityState.organization_id == Organization.id)
        .where(
            Organization.status.not_in(CLOSED_STATUSES),
            or_(
                QualityState.counted_at.is_(None),
                QualityState.counted_until.is_not(None),
                QualityState.rules != RULES_VERSION,
                QualityState.time_zone != zone,
            ),
        )
        .order_by(Organization.id)
    )
    return list(db.session().scalars(statement))


def _find_only_schema(contributions: Sequence[list[Any]]) -> str | None:
    """Return the schema id that all contributions share, or None if their schemas differ."""
    schema_ids = {contribution[1] for contribution in contributions}
    return schema_ids.pop() if len(schema_ids) == 1 else None
