"""Service that lists audit entries, appends them to hash chains, and verifies and erases chains."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Select

from app.identity.audit import queries, reading
from app.identity.audit.chain import (
    ABSENT_DIGEST,
    EMPTY_HEAD,
    Block,
    Head,
    compute_block_hash,
    compute_head_mac,
    is_signed,
)
from app.identity.audit.models import NO_ORGANIZATION
from app.identity.audit.verifying import ChainVerifier, Report
from app.kit import errors, tenancy
from app.kit.logging import get_logger
from app.kit.pagination import Page, PageRequest

Progress = Callable[[int, int], None]
"""A callback that gets the number of verified entries and the total number of entries."""

log = get_logger(__name__)


class InvalidHead(Exception):  # noqa: N818 - names what was found
    """This service did not sign the chain's head.

    Appending to it would hide the manipulation.
    """


def append_pending_entries(organization_id: UUID) -> int:
    """Append the oldest pending entries to the hash chain, and return their number.

    Appends about `queries.BLOCK_ENTRIES` entries in the caller's transaction. Concurrent calls for
    the same chain wait for each other. Raises `InvalidHead`.
    """
    queries.lock_chain(organization_id)
    head = queries.get_head(organization_id)
    if head != EMPTY_HEAD and not is_signed(organization_id, head):
        raise InvalidHead
    pending = queries.list_pending(organization_id)
    if not pending:
        return 0
    ids = [entry for row in pending for entry in row.entries]
    entry_digests = queries.get_digests(ids)
    digests = b"".join(
        entry_digests[entry].digest if entry in entry_digests else ABSENT_DIGEST for entry in ids
    )
    block = Block(head.blocks + 1, head.entries, ids, digests, b"")
    block = replace(block, hash=compute_block_hash(organization_id, head.hash, block))
    new_head = Head(block.number, block.position + len(ids), block.hash, b"")
    mac = compute_head_mac(organization_id, new_head)
    queries.append_block(organization_id, block, [row.id for row in pending], mac)
    # The service log is outside the database, so it reveals a database restored to an older state.
    log.info(
        "audit.sealed",
        organization=str(organization_id),
        entries=new_head.entries,
        head=new_head.hash.hex(),
    )
    return len(ids)


def select_entries(target_type: str, target_ids: UUID | Select[Any]) -> Select[*tuple[Any, ...]]:
    """Return a SELECT of the current organization's entries, for use in another statement.

    It selects the entries about one record, or about the records whose ids a SELECT returns.
    Columns: id, at, actor_kind, actor_id, actor_label, operation, action, target_id and changes.
    """
    return reading.select_entries(tenancy.current_organization_id(), target_type, target_ids)


def list_entries(target_type: str, page: PageRequest, filters: Mapping[str, Any]) -> Page:
    """Return a page of the current organization's entries about records of one type."""
    return reading.get_page(
        tenancy.current_organization_id(), page, {**filters, "target_type": target_type}
    )


def list_latest(organization_slug: str | None, *, limit: int) -> list[dict[str, Any]]:
    """Return the latest entries of an organization, oldest first.

    Without a slug, returns entries about records that belong to no organization. Raises 404
    `not_found` for an unknown slug.
    """
    with tenancy.across_organizations(reason="the operator reads any organization's log"):
        chain = (
            (NO_ORGANIZATION, None)
            if organization_slug is None
            else queries.find_chain(organization_slug)
        )
        if chain is None:
            raise errors.not_found()
        return reading.list_latest(chain[0], limit)


def verify(organization_slug: str | None = None, progress: Progress | None = None) -> Report:
    """Verify every chain, or the chain of one organization, and return a report.

    Writes nothing. Memory use does not grow with the log. Raises 404 `not_found` for an unknown
    slug.
    """
    report = Report()
    with tenancy.across_organizations(reason="verifies the chains of every organization"):
        queries.disable_statement_timeout()
        chains = queries.list_chains()
        if organization_slug is not None:
            organization_chain = queries.find_chain(organization_slug)
            if organization_chain is None:
                raise errors.not_found()
            chains = [organization_chain]
        total = sum(queries.get_head(chain).entries for chain, _ in chains)

        def on_block() -> None:
            if progress is not None:
                progress(report.entries, max(total, report.entries))

        for organization_id, slug in chains:
            _verify_chain(organization_id, slug, report, on_block)
            report.chains += 1
    return report


def _verify_chain(
    organization_id: UUID, slug: str | None, report: Report, on_block: Callable[[], None]
) -> None:
    previous_report = replace(report, findings=[*report.findings])
    first_hash = queries.get_first_hash(organization_id)
    ChainVerifier(organization_id, slug, report).verify(on_block)
    if (
        report.faults > previous_report.faults
        and queries.get_first_hash(organization_id) != first_hash
    ):
        # The chain was erased during the verification, and a new chain has replaced it.
        vars(report).update(vars(previous_report))
        _verify_chain(organization_id, slug, report, on_block)


def erase(organization_id: UUID, proof: Mapping[str, Any]) -> UUID:
    """Remove a closed organization's entries, and return the id of the one remaining entry.

    Runs in the caller's transaction. Call it last, with the organization's row in its final state
    (`closed` or `erased`): entries about earlier changes are removed, and entries about later
    changes are kept. `proof` (counts per table, files, bytes) must be JSON-serializable. It is
    stored in the remaining entry, together with the length and the last hash of the old chain.
    """
    with tenancy.across_organizations(reason="replaces a chain of any organization"):
        queries.lock_chain(organization_id)
        head = queries.get_head(organization_id)
        details = {**proof, "audit_log": {"entries": head.entries, "head": head.hash.hex()}}
        entry_id = queries.erase_chain(organization_id, orjson.dumps(details, default=str).decode())
        append_pending_entries(organization_id)
    return entry_id


def forget_users(user_ids: Sequence[UUID]) -> int:
    """Remove the entries about the users in `user_ids` who no longer have an account.

    Runs in the caller's transaction, and returns the number of removed entries. Only entries that
    belong to no organization are removed, that is, entries about accounts and sessions. A new entry
    records their number and a hash of their ids, so that the chain can still be verified.
    """
    with tenancy.across_organizations(reason="accounts belong to no organization"):
        return queries.forget_users(user_ids)
