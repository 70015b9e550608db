"""Service that erases an organization with its rows, files and unused accounts.

Each transaction that deletes rows also updates the counters in the organization's row. Therefore,
an interrupted erasure can be resumed, and the counters are exact even after several interruptions.
"""

from datetime import timedelta
from uuid import UUID

from app.identity.audit import queries as audit_queries
from app.identity.audit import service as audit
from app.identity.erasing import queries
from app.identity.organizations import ports
from app.identity.organizations import queries as organization_queries
from app.kit import container, db, tenancy
from app.kit.db import Checkpoint
from app.kit.jobs import Retry
from app.kit.logging import get_logger

log = get_logger(__name__)

MAX_BILLING_WAIT = timedelta(days=90)
"""The maximum time, from the closing, for which an erasure waits for the last invoice."""
_TENANCY_REASON = "erases accounts that no longer belong to an organization"


def list_due_ids() -> list[UUID]:
    """Return the ids of the organizations that are due for erasure.

    Erasure deletes the data from which invoices are computed. Therefore, an organization is not due
    while its last invoice is incomplete, unless its erasure has begun. The wait for the invoice
    ends `MAX_BILLING_WAIT` after the organization was closed. Otherwise, the data would be kept
    forever if the operator never closed the billing period of that invoice.
    """
    due_organizations = queries.list_due_organizations()
    wait_cutoff = db.utc_now() - MAX_BILLING_WAIT
    unbilled_ids = ports.billing.get().find_unbilled_ids(
        [
            row.id
            for row in due_organizations
            if not row.has_erasure_begun and row.closed_at and row.closed_at > wait_cutoff
        ]
    )
    return [row.id for row in due_organizations if row.id not in unbilled_ids]


def erase(organization_id: UUID, checkpoint: Checkpoint) -> None:
    """Erase a closed organization in many transactions.

    `checkpoint` commits the current transaction. The organization's row is kept with its slug, but
    without a name. The only remaining entry in its audit log records how many rows of each table,
    accounts, files and bytes were erased. Does nothing if the erasure is not due. Raises `Retry` if
    rows or files were added during the erasure.
    """
    if not _begin_erasure(organization_id):
        return
    checkpoint()
    for table in queries.list_tables():
        while row_count := queries.erase_batch(table, organization_id):
            queries.add_to_erasure_counter(organization_id, "rows", table.name, count=row_count)
            checkpoint()
    _erase_members(organization_id, checkpoint)
    _erase_files(organization_id, checkpoint)
    _finish_erasure(organization_id)


def _begin_erasure(organization_id: UUID) -> bool:
    """Initialize the organization's counters of erased rows and users if the erasure is due.

    Returns whether the erasure is due.
    """
    organization = organization_queries.lock(organization_id, for_erasure=True)
    if (
        organization.status != "closed"
        or organization.erase_after is None
        or organization.erase_after > db.utc_now()
    ):
        return False
    if organization.erasure is None:
        organization.erasure = {"rows": {}, "users": 0}
    return True


def _erase_members(organization_id: UUID, checkpoint: Checkpoint) -> None:
    closed_at = organization_queries.lock(organization_id, for_erasure=True).closed_at
    assert closed_at is not None
    while user_ids := queries.erase_memberships(organization_id):
        with tenancy.across_organizations(reason=_TENANCY_REASON):
            erased_count = queries.erase_users(user_ids, closed_at=closed_at)
            audit_queries.remove_user_entries(user_ids)
        queries.add_to_erasure_counter(organization_id, "rows", "memberships", count=len(user_ids))
        queries.add_to_erasure_counter(organization_id, "users", count=erased_count)
        checkpoint()


def _erase_files(organization_id: UUID, checkpoint: Checkpoint) -> None:
    """Count and delete the organization's files.

    The files are counted before the first file is deleted. Therefore, the count includes files that
    an interrupted run has already deleted.
    """
    storage = container.current().storage
    folder = f"organizations/{organization_id}"
    erasure = organization_queries.lock(organization_id, for_erasure=True).erasure or {}
    checkpoint()
    if "files" not in erasure:
        total = storage.measure(folder)
        queries.record_file_totals(organization_id, total.file_count, total.byte_count)
        checkpoint()
    for _ in storage.clear(folder):
        checkpoint()


def _finish_erasure(organization_id: UUID) -> None:
    organization = organization_queries.lock(organization_id, for_erasure=True)
    if organization.status != "closed":
        return
    with tenancy.organization(organization_id):
        tables = queries.list_nonempty_tables(organization_id)
    file_count = container.current().storage.measure(f"organizations/{organization_id}").file_count
    if tables or file_count:
        added_items = ", ".join(tables) or f"{file_count} files"
        raise Retry(f"rows or files were added during the erasure: {added_items}")
    proof = {**(organization.erasure or {}), "closed_at": organization.closed_at}
    organization.status, organization.erased_at = "erased", db.utc_now()
    organization.name, organization.settings, organization.ai_provider_key = "", {}, None
    organization.suspension_reason = None
    db.session().flush()
    audit.erase(organization_id, proof)
    log.info("organization.erased", organization=str(organization_id), slug=organization.slug)
