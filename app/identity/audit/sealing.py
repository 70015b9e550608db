"""Sealing: entries that were written become links of their organization's chain."""

from dataclasses import replace
from itertools import chain as joined
from uuid import UUID

from app.identity.audit import queries
from app.identity.audit.chain import ABSENT, EMPTY, Block, Head, block_hash, head_mac, is_signed
from app.kit.logging import get_logger

log = get_logger(__name__)


class BrokenHead(Exception):  # noqa: N818 - names what was found
    """The chain's head is not one that this service signed: to go on from it would hide why."""


def seal(organization_id: UUID) -> int:
    """Seal what waits longest, up to some thousand entries; how many. In the running transaction.

    Raises BrokenHead. Sealers of one chain wait for each other.
    """
    queries.lock(organization_id)
    head = queries.head(organization_id)
    if head != EMPTY and not is_signed(organization_id, head):
        raise BrokenHead
    waiting = queries.waiting(organization_id)
    if not waiting:
        return 0
    ids = list(joined.from_iterable(row.entries for row in waiting))
    found = queries.digests(ids)
    digests = b"".join(found[entry].digest if entry in found else ABSENT for entry in ids)
    bare = Block(head.blocks + 1, head.entries, ids, digests, b"")
    block = replace(bare, hash=block_hash(organization_id, head.hash, bare))
    after = Head(block.number, block.position + len(ids), block.hash, b"")
    queries.seal(
        organization_id, block, [row.id for row in waiting], head_mac(organization_id, after)
    )
    # Outside the database, so that one that was put back to an older state can be told from it.
    log.info(
        "audit.sealed",
        organization=str(organization_id),
        entries=after.entries,
        head=after.hash.hex(),
    )
    return len(ids)
