"""Fold the changes of meters into days, and compare meters with the rows that they measure."""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from app.billing.usage.queries import upkeep as queries
from app.billing.usage.service import warnings
from app.kit import tenancy
from app.kit.logging import get_logger
from app.kit.metrics import Counter
from app.kit.plan_limits import Meter
from app.kit.purging import Checkpoint

log = get_logger(__name__)

BATCH_SIZE = 5_000
"""The number of changes folded in one transaction."""
_REASON = "maintains the meters of every organization"

DIFFERENCES = Counter(
    "labeling_usage_differences",
    "Meters that differed from the rows that they measure: see flask billing reconcile.",
    ["meter"],
    at_start=[(str(meter),) for meter in Meter],
)


class Difference(NamedTuple):
    """A wrong meter: it shows `metered`, but the rows add up to `counted`."""

    organization: str
    meter: str
    counted: int
    metered: int


def list_organizations(slug: str | None = None) -> list[tuple[UUID, str]]:
    """Return the id and slug of each organization with meters; `slug` selects one organization."""
    with tenancy.across_organizations(reason=_REASON):
        return queries.list_organizations(slug)


def fold(checkpoint: Checkpoint) -> None:
    """Fold all changes in batches, and enqueue the limit checks; `checkpoint` commits."""
    while True:
        with tenancy.across_organizations(reason=_REASON):
            batch = queries.fold(BATCH_SIZE)
            warnings.enqueue_checks(batch.changed)
        checkpoint()
        if batch.folded < BATCH_SIZE:
            return


def find_differences(organization_id: UUID, slug: str) -> Iterator[Difference]:
    """Yield the meters of an organization that differ from the rows that they measure.

    Each meter is compared in one statement, so concurrent writes and folds do not matter.
    """
    with tenancy.organization(organization_id):
        for row in queries.find_differences():
            yield Difference(slug, row.meter, row.counted, row.metered)


def report_differences(organization_id: UUID, slug: str) -> int:
    """Log and count the wrong meters of an organization, and return their number.

    Nothing is corrected: a wrong meter may already be on an invoice, so a person must decide.
    """
    differences = list(find_differences(organization_id, slug))
    for difference in differences:
        log.error("usage.differs", **difference._asdict())
        DIFFERENCES.labels(difference.meter).inc()
    return len(differences)


def repair(organization_id: UUID, slug: str) -> list[Difference]:
    """Correct the wrong meters of an organization, and return their previous differences.

    A missing quantity is added on the days on which the rows were created, or today if those days
    are unknown. Settled days do not change: their missing quantities count on the first day after.
    """
    repaired = []
    with tenancy.organization(organization_id):
        for row in queries.find_differences():
            if correction := queries.repair(row.meter):
                metered = row.counted - correction
                repaired.append(Difference(slug, row.meter, row.counted, metered))
                log.warning("usage.repaired", **repaired[-1]._asdict())
    return repaired
