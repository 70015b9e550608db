"""SQL queries that fold meter changes into daily totals, and that compare and repair meters."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy

_FOLD = text("SELECT folded, changed FROM fold_usage(:max_changes)")
_DIFFERENCES = text("SELECT meter, counted, metered FROM usage_differences(:organization)")
_REPAIR = text("SELECT repair_usage(:organization, :meter)")
_ORGANIZATIONS = text(
    "SELECT id, slug FROM organizations WHERE erasure IS NULL"
    " AND (CAST(:slug AS text) IS NULL OR slug = :slug) ORDER BY slug"
)


class FoldedBatch(NamedTuple):
    """The number of folded changes, and the ids of the organizations with these changes."""

    folded_count: int
    organization_ids: list[UUID]


class DifferenceRow(NamedTuple):
    """A meter that differs from a recount.

    `counted` is the sum of the rows that the meter measures; `metered` is the value of the meter.
    """

    meter: str
    counted: int
    metered: int


def fold(max_changes: int) -> FoldedBatch:
    """Fold up to `max_changes` meter changes of all organizations into daily totals.

    If another transaction is folding or settling, nothing is folded and the count is 0.
    """
    return FoldedBatch._make(db.session().execute(_FOLD, {"max_changes": max_changes}).one())


def find_differences() -> list[DifferenceRow]:
    """Find the meters of the current organization that differ from a recount."""
    # A recount reads all metered rows of an organization, which can take longer than the timeout.
    db.disable_statement_timeout()
    values = {"organization": tenancy.current_organization_id()}
    return [DifferenceRow._make(row) for row in db.session().execute(_DIFFERENCES, values)]


def repair(meter: str) -> int:
    """Repair a meter of the current organization, and return the quantity that was added to it.

    The quantity is negative if the meter was too high, and 0 if it was correct.
    """
    db.disable_statement_timeout()
    values = {"organization": tenancy.current_organization_id(), "meter": meter}
    return int(db.session().execute(_REPAIR, values).scalar_one())


def list_organizations(slug: str | None = None) -> list[tuple[UUID, str]]:
    """List the ids and slugs of all organizations, or of the organization with the given slug.

    Organizations whose erasure has begun are excluded, because they have no meters.
    """
    return [(row.id, row.slug) for row in db.session().execute(_ORGANIZATIONS, {"slug": slug})]
