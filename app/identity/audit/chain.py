"""Hashes of audit chains: HMAC-SHA-256 (RFC 2104).

The keys are never stored in the database.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.kit import container

DIGEST_BYTES = 32
INITIAL_HASH = bytes(DIGEST_BYTES)
"""The hash that stands for the previous block when the first block is hashed."""
ABSENT_DIGEST = bytes(DIGEST_BYTES)
"""The digest of an entry that was removed before it was appended.

No existing entry has this digest.
"""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a chain, with the entries from `position` to `position + len(entries) - 1`.

    `digests` are the joined SHA-256 digests of the entries.
    """

    number: int
    position: int
    entries: Sequence[UUID]
    digests: bytes
    hash: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """The length of a chain and the hash of its last block; `mac` signs both."""

    blocks: int
    entries: int
    hash: bytes
    mac: bytes


EMPTY_HEAD = Head(0, 0, INITIAL_HASH, b"")


def compute_block_hash(organization_id: UUID, previous_hash: bytes, block: Block) -> bytes:
    """Return a 32-byte hash over the previous block's hash and the block's position and content.

    All parts except the last two have fixed lengths; the number of entries determines the lengths
    of the last two parts.
    """
    parts = [previous_hash, organization_id.bytes]
    parts += [n.to_bytes(8) for n in (block.number, block.position, len(block.entries))]
    parts += [b"".join(entry.bytes for entry in block.entries), block.digests]
    return hmac.digest(container.keyring().derived_key("audit chain"), b"".join(parts), "sha256")


def compute_head_mac(organization_id: UUID, head: Head) -> bytes:
    """Return a 32-byte signature of the chain's length and last hash."""
    message = b"".join(
        [organization_id.bytes, head.blocks.to_bytes(8), head.entries.to_bytes(8), head.hash]
    )
    return hmac.digest(container.keyring().derived_key("audit head"), message, "sha256")


def is_signed(organization_id: UUID, head: Head) -> bool:
    """Return whether this service signed the head."""
    return hmac.compare_digest(compute_head_mac(organization_id, head), head.mac)
