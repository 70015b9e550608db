"""Verification of a chain: checks every block and every entry in order, and reports the findings.

A few thousand entries are in memory at a time.
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
    Head,
    compute_block_hash,
    is_signed,
)
from app.identity.audit.models import NO_ORGANIZATION

Fault = Literal["edited", "removed", "inserted", "truncated", "broken", "backdated", "missing"]
MAX_DELAY = timedelta(hours=1)
"""The maximum time by which an entry may be older than the entries appended before it.

No transaction of this service lasts that long, so an older entry was written with a false time.
"""
OnBlock = Callable[[], None]
"""A callback that is called after every block."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference between the log and the entries that were appended to the chain.

    `organization` is a slug, or an id if the slug no longer exists. None means the chain of records
    that belong to no organization. `position` counts the chain's entries from 0.
    """

    organization: str | None
    kind: Fault
    position: int | None
    entry_id: UUID | None
    message: str


@dataclass
class Report:
    """The result of a verification.

    `unsealed` counts entries that are too new to be in a chain. `faults` counts all findings;
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
        """Add a finding."""
        self.faults += 1
        if len(self.findings) < self.MAX_FINDINGS:
            self.findings.append(finding)


class ChainVerifier:
    """Verifies one chain and adds its findings to `report`."""

    def __init__(self, organization_id: UUID, slug: str | None, report: Report) -> None:
        self.id = organization_id
        self.name = None if organization_id == NO_ORGANIZATION else slug or str(organization_id)
        self.report = report
        self._removed_count = 0
        self._number = 0
        self._position = 0
        self._hash = INITIAL_HASH
        self._latest_time = datetime(1970, 1, 1, tzinfo=UTC)

    def verify(self, on_block: OnBlock) -> None:
        """Verify the whole chain."""
        head = queries.get_head(self.id)
        # The next verification covers blocks that are appended in the meantime.
        for block in queries.iterate_blocks(self.id, head.blocks if head != EMPTY_HEAD else None):
            self._verify_block(block)
            on_block()
        if head != EMPTY_HEAD:
            self._verify_head(head)
        self._check_end()
        self._check_counts()
        if self.id == NO_ORGANIZATION:
            self._check_forgotten()
        elif not queries.has_valid_start(self.id):
            message = "the log does not begin with the creation of its organization"
            self._report("truncated", message, None, 0)

    def _report(self, kind: Fault, message: str, entry: UUID | None, position: int | None) -> None:
        self.report.add(Finding(self.name, kind, position, entry, message))

    def _verify_block(self, block: Block) -> None:
        if block.number != self._number + 1 or block.position != self._position:
            message = f"blocks {self._number + 1} to {block.number - 1} of the chain are missing"
            self._report("broken", message, None, self._position)
        elif compute_block_hash(self.id, self._hash, block) != block.hash:
            message = f"block {block.number} was changed, or does not follow the previous one"
            self._report("broken", message, None, block.position)
        self._verify_entries(block)
        self._number, self._hash = block.number, block.hash
        self._position = block.position + len(block.entries)
        self.report.entries += len(block.entries)

    def _verify_entries(self, block: Block) -> None:
        current_digests = queries.get_digests(block.entries)
        missing = [entry for entry in block.entries if entry not in current_digests]
        forgotten = queries.find_forgotten_entries(missing) if missing else set()
        for offset, entry in enumerate(block.entries):
            position = block.position + offset
            recorded_digest = block.digests[offset * DIGEST_BYTES : (offset + 1) * DIGEST_BYTES]
            current = current_digests.get(entry)
            if current is None:
                self._removed_count += 1
                if entry in forgotten and self.id == NO_ORGANIZATION:
                    continue
                when = " before it was appended" if recorded_digest == ABSENT_DIGEST else ""
                self._report("removed", f"the entry was removed{when}", entry, position)
                continue
            if current.digest != recorded_digest:
                self._report(
                    "edited", "the entry was changed after it was appended", entry, position
                )
            elif current.at < self._latest_time - MAX_DELAY:
                message = "the entry's time is earlier than that of entries appended before it"
                self._report("backdated", message, entry, position)
            else:
                self._latest_time = max(self._latest_time, current.at)

    def _verify_head(self, head: Head) -> None:
        if not is_signed(self.id, head):
            self._report(
                "broken", "this service did not sign the chain's head", None, self._position
            )
        if (head.blocks, head.entries) > (self._number, self._position):
            message = (
                f"the last {head.entries - self._position} of {head.entries} entries are missing"
            )
            self._report("truncated", message, None, self._position)
        elif (head.blocks, head.entries, head.hash) != (self._number, self._position, self._hash):
            message = "the chain's end does not match its head"
            self._report("broken", message, None, self._position)

    def _check_end(self) -> None:
        position = queries.find_position_after_head(self.id)
        if position is not None:
            message = "the chain continues after its head or has no head, so its end is unknown"
            self._report("truncated", message, None, position)

    def _check_counts(self) -> None:
        counts = queries.count_entries(self.id)
        self.report.unsealed += counts.unsealed
        if not (counts.entries or counts.sealed or counts.unsealed) and self.id != NO_ORGANIZATION:
            message = "the organization has no entries, not even for its creation"
            self._report("missing", message, None, None)
        if counts.entries + self._removed_count != counts.sealed + counts.unsealed:
            for entry in queries.list_unchained_entries(self.id, Report.MAX_FINDINGS):
                self._report("inserted", "the entry is not in any chain", entry, None)

    def _check_forgotten(self) -> None:
        for entry in queries.list_invalid_forget_entries(Report.MAX_FINDINGS):
            message = "the entries removed under this entry do not match its hash"
            self._report("broken", message, entry, None)
