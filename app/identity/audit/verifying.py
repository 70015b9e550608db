"""Verification of an audit chain: checks every block and entry in order, and reports findings.

At most a few thousand entries are in memory at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Literal
from uuid import UUID

from app.identity.audit import queries
from app.identity.audit.chain import (
    ABSENT_DIGEST,
    DIGEST_BYTES,
    EMPTY_HEAD,
    INITIAL_HASH,
    Block,
    ChainHead,
    compute_block_hash,
    has_valid_mac,
)
from app.identity.audit.models import NO_ORGANIZATION

Fault = Literal["edited", "removed", "inserted", "truncated", "broken", "backdated", "missing"]
"""The type of a finding in an audit log.

`broken` means that a block, the head or the record of a removal does not fit the chain; `missing`
means that an organization has no entries at all.
"""
MAX_DELAY = timedelta(hours=1)
"""The maximum time by which an entry may be older than the entries appended before it.

No transaction of this service takes longer than this. Therefore, an entry with a larger difference
was backdated.
"""
OnBlock = Callable[[], None]
"""A callback that is called after each verified block."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference between the audit log and its hash chain, which indicates manipulation.

    `organization` is a slug, or an id if the organization no longer exists. It is None for the
    chain of entries that belong to no organization. `position` is the place of the difference in
    the chain, counted in entries from 0, or None if it has no place in the chain. `entry_id` is
    None if the finding is not about a single entry.
    """

    organization: str | None
    kind: Fault
    position: int | None
    entry_id: UUID | None
    message: str


@dataclass
class VerificationReport:
    """The result of verifying one or more chains.

    `chains` and `entries` count the verified chains and entries. `unsealed` counts entries that are
    not in a chain yet; `flask audit verify --json` prints this name. `faults` counts all findings;
    `findings` contains the first thousand.
    """

    MAX_FINDINGS: ClassVar[int] = 1000

    chains: int = 0
    entries: int = 0
    unsealed: int = 0
    faults: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Return whether no fault was found."""
        return self.faults == 0

    def add(self, finding: Finding) -> None:
        """Count a finding, and keep it unless `findings` is full."""
        self.faults += 1
        if len(self.findings) < self.MAX_FINDINGS:
            self.findings.append(finding)


class ChainVerifier:
    """Verifies the chain of one organization and adds the findings to `report`."""

    def __init__(self, organization_id: UUID, slug: str | None, report: VerificationReport) -> None:
        self.id = organization_id
        self.name = None if organization_id == NO_ORGANIZATION else slug or str(organization_id)
        self.report = report
        self._removed_count = 0
        # The number and the hash of the last verified block, and the position of the next block.
        self._number = 0
        self._position = 0
        self._hash = INITIAL_HASH
        self._latest_time = datetime(1970, 1, 1, tzinfo=UTC)

    def verify(self, on_block: OnBlock) -> None:
        """Verify the chain's blocks, head, first entry, number of entries and recorded removals."""
        head = queries.get_head(self.id)
        # Blocks that are appended from now on are not verified until the next verification.
        last_number = head.block_count if head != EMPTY_HEAD else None
        for block in queries.iterate_blocks(self.id, last_number):
            self._verify_block(block)
            on_block()
        if head != EMPTY_HEAD:
            self._verify_head(head)
        self._check_blocks_after_head()
        self._check_entry_counts()
        if self.id == NO_ORGANIZATION:
            self._check_removals()
        elif not queries.has_valid_start(self.id):
            message = "the log does not begin with the creation of its organization"
            self._add_finding("truncated", message, None, 0)

    def _add_finding(
        self, kind: Fault, message: str, entry_id: UUID | None, position: int | None
    ) -> None:
        self.report.add(Finding(self.name, kind, position, entry_id, message))

    def _verify_block(self, block: Block) -> None:
        if block.number != self._number + 1:
            message = f"blocks {self._number + 1} to {block.number - 1} of the chain are missing"
            self._add_finding("broken", message, None, self._position)
        elif block.position != self._position:
            message = f"block {block.number} does not begin where the previous block ends"
            self._add_finding("broken", message, None, self._position)
        elif compute_block_hash(self.id, self._hash, block) != block.hash:
            message = f"block {block.number} was changed, or does not follow the previous block"
            self._add_finding("broken", message, None, block.position)
        self._verify_entries(block)
        self._number, self._hash = block.number, block.hash
        self._position = block.position + len(block.entry_ids)
        self.report.entries += len(block.entry_ids)

    def _verify_entries(self, block: Block) -> None:
        current_digests = queries.get_digests(block.entry_ids)
        missing_ids = [entry_id for entry_id in block.entry_ids if entry_id not in current_digests]
        removed_ids = queries.find_removed_ids(missing_ids) if missing_ids else set()
        for offset, entry_id in enumerate(block.entry_ids):
            position = block.position + offset
            recorded_digest = block.digests[offset * DIGEST_BYTES : (offset + 1) * DIGEST_BYTES]
            current = current_digests.get(entry_id)
            if current is None:
                self._removed_count += 1
                if entry_id in removed_ids and self.id == NO_ORGANIZATION:
                    continue
                suffix = " before it was appended" if recorded_digest == ABSENT_DIGEST else ""
                self._add_finding("removed", f"the entry was removed{suffix}", entry_id, position)
                continue
            if current.digest != recorded_digest:
                self._add_finding(
                    "edited", "the entry was changed after it was appended", entry_id, position
                )
            elif current.at < self._latest_time - MAX_DELAY:
                message = "the entry's time is earlier than that of entries appended before it"
                self._add_finding("backdated", message, entry_id, position)
            else:
                self._latest_time = max(self._latest_time, current.at)

    def _verify_head(self, head: ChainHead) -> None:
        if not has_valid_mac(self.id, head):
            self._add_finding(
                "broken", "this service did not sign the chain's head", None, self._position
            )
        verified_counts = (self._number, self._position)
        if (head.block_count, head.entry_count) > verified_counts:
            missing_count = head.entry_count - self._position
            message = f"the last {missing_count} of {head.entry_count} entries are missing"
            self._add_finding("truncated", message, None, self._position)
        elif (head.block_count, head.entry_count, head.hash) != (*verified_counts, self._hash):
            message = "the chain's end does not match its head"
            self._add_finding("broken", message, None, self._position)

    def _check_blocks_after_head(self) -> None:
        position = queries.find_first_unsigned_position(self.id)
        if position is not None:
            message = "the chain continues after its head or has no head, so its end is unknown"
            self._add_finding("truncated", message, None, position)

    def _check_entry_counts(self) -> None:
        counts = queries.count_entries(self.id)
        self.report.unsealed += counts.pending
        is_empty = not (counts.existing or counts.in_blocks or counts.pending)
        if is_empty and self.id != NO_ORGANIZATION:
            message = "the organization has no entries, not even for its creation"
            self._add_finding("missing", message, None, None)
        if counts.existing + self._removed_count != counts.in_blocks + counts.pending:
            for entry_id in queries.list_unchained_ids(self.id, VerificationReport.MAX_FINDINGS):
                self._add_finding("inserted", "the entry is not in any chain", entry_id, None)

    def _check_removals(self) -> None:
        for entry_id in queries.list_invalid_removal_ids(VerificationReport.MAX_FINDINGS):
            message = "the entry is missing, or does not match the removals that it must record"
            self._add_finding("broken", message, entry_id, None)
