"""The chain's arithmetic: HMAC-SHA-256 (RFC 2104) under keys that the database never sees."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.kit import container

DIGEST_BYTES = 32
START = bytes(DIGEST_BYTES)
"""What the first block follows."""
ABSENT = bytes(DIGEST_BYTES)
"""Digest of an entry that was gone before it could be sealed; no entry has it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A link: entries `position` to `position + len(entries)` and their SHA-256 digests, joined."""

    number: int
    position: int
    entries: Sequence[UUID]
    digests: bytes
    hash: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """A chain's length and end."""

    blocks: int
    entries: int
    hash: bytes
    mac: bytes


EMPTY = Head(0, 0, START, b"")


def block_hash(organization_id: UUID, previous: bytes, block: Block) -> bytes:
    """32 bytes over the block before, the block's place, and what it holds.

    All parts but the last two have fixed lengths, and the number of entries tells theirs.
    """
    parts = [previous, organization_id.bytes]
    parts += [n.to_bytes(8) for n in (block.number, block.position, len(block.entries))]
    parts += [b"".join(entry.bytes for entry in block.entries), block.digests]
    return hmac.digest(container.keyring().derived_key("audit chain"), b"".join(parts), "sha256")


def head_mac(organization_id: UUID, head: Head) -> bytes:
    """32 bytes over a head's length and end."""
    told = b"".join(
        [organization_id.bytes, head.blocks.to_bytes(8), head.entries.to_bytes(8), head.hash]
    )
    return hmac.digest(container.keyring().derived_key("audit head"), told, "sha256")


def is_signed(organization_id: UUID, head: Head) -> bool:
    """Whether this service signed the head."""
    return hmac.compare_digest(head_mac(organization_id, head), head.mac)
