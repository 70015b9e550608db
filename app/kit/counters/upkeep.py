"""Addition of deltas (`CountDelta`) to cells (`Count`), called folding; repair of wrong cells."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID

from sqlalchemy import TextClause, select, text
from sqlalchemy.exc import SQLAlchemyError

from app.kit import db, errors, tenancy
from app.kit.counters.models import CountSource
from app.kit.counters.sql import HORIZON
from app.kit.db import Checkpoint
from app.kit.logging import get_logger

log = get_logger(__name__)

BATCH_SIZE = 5_000
"""The maximum number of deltas that one transaction folds."""
MAX_BACKLOG = 10_000
"""The number of unfolded deltas of an organization above which a reader folds deltas itself. Adding
up this many deltas takes one or two milliseconds, so reads stay fast even if no worker is
running."""
_READS_PER_CHECK = 100
"""The number of calls of `fold_backlog` of which only one counts the deltas."""
_REASON = "maintains the counts of every organization"

_FOLD = text("SELECT fold_counts(:limit)")
_COUNT_PENDING = text(
    f"""
    SELECT count(*) FROM (
        SELECT FROM count_deltas
        WHERE organization_id = :organization AND xact >= {HORIZON} LIMIT :limit
    ) AS pending
    """  # noqa: S608 - consists of constants
)
_LIST_DIFFERENCES = text(
    "SELECT cube, key, bucket, facets, n, total FROM count_differences(:organization, :source)"
)
_REPAIR = text("SELECT repair_counts(:organization, :source)")
_LIST_ORGANIZATIONS = text("SELECT id, slug FROM organizations ORDER BY id")
_read_counter = count(1)


@dataclass(frozen=True)
class Difference:
    """A wrong cell, and what to add to its counts `n` and `total` to correct them.

    `organization` is the slug of the organization.
    """

    organization: str
    source: str
    cube: str
    key: str
    bucket: str
    facets: list[str]
    n: int
    total: int


def fold(checkpoint: Checkpoint) -> int:
    """Fold all deltas into the cells in batches, and return how many deltas were folded.

    Calls `checkpoint`, which must commit, after each batch.
    """
    folded_count = 0
    while True:
        with tenancy.across_organizations(reason=_REASON):
            batch_count = int(db.session().execute(_FOLD, {"limit": BATCH_SIZE}).scalar_one())
        checkpoint()
        folded_count += batch_count
        if batch_count < BATCH_SIZE:
            return folded_count


def fold_backlog() -> None:
    """Fold one batch of deltas if the current organization has more than `MAX_BACKLOG` deltas.

    Readers call this, but only every 100th call checks the number of deltas. It uses a separate
    connection, and logs database errors instead of raising them. It does nothing if no organization
    or all organizations are bound.
    """
    organization_id = tenancy.find_organization_id()
    if organization_id is None or next(_read_counter) % _READS_PER_CHECK:
        return
    try:
        with db.open_autocommit_connection() as connection:
            values = {"organization": organization_id, "limit": MAX_BACKLOG + 1}
            if connection.execute(_COUNT_PENDING, values).scalar_one() > MAX_BACKLOG:
                connection.execute(_FOLD, {"limit": BATCH_SIZE})
    except SQLAlchemyError as failure:
        log.warning("counts.not_folded", error=type(failure).__name__)


def list_organizations(slug: str | None = None) -> list[tuple[UUID, str]]:
    """Return the ids and slugs of all organizations, or of the organization with this slug.

    Raises 404 for an unknown slug.
    """
    rows = db.session().execute(_LIST_ORGANIZATIONS)
    organizations = [(row.id, row.slug) for row in rows if slug in (None, row.slug)]
    if slug is not None and not organizations:
        raise errors.not_found()
    return organizations


def list_sources() -> list[str]:
    """Return the names of all sources in this database."""
    statement = select(CountSource.source).order_by(CountSource.source)
    return list(db.session().scalars(statement))


def find_differences(organization_id: UUID, slug: str) -> Iterator[Difference]:
    """Yield the cells (`Count`) of an organization that differ from the counted rows.

    Each source is compared in one statement, so concurrent writes and folds do not affect the
    result.
    """
    for source in list_sources():
        for row in _run_statement(_LIST_DIFFERENCES, organization_id, source):
            cube, key, bucket, facets, n, total = row
            yield Difference(slug, source, cube, key, bucket, facets, int(n), int(total))


def repair(organization_id: UUID, source: str) -> int:
    """Repair an organization's wrong cells for one source, and return how many were wrong.

    Folding is blocked until the caller commits.
    """
    return int(_run_statement(_REPAIR, organization_id, source)[0][0])


def check_and_repair(organization_id: UUID, slug: str, checkpoint: Checkpoint) -> int:
    """Compare the counts of an organization with the counted rows, and repair wrong cells.

    Returns how many cells were wrong. Only a bug causes wrong cells, so they are logged as an
    error. Calls `checkpoint`, which must commit, after each source.
    """
    total_count = 0
    for source in list_sources():
        # Comparing takes no lock, so folding is only blocked if there is something to repair.
        has_differences = bool(_run_statement(_LIST_DIFFERENCES, organization_id, source))
        repaired_count = repair(organization_id, source) if has_differences else 0
        checkpoint()
        if repaired_count:
            log.error("counts.repaired", organization=slug, source=source, cells=repaired_count)
        total_count += repaired_count
    return total_count


def _run_statement(
    statement: TextClause, organization_id: UUID, source: str
) -> list[tuple[Any, ...]]:
    with tenancy.organization(organization_id):
        db.disable_statement_timeout()
        values = {"organization": organization_id, "source": source}
        return list(map(tuple, db.session().execute(statement, values)))
