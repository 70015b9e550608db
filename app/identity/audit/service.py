"""Reading the audit log, and what keeps it honest: sealing, verifying, erasing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Select

from app.identity.audit import queries, reading, sealing
from app.identity.audit.models import NOBODY
from app.identity.audit.report import Fault, Finding, Report
from app.identity.audit.verifying import Chain
from app.kit import errors, tenancy
from app.kit.pagination import Page, PageRequest

Progress = Callable[[int, int], None]
"""Called with how many entries were looked at, and how many there are."""

__all__ = [
    "Fault",
    "Finding",
    "Progress",
    "Report",
    "about",
    "erase",
    "latest",
    "list_entries",
    "verify",
]


def list_entries(organization_id: UUID, page: PageRequest, filters: dict[str, Any]) -> Page:
    """A page of an organization's entries, newest first unless told otherwise."""
    return reading.page(organization_id, page, filters)


def about(target_type: str, target_ids: UUID | Select[Any]) -> Any:
    """A SELECT, for another statement, of the bound organization's entries of one record, or of
    those whose ids another SELECT finds: id, at, actor_kind, actor_id, actor_label, operation,
    action, target_id and changes."""
    return reading.about(tenancy.current_organization_id(), target_type, target_ids)


def latest(organization_slug: str | None, *, most: int) -> list[dict[str, Any]]:
    """The latest entries of an organization, or of what belongs to none; the newest last.

    Raises 404 `not_found` for an unknown slug.
    """
    with tenancy.across_organizations(reason="the operator reads any organization's log"):
        found = (NOBODY, None) if organization_slug is None else queries.chain_of(organization_slug)
        if found is None:
            raise errors.not_found()
        return reading.latest(found[0], most)


def verify(organization_slug: str | None = None, progress: Progress | None = None) -> Report:
    """Check every chain, or one organization's. Raises 404 `not_found` for an unknown slug.

    Reads only. Memory does not grow with the log.
    """
    report = Report()
    with tenancy.across_organizations(reason="chains of every organization are verified"):
        queries.without_time_limit()
        chains = queries.chains()
        if organization_slug is not None:
            one = queries.chain_of(organization_slug)
            if one is None:
                raise errors.not_found()
            chains = [one]
        total = sum(queries.head(chain).entries for chain, _ in chains)

        def looked() -> None:
            if progress is not None:
                progress(report.entries, max(total, report.entries))

        for organization_id, slug in chains:
            _verify_one(organization_id, slug, report, looked)
            report.chains += 1
    return report


def _verify_one(
    organization_id: UUID, slug: str | None, report: Report, looked: Callable[[], None]
) -> None:
    before = replace(report, findings=[*report.findings])
    first = queries.first_hash(organization_id)
    Chain(organization_id, slug, report).verify(looked)
    if report.faults > before.faults and queries.first_hash(organization_id) != first:
        # It was erased while it was looked at: another chain stands there now.
        vars(report).update(vars(before))
        _verify_one(organization_id, slug, report, looked)


def erase(organization_id: UUID, proof: Mapping[str, Any]) -> UUID:
    """Remove a closed organization's entries, in the running transaction; the id of the last one.

    Call it at the very end, with the organization's row in its final state (`closed` or `erased`):
    what changed before is removed too, what changes after is kept. `proof` (counts per table,
    files, bytes) is JSON and goes into the one entry that stays, beside the old chain's length and
    end.
    """
    with tenancy.across_organizations(reason="a chain is replaced, whoever is bound"):
        queries.lock(organization_id)
        head = queries.head(organization_id)
        told = {**proof, "audit_log": {"entries": head.entries, "head": head.hash.hex()}}
        final = queries.erase(organization_id, orjson.dumps(told, default=str).decode())
        sealing.seal(organization_id)
    return final


def forget(user_ids: Sequence[UUID]) -> int:
    """Remove what the log tells of those of `user_ids` that have no account any more; how many
    entries. In the running transaction.

    Only of what belongs to no organization: accounts and sessions. One entry stays, which says how
    many were removed and which, as a hash, so that the chain still verifies.
    """
    with tenancy.across_organizations(reason="accounts belong to no organization"):
        return queries.forget(user_ids)
