"""Fold meter changes into daily totals, and compare the meters with a recount."""

from typing import NamedTuple
from uuid import UUID

from app.billing.usage import queries
from app.billing.usage.service import warnings
from app.kit import errors, tenancy
from app.kit.db import Checkpoint
from app.kit.logging import get_logger
from app.kit.metrics import Counter
from app.kit.plan_limits import Meter

log = get_logger(__name__)

BATCH_SIZE = 5_000
"""The maximum number of changes folded in one transaction."""
_TENANCY_REASON = "maintains the meters of every organization"

DIFFERENCES = Counter(
    "labeling_usage_differences",
    "Meters that differed from the rows that they measure: see flask billing reconcile.",
    ["meter"],
    at_start=[(str(meter),) for meter in Meter],
)


class Difference(NamedTuple):
    """A meter for which `metered` differs from the recount `counted`; `organization` is a slug."""

    organization: str
    meter: str
    counted: int
    metered: int


def list_organizations(slug: str | None = None) -> list[tuple[UUID, str]]:
    """List the id and slug of each organization that has meters.

    If `slug` is not None, lists only the organization with this slug. Raises 404 if there is no
    such organization.
    """
    with tenancy.across_organizations(reason=_TENANCY_REASON):
        organizations = queries.list_organizations(slug)
    if slug is not None and not organizations:
        raise errors.not_found()
    return organizations


def fold(checkpoint: Checkpoint) -> None:
    """Fold the changes of all meters into daily totals, in batches, and enqueue the limit checks.

    `checkpoint` is called after each batch and commits.
    """
    while True:
        with tenancy.across_organizations(reason=_TENANCY_REASON):
            batch = queries.fold(BATCH_SIZE)
            warnings.enqueue_checks(batch.organization_ids)
        checkpoint()
        if batch.folded_count < BATCH_SIZE:
            return


def find_differences(organization_id: UUID, slug: str) -> list[Difference]:
    """Find the meters of an organization that differ from a recount of the measured rows.

    Each meter is compared in one statement, so concurrent writes and folds do not cause
    differences.
    """
    with tenancy.organization(organization_id):
        return [Difference(slug, *row) for row in queries.find_differences()]


def report_differences(organization_id: UUID, slug: str) -> int:
    """Log the meters that differ from a recount, count them in metrics, and return their number.

    Does not repair the meters, because a wrong value may already be on an invoice. The operator
    must decide whether to repair them.
    """
    differences = find_differences(organization_id, slug)
    for difference in differences:
        log.error("usage.differs", **difference._asdict())
        DIFFERENCES.labels(difference.meter).inc()
    return len(differences)


def repair(organization_id: UUID, slug: str) -> list[Difference]:
    """Repair the meters that differ from a recount; return the differences before the repair.

    A missing quantity is added on the days on which the rows were created, or on the current day if
    these days are unknown. A surplus is removed on the current day. Settled days do not change: a
    quantity that is missing on a settled day is added on the first day that is not settled.
    """
    repairs = []
    with tenancy.organization(organization_id):
        for row in queries.find_differences():
            if correction := queries.repair(row.meter):
                metered = row.counted - correction
                repairs.append(Difference(slug, row.meter, row.counted, metered))
                log.warning("usage.repaired", **repairs[-1]._asdict())
    return repairs
