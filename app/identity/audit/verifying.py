"""Verify a chain: every block and every entry, in order.

A few thousand entries are in memory at a time.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from app.identity.audit import queries
from app.identity.audit.chain import (
    ABSENT_DIGEST,
    DIGEST_BYTES,
    EMPTY_HEAD,
    INITIAL_HASH,
    Block,
    Head,
    block_hash,
    is_signed,
)
from app.identity.audit.models import NO_ORGANIZATION
from app.identity.audit.report import Fault, Finding, Report

MAX_DELAY = timedelta(hours=1)
"""Maximum by which an entry may be older than entries appended before it.

No transaction of this service lasts so long, so an older entry was written with a false time.
"""

OnBlock = Callable[[], None]
"""Called after every block."""


class ChainVerifier:
    """Verifies one chain and adds its findings to `report`."""

    def __init__(self, organization_id: UUID, slug: str | None, report: Report) -> None:
        self.id = organization_id
        self.name = None if organization_id == NO_ORGANIZATION else slug or str(organization_id)
        self.report = report
        self.removed = 0
        self._number = 0
        self._position = 0
        self._hash = INITIAL_HASH
        self._latest = datetime(1970, 1, 1, tzinfo=UTC)

    def verify(self, looked: OnBlock) -> None:
        """Verify the whole chain."""
        head = queries.get_head(self.id)
        # Blocks that are appended in the meantime are left for the next verification.
        for block in queries.iterate_blocks(self.id, head.blocks if head != EMPTY_HEAD else None):
            self._block(block)
            looked()
        if head != EMPTY_HEAD:
            self._head(head)
        self._beyond()
        self._count()
        if self.id == NO_ORGANIZATION:
            self._forgotten()
        elif not queries.has_valid_start(self.id):
            message = "the log does not begin with the making of its organization"
            self._found("truncated", message, None, 0)

    def _found(self, kind: Fault, message: str, entry: UUID | None, position: int | None) -> None:
        self.report.add(Finding(self.name, kind, position, entry, message))

    def _block(self, block: Block) -> None:
        if block.number != self._number + 1 or block.position != self._position:
            message = f"blocks {self._number + 1} to {block.number - 1} of the chain are gone"
            self._found("broken", message, None, self._position)
        elif block_hash(self.id, self._hash, block) != block.hash:
            message = f"block {block.number} is not what was sealed, or does not follow the last"
            self._found("broken", message, None, block.position)
        self._entries(block)
        self._number, self._hash = block.number, block.hash
        self._position = block.position + len(block.entries)
        self.report.entries += len(block.entries)

    def _entries(self, block: Block) -> None:
        now = queries.get_digests(block.entries)
        missing = [entry for entry in block.entries if entry not in now]
        forgotten = queries.find_forgotten(missing) if missing else set()
        for offset, entry in enumerate(block.entries):
            position = block.position + offset
            sealed = block.digests[offset * DIGEST_BYTES : (offset + 1) * DIGEST_BYTES]
            found = now.get(entry)
            if found is None:
                self.removed += 1
                if entry in forgotten and self.id == NO_ORGANIZATION:
                    continue
                when = " before it was sealed" if sealed == ABSENT_DIGEST else ""
                self._found("removed", f"the entry was removed{when}", entry, position)
                continue
            if found.digest != sealed:
                self._found("edited", "the entry is not what was sealed", entry, position)
            elif found.at < self._latest - MAX_DELAY:
                message = "the entry says it is older than what was sealed before it"
                self._found("backdated", message, entry, position)
            else:
                self._latest = max(self._latest, found.at)

    def _head(self, head: Head) -> None:
        if not is_signed(self.id, head):
            self._found("broken", "the chain's head was not signed here", None, self._position)
        if (head.blocks, head.entries) > (self._number, self._position):
            message = f"of {head.entries} entries the last {head.entries - self._position} are gone"
            self._found("truncated", message, None, self._position)
        elif (head.blocks, head.entries, head.hash) != (self._number, self._position, self._hash):
            message = "the chain does not end as its head says"
            self._found("broken", message, None, self._position)

    def _beyond(self) -> None:
        after = queries.find_position_after_head(self.id)
        if after is not None:
            message = "the chain goes on after its head, or has none: its end cannot be known"
            self._found("truncated", message, None, after)

    def _count(self) -> None:
        counts = queries.count_entries(self.id)
        self.report.unsealed += counts.unsealed
        if not (counts.entries or counts.sealed or counts.unsealed) and self.id != NO_ORGANIZATION:
            message = "the organization has no entry at all, not even of its beginning"
            self._found("missing", message, None, None)
        if counts.entries + self.removed != counts.sealed + counts.unsealed:
            for entry in queries.list_unchained(self.id, Report.MOST):
                self._found("inserted", "the entry is in no chain", entry, None)

    def _forgotten(self) -> None:
        for entry in queries.list_invalid_forget_entries(Report.MOST):
            message = "entries are called forgotten by this one that it did not count"
            self._found("broken", message, entry, None)
