"""SQL queries for statistics about ingestion jobs."""

from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy

# Jobs are grouped once. Their groups, which are far fewer, are grouped in four ways.
_STATISTICS = text(
    """
    WITH grouped AS (
        SELECT CAST(created_at AT TIME ZONE 'UTC' AS date) AS day, kind, connector_id,
               count(*) AS jobs, count(*) FILTER (WHERE status = 'failed') AS failed_jobs,
               sum(found) AS found, sum(created) AS created, sum(duplicate) AS duplicate,
               sum(skipped) AS skipped, sum(failed) AS failed,
               sum(extract(epoch FROM coalesce(finished_at, updated_at) - started_at)) AS seconds
        FROM ingestion_jobs
        WHERE organization_id = :organization_id
          AND created_at >= :created_after AND created_at < :created_before
        GROUP BY 1, kind, connector_id
    )
    SELECT day, kind, connector_id, grouping(day) = 0 AS is_day, grouping(kind) = 0 AS is_kind,
           grouping(connector_id) = 0 AS is_connector,
           CAST(coalesce(sum(jobs), 0) AS int) AS jobs,
           CAST(coalesce(sum(failed_jobs), 0) AS int) AS failed_jobs,
           coalesce(sum(found), 0) AS found, coalesce(sum(created), 0) AS created,
           coalesce(sum(duplicate), 0) AS duplicate, coalesce(sum(skipped), 0) AS skipped,
           coalesce(sum(failed), 0) AS failed, coalesce(sum(seconds), 0) AS seconds
    FROM grouped GROUP BY GROUPING SETS ((), (day), (kind), (connector_id))
    ORDER BY day, kind, connector_id
    """
)


class StatisticsRow(NamedTuple):
    """The statistics of a group of jobs. `seconds` is the sum of their durations."""

    day: date | None
    kind: str | None
    connector_id: UUID | None
    is_day: bool
    is_kind: bool
    is_connector: bool
    jobs: int
    failed_jobs: int
    found: Decimal
    created: Decimal
    duplicate: Decimal
    skipped: Decimal
    failed: Decimal
    seconds: Decimal


def read_statistics(created_after: datetime, created_before: datetime) -> list[StatisticsRow]:
    """Return statistics about the jobs created in a period.

    There is one row for all jobs, and one row for each day, for each `kind` and for each connector.
    `is_day`, `is_kind` and `is_connector` are true in the rows of these groups.
    """
    values = {
        "organization_id": tenancy.current_organization_id(),
        "created_after": created_after,
        "created_before": created_before,
    }
    return [StatisticsRow._make(row) for row in db.session().execute(_STATISTICS, values)]
