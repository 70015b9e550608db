"""SQL queries that fold, compare and repair meters."""

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
_NO_TIMEOUT = text("SET LOCAL statement_timeout = 0")


class Batch(NamedTuple):
    """The number of folded changes, and the ids of their organizations."""

    folded: int
    changed: list[UUID]


class DifferenceRow(NamedTuple):
    """A meter, the sum of its rows, and the value that it shows."""

    meter: str
    counted: int
    metered: int


def fold(max_changes: int) -> Batch:
    """Fold up to `max_changes` changes of all current organizations."""
    return Batch._make(db.session().execute(_FOLD, {"max_changes": max_changes}).one())


def find_differences() -> list[DifferenceRow]:
    """Return the meters of the current organization that differ from their rows."""
    db.session().execute(_NO_TIMEOUT)
    values = {"organization": tenancy.current_organization_id()}
    return [DifferenceRow._make(row) for row in db.session().execute(_DIFFERENCES, values)]


def repair(meter: str) -> int:
    """Correct a meter of the current organization, and return the quantity that was added to it."""
    db.session().execute(_NO_TIMEOUT)
    values = {"organization": tenancy.current_organization_id(), "meter": meter}
    return int(db.session().execute(_REPAIR, values).scalar_one())


def list_organizations(slug: str | None = None) -> list[tuple[UUID, str]]:
    """Return the ids and slugs of all organizations, or of the organization with this slug.

    Organizations whose erasure has begun have no meters.
    """
    return [(row.id, row.slug) for row in db.session().execute(_ORGANIZATIONS, {"slug": slug})]
