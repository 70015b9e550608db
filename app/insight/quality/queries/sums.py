"""SQL queries that complete and repair the period sums (`QualitySum`).

Period sums are computed from the daily aggregates (`QualityCell`), whose triggers keep the sums
current.
"""

from uuid import UUID

from sqlalchemy import select

from app.identity.organizations.models import CLOSED_STATUSES, Organization
from app.insight.quality.models import QualityState
from app.insight.quality.queries.cells import SUM_COLUMNS, build_repair
from app.kit import db, tenancy
from app.kit.prepared import Prepared

_REPAIR_SUMS = build_repair(
    "quality_sums",
    "subject, unit, start, name",
    f"""
    SELECT subject, unit, start,
        CASE subject WHEN 'schema' THEN CAST(schema_id AS text) ELSE cell.name END AS name,
        {SUM_COLUMNS}
    FROM quality_cells cell
    CROSS JOIN LATERAL (VALUES
        ('day', day), ('week', CAST(date_trunc('week', CAST(day AS timestamp)) AS date)),
        ('month', CAST(date_trunc('month', CAST(day AS timestamp)) AS date))) AS u (unit, start)
    WHERE organization_id = :organization_id AND subject IN ('schema', 'labeler', 'reviewer')
    GROUP BY 1, 2, 3, 4
    """,  # noqa: S608 - consists of constants
    "organization_id = :organization_id",
)
_HAS_COMPLETE_SUMS = Prepared(
    "quality_sums_complete",
    "uuid",
    "SELECT FROM quality_states WHERE organization_id = $1 AND summed_at IS NOT NULL",
)
_complete_organization_ids: set[UUID] = set()
"""The ids of organizations whose period sums are complete. Triggers keep complete sums complete."""


def are_complete() -> bool:
    """Return whether the current organization has all `QualitySum` rows; caches the result True."""
    organization_id = tenancy.current_organization_id()
    if organization_id in _complete_organization_ids:
        return True
    if not _HAS_COMPLETE_SUMS.execute(str(organization_id)):
        return False
    _complete_organization_ids.add(organization_id)
    return True


def repair() -> int:
    """Repair the `QualitySum` rows of the current organization from its `QualityCell` rows.

    Returns how many sums were wrong or missing. The caller must have locked the `QualityState`.
    Turns off the statement timeout until the transaction ends.
    """
    # Reading the cells of a large organization takes longer than the timeout of requests.
    db.disable_statement_timeout()
    return int(db.session().execute(_REPAIR_SUMS).scalar_one())


def list_incomplete_organization_ids() -> list[UUID]:
    """Return the ids of open organizations whose `QualitySum` rows are not all computed yet."""
    statement = (
        select(QualityState.organization_id)
        .join(Organization, Organization.id == QualityState.organization_id)
        .where(Organization.status.not_in(CLOSED_STATUSES), QualityState.summed_at.is_(None))
        .order_by(QualityState.organization_id)
    )
    return list(db.session().scalars(statement))
