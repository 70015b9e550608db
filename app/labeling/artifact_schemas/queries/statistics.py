"""SQL of a schema's statistics. Written out, as labels and documents know of schemas already."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.kit import db, tenancy

_PERIOD = """
    (CAST(:first AS timestamptz) IS NULL OR created_at >= :first)
    AND (CAST(:end AS timestamptz) IS NULL OR created_at < :end)
"""
_ARTIFACTS = text(
    f"""
    SELECT CASE WHEN archived THEN 'archived' ELSE status END AS state, count(*) AS documents
    FROM artifacts
    WHERE organization_id = :organization_id AND schema_id = :schema_id AND {_PERIOD}
    GROUP BY state
    """  # noqa: S608 - made of constants
)
# One pass for the versions and for the whole, as a median cannot be added up.
_LABEL_SETS = text(
    f"""
    WITH told AS (
        SELECT schema_version_id, status, rejections,
               status = 'accepted' AND reviewer_id IS NULL AS by_itself,
               CASE WHEN submitted_at IS NOT NULL AND seconds_spent > 0 AND source = 'human'
                    THEN seconds_spent END AS seconds
        FROM tag_sets
        WHERE organization_id = :organization_id AND schema_id = :schema_id AND {_PERIOD}
    ), counted AS (
        SELECT schema_version_id,
               count(*) FILTER (WHERE status = 'draft') AS draft,
               count(*) FILTER (WHERE status = 'submitted') AS submitted,
               count(*) FILTER (WHERE status = 'accepted') AS accepted,
               count(*) FILTER (WHERE status = 'rejected') AS rejected,
               count(*) AS total,
               count(*) FILTER (WHERE by_itself) AS auto_accepted,
               sum(rejections) AS rejections,
               count(seconds) AS timed,
               CAST(avg(seconds) AS float8) AS mean,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS median
        FROM told GROUP BY GROUPING SETS ((schema_version_id), ())
    )
    SELECT counted.*, version.id, version.number
    FROM (
        SELECT id, number FROM schema_versions
        WHERE organization_id = :organization_id AND schema_id = :schema_id
        UNION ALL SELECT NULL, NULL
    ) AS version
    LEFT JOIN counted ON counted.schema_version_id IS NOT DISTINCT FROM version.id
    ORDER BY version.number DESC
    """  # noqa: S608 - made of constants
)


def artifacts(schema_id: UUID, *, first: datetime | None, end: datetime | None) -> dict[str, int]:
    """How many of the schema's documents there are of each status; archived ones aside."""
    rows = db.session().execute(_ARTIFACTS, _values(schema_id, first, end))
    return {row.state: row.documents for row in rows}


def label_sets(schema_id: UUID, *, first: datetime | None, end: datetime | None) -> list[Row[Any]]:
    """What became of the label sets: the whole first (id null), then each version, newest first.

    The counts of a version that nothing was labeled with are null.
    """
    return list(db.session().execute(_LABEL_SETS, _values(schema_id, first, end)))


def _values(schema_id: UUID, first: datetime | None, end: datetime | None) -> dict[str, Any]:
    return {
        "organization_id": tenancy.current_organization_id(),
        "schema_id": schema_id,
        "first": first,
        "end": end,
    }
