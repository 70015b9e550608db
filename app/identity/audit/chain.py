"""Computation of the hashes in audit chains, with HMAC-SHA-256 (RFC 2104).

The HMAC keys are never stored in the database.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.kit import container

DIGEST_BYTES = 32
INITIAL_HASH = bytes(DIGEST_BYTES)
"""The value used in place of the previous block's hash when the first block is hashed."""
ABSENT_DIGEST = bytes(DIGEST_BYTES)
"""The recorded digest of an entry that was removed before it was appended to the chain.

The digest of an existing entry is never this value.
"""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of an audit chain: the ids and digests of consecutive audit entries.

    `number` counts blocks from 1. `position` is the position of the block's first entry in the
    chain, from 0. `digests` are the concatenated SHA-256 digests of the entries.
    """

    number: int
    position: int
    entry_ids: Sequence[UUID]
    digests: bytes
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The length of an audit chain, and the hash of its last block.

    `mac` is a message authentication code for both, which proves that this service wrote them.
    """

    block_count: int
    entry_count: int
    hash: bytes
    mac: bytes


EMPTY_HEAD = ChainHead(0, 0, INITIAL_HASH, b"")


def compute_block_hash(organization_id: UUID, previous_hash: bytes, block: Block) -> bytes:
    """Return the 32-byte HMAC of the organization id, the previous block's hash and the block.

    Different blocks never result in the same hash input: all parts except the last two have fixed
    lengths, and the number of entries determines the lengths of the last two parts.
    """
    parts = [previous_hash, organization_id.bytes]
    parts += [n.to_bytes(8) for n in (block.number, block.position, len(block.entry_ids))]
    parts += [b"".join(entry_id.bytes for entry_id in block.entry_ids), block.digests]
    return hmac.digest(container.keyring().derive_key("audit chain"), b"".join(parts), "sha256")


def compute_head_mac(organization_id: UUID, head: ChainHead) -> bytes:
    """Return a 32-byte message authentication code for the chain's length and last hash."""
    message = b"".join(
        [
            organization_id.bytes,
            head.block_count.to_bytes(8),
            head.entry_count.to_bytes(8),
            head.hash,
        ]
    )
    return hmac.digest(container.keyring().derive_key("audit head"), message, "sha256")


def has_valid_mac(organization_id: UUID, head: ChainHead) -> bool:
    """Return whether the head's MAC is valid, which proves that this service wrote the head."""
    return hmac.compare_digest(compute_head_mac(organization_id, head), head.mac)
