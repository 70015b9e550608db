"""Service that lists audit entries, appends them to hash chains, and verifies and erases chains."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson

from app.identity.audit import queries, reading
from app.identity.audit.chain import (
    ABSENT_DIGEST,
    EMPTY_HEAD,
    Block,
    ChainHead,
    compute_block_hash,
    compute_head_mac,
    has_valid_mac,
)
from app.identity.audit.verifying import ChainVerifier, VerificationReport
from app.kit import db, errors, tenancy
from app.kit.db import ReportProgress
from app.kit.logging import get_logger

list_entries = reading.get_page
select_entries = reading.select_entries

log = get_logger(__name__)


class InvalidHead(Exception):  # noqa: N818 - named after the outcome
    """Raised if the chain's head has no valid MAC, so this service did not write it.

    Nothing is appended to such a chain, because that would hide the manipulation.
    """


def append_pending_entries(organization_id: UUID) -> int:
    """Append the oldest pending entries to the hash chain, and return how many were appended.

    Appends one block, in the caller's transaction. The block takes whole rows of pending entries
    until it has at least `queries.BLOCK_ENTRIES` entries, so it may have more; it has fewer only if
    fewer are pending. Concurrent calls for the same chain wait for each other. Raises `InvalidHead`
    if the chain's head has no valid MAC.
    """
    queries.lock_chain(organization_id)
    head = queries.get_head(organization_id)
    if head != EMPTY_HEAD and not has_valid_mac(organization_id, head):
        raise InvalidHead
    pending_rows = queries.list_pending_rows(organization_id)
    if not pending_rows:
        return 0
    ids = [entry_id for row in pending_rows for entry_id in row.entry_ids]
    entry_digests = queries.get_digests(ids)
    digests = b"".join(
        entry_digests[entry_id].digest if entry_id in entry_digests else ABSENT_DIGEST
        for entry_id in ids
    )
    block = Block(head.block_count + 1, head.entry_count, ids, digests, b"")
    block = replace(block, hash=compute_block_hash(organization_id, head.hash, block))
    new_head = ChainHead(block.number, block.position + len(ids), block.hash, b"")
    mac = compute_head_mac(organization_id, new_head)
    queries.append_block(organization_id, block, [row.id for row in pending_rows], mac)
    # The service log is outside the database. If the database is replaced by an older state, the
    # heads in the log no longer match the chain. Operators search old and new logs for this name.
    log.info(
        "audit.sealed",
        organization=str(organization_id),
        entries=new_head.entry_count,
        head=new_head.hash.hex(),
    )
    return len(ids)


def verify(
    organization_slug: str | None = None, progress: ReportProgress | None = None
) -> VerificationReport:
    """Verify every chain, or the chain of one organization, and return a report.

    Writes nothing. Memory use does not depend on the size of the log. Turns off the statement
    timeout until the transaction ends. `progress` receives the number of verified entries and the
    total number of entries. Raises 404 `not_found` for an unknown slug.
    """
    report = VerificationReport()
    with tenancy.across_organizations(reason="verifies the chains of every organization"):
        db.disable_statement_timeout()
        chains = queries.list_chains()
        if organization_slug is not None:
            chains = [errors.require_found(queries.find_chain_by_slug(organization_slug))]
        total = sum(queries.get_head(chain_id).entry_count for chain_id, _ in chains)

        def on_block() -> None:
            if progress is not None:
                progress(report.entries, max(total, report.entries))

        for organization_id, slug in chains:
            _verify_chain(organization_id, slug, report, on_block)
            report.chains += 1
    return report


def _verify_chain(
    organization_id: UUID,
    slug: str | None,
    report: VerificationReport,
    on_block: Callable[[], None],
) -> None:
    report_before = replace(report, findings=[*report.findings])
    first_hash = queries.get_first_hash(organization_id)
    ChainVerifier(organization_id, slug, report).verify(on_block)
    if (
        report.faults > report_before.faults
        and queries.get_first_hash(organization_id) != first_hash
    ):
        # The chain was erased during the verification. Verify the new chain that has replaced it.
        vars(report).update(vars(report_before))
        _verify_chain(organization_id, slug, report, on_block)


def erase(organization_id: UUID, proof: Mapping[str, Any]) -> UUID:
    """Remove a closed organization's entries, and return the id of the one remaining entry.

    Runs in the caller's transaction. Call this function after all other changes, when the
    organization's row has its final state (`closed` or `erased`): entries about earlier changes are
    removed, and entries about later changes are kept. `proof` says how much was erased, such as the
    number of rows of each table. The remaining entry contains `proof` as JSON, and the length and
    the last hash of the old chain.
    """
    with tenancy.across_organizations(reason="replaces a chain of any organization"):
        queries.lock_chain(organization_id)
        head = queries.get_head(organization_id)
        details = {**proof, "audit_log": {"entries": head.entry_count, "head": head.hash.hex()}}
        entry_id = queries.erase_chain(organization_id, orjson.dumps(details, default=str).decode())
        append_pending_entries(organization_id)
    return entry_id
