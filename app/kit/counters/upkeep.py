"""Folding deltas into cells, and checking cells against the rows that they count."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.exc import SQLAlchemyError

from app.kit import db, tenancy
from app.kit.counters.models import CountSource
from app.kit.counters.sql import HORIZON
from app.kit.logging import get_logger

log = get_logger(__name__)

BATCH = 5_000
"""How many deltas are folded in one transaction."""
BACKLOG = 10_000
"""How many deltas of an organization a reader may meet: to add them up takes a millisecond or two.
With more, a reader folds some of them, so that reads stay fast when no worker does."""
_CHECK_EVERY = 100
_REASON = "counts of every organization are kept"

_FOLD = text("SELECT fold_counts(:most)")
_WAITING = text(
    f"""
    SELECT count(*) FROM (
        SELECT FROM count_deltas
        WHERE organization_id = :organization AND xact >= {HORIZON} LIMIT :most
    ) AS waiting
    """  # noqa: S608 - made of constants
)
_DIFFERENCES = text("SELECT * FROM count_differences(:organization, :source)")
_REPAIR = text("SELECT repair_counts(:organization, :source)")
_ORGANIZATIONS = text("SELECT id, slug FROM organizations ORDER BY id")
_UNHURRIED = text("SET LOCAL statement_timeout = 0")
_reads = count(1)


@dataclass(frozen=True)
class Difference:
    """A cell that is wrong by `n` rows, or its sum by `total`."""

    organization: str
    source: str
    cube: str
    key: str
    bucket: str
    facets: list[str]
    n: int
    total: int


def fold(checkpoint: Callable[[], None]) -> int:
    """Fold all deltas, batch by batch, and return how many; `checkpoint` commits."""
    folded = 0
    while True:
        with tenancy.across_organizations(reason=_REASON):
            batch = int(db.session().execute(_FOLD, {"most": BATCH}).scalar_one())
        checkpoint()
        folded += batch
        if batch < BATCH:
            return folded


def fold_backlog() -> None:
    """Fold some of the bound organization's deltas if there are too many; looks at times only.

    Called by readers. Uses a connection of its own; a failure is nothing to the reader.
    """
    if next(_reads) % _CHECK_EVERY:
        return
    organization_id = tenancy.current_organization_id()
    try:
        with db.open_autocommit() as connection:
            values = {"organization": organization_id, "most": BACKLOG + 1}
            if connection.execute(_WAITING, values).scalar_one() > BACKLOG:
                connection.execute(_FOLD, {"most": BATCH})
    except SQLAlchemyError as failure:
        log.warning("counts.not_folded", error=type(failure).__name__)


def list_organizations(slug: str | None = None) -> list[tuple[UUID, str]]:
    """Return the ids and slugs of all organizations, or of the one with this slug."""
    rows = db.session().execute(_ORGANIZATIONS)
    return [(row.id, row.slug) for row in rows if slug in (None, row.slug)]


def list_sources() -> list[str]:
    """Return the names of what is counted in this database."""
    statement = select(CountSource.source).order_by(CountSource.source)
    return list(db.session().scalars(statement))


def find_differences(organization_id: UUID, slug: str) -> Iterator[Difference]:
    """Yield the cells of an organization that do not agree with the rows, source by source.

    A source is compared in one statement, so writes and folds at the same time do not matter.
    """
    for source in list_sources():
        for row in _run(_DIFFERENCES, organization_id, source):
            yield Difference(
                slug, source, row.cube, row.key, row.bucket, row.facets, int(row.n), int(row.total)
            )


def repair(organization_id: UUID, source: str) -> int:
    """Correct the cells of an organization's source, and return how many were wrong.

    Nobody folds until the caller commits.
    """
    return int(_run(_REPAIR, organization_id, source)[0][0])


def check(organization_id: UUID, slug: str, checkpoint: Callable[[], None]) -> int:
    """Repair the cells of an organization that do not agree, and return how many there were.

    Each is an error of the service, and logged as one. `checkpoint` commits.
    """
    wrong = 0
    for source in list_sources():
        # Comparing takes no lock, so folding goes on where nothing is wrong.
        differs = bool(_run(_DIFFERENCES, organization_id, source))
        repaired = repair(organization_id, source) if differs else 0
        checkpoint()
        if repaired:
            log.error("counts.repaired", organization=slug, source=source, cells=repaired)
        wrong += repaired
    return wrong


def _run(statement: Any, organization_id: UUID, source: str) -> list[Any]:
    with tenancy.organization(organization_id):
        db.session().execute(_UNHURRIED)
        values = {"organization": organization_id, "source": source}
        return list(db.session().execute(statement, values))
