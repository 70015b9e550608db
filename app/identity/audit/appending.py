"""Append pending entries to the hash chain of their organization."""

from dataclasses import replace
from itertools import chain as joined
from uuid import UUID

from app.identity.audit import queries
from app.identity.audit.chain import (
    ABSENT_DIGEST,
    EMPTY_HEAD,
    Block,
    Head,
    compute_block_hash,
    compute_head_mac,
    is_signed,
)
from app.kit.logging import get_logger

log = get_logger(__name__)


class InvalidHead(Exception):  # noqa: N818 - names what was found
    """This service did not sign the chain's head.

    Appending to it would hide the manipulation.
    """


def append_pending_entries(organization_id: UUID) -> int:
    """Append the oldest pending entries to the hash chain, and return their number.

    Appends about `queries.BLOCK_ENTRIES` entries in the caller's transaction. Concurrent calls for
    one chain wait for each other. Raises `InvalidHead`.
    """
    queries.lock_chain(organization_id)
    head = queries.get_head(organization_id)
    if head != EMPTY_HEAD and not is_signed(organization_id, head):
        raise InvalidHead
    pending = queries.list_pending(organization_id)
    if not pending:
        return 0
    ids = list(joined.from_iterable(row.entries for row in pending))
    entry_digests = queries.get_digests(ids)
    digests = b"".join(
        entry_digests[entry].digest if entry in entry_digests else ABSENT_DIGEST for entry in ids
    )
    unhashed_block = Block(head.blocks + 1, head.entries, ids, digests, b"")
    block = replace(
        unhashed_block, hash=compute_block_hash(organization_id, head.hash, unhashed_block)
    )
    new_head = Head(block.number, block.position + len(ids), block.hash, b"")
    queries.append_block(
        organization_id,
        block,
        [row.id for row in pending],
        compute_head_mac(organization_id, new_head),
    )
    # The service log is outside the database, so it reveals a database restored to an older state.
    log.info(
        "audit.sealed",
        organization=str(organization_id),
        entries=new_head.entries,
        head=new_head.hash.hex(),
    )
    return len(ids)
