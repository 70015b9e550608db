"""SQL queries for the hash chains of the audit log."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.identity.audit.chain import EMPTY_HEAD, Block, ChainHead
from app.kit import db

BLOCK_ENTRIES = 1000
"""The minimum number of entries in a block, unless fewer entries are pending."""
_BLOCKS_PER_READ = 4

# The digest uses only built-in functions of PostgreSQL, because somebody could replace a
# user-defined function. Times in microseconds and `jsonb` have the same text on every server, so
# the digests still match after the log is restored on another server.
_DIGEST = """
sha256(convert_to(CAST(jsonb_build_array(id, organization_id,
    CAST(extract(epoch FROM at) * 1000000 AS bigint), actor_kind, actor_id, actor_label, operation,
    action, target_type, target_id, target_label, changes, request_id, ip_address) AS text),
    'UTF8'))
"""
_DIGESTS = text(
    "SELECT id, at, " + _DIGEST + " AS digest FROM audit_entries WHERE id = ANY(:ids)"  # noqa: S608
)
_PENDING_CHAINS = text("SELECT organization_id FROM audit_unsealed GROUP BY 1 ORDER BY min(id)")
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('audit ' || :chain, 0))")
_HEAD = text(
    "SELECT blocks, entries, hash, mac FROM audit_heads WHERE organization_id = :organization_id"
)
_PENDING = text(
    """
    SELECT id, entries FROM (
        SELECT id, entries,
               sum(cardinality(entries)) OVER (ORDER BY id) - cardinality(entries) AS before
        FROM (SELECT id, entries FROM audit_unsealed WHERE organization_id = :organization_id
              ORDER BY id LIMIT :max_rows) AS first
    ) AS counted WHERE before < :max_rows ORDER BY id
    """
)
_APPEND = text(
    "SELECT audit_seal(:organization_id, :number, :position, CAST(:entries AS uuid[]), :digests,"
    " :hash, CAST(:pending_ids AS bigint[]), :mac)"
)
_ERASE = text("SELECT audit_erase(:organization_id, CAST(:proof AS jsonb))")
_REMOVE_USER_ENTRIES = text("SELECT audit_forget(:people)")
_REMOVED_IDS = text("SELECT entry_id FROM audit_forgotten WHERE entry_id = ANY(:ids)")
# A removal is valid only if a `users.forget` entry contains the hash of the removed ids.
_INVALID_REMOVALS = text(
    """
    SELECT f.forgotten_by FROM (
        SELECT forgotten_by, encode(sha256(convert_to(
            string_agg(CAST(entry_id AS text), ',' ORDER BY entry_id), 'UTF8')), 'hex') AS sum
        FROM audit_forgotten GROUP BY forgotten_by
    ) AS f LEFT JOIN audit_entries e ON e.id = f.forgotten_by AND e.action = 'users.forget'
    WHERE e.changes -> 'sha256' ->> 1 IS DISTINCT FROM f.sum LIMIT :max_rows
    """
)
_BLOCKS = text(
    "SELECT number, position, entries, digests, hash FROM audit_blocks"
    " WHERE organization_id = :organization_id AND number > :after"
    " AND number <= coalesce(:upto, number) ORDER BY number LIMIT :max_rows"
)
_FIRST_UNSIGNED_POSITION = text(
    """
    SELECT min(b.position) FROM audit_blocks b
    LEFT JOIN audit_heads h ON h.organization_id = b.organization_id
    WHERE b.organization_id = :organization_id AND b.number > coalesce(h.blocks, 0)
    """
)
_CHAINS = text(
    """
    SELECT chain.id, o.slug FROM (
        SELECT id FROM organizations UNION SELECT organization_id FROM audit_heads
        UNION SELECT organization_id FROM audit_unsealed
    ) AS chain LEFT JOIN organizations o ON o.id = chain.id
    ORDER BY o.slug NULLS FIRST, chain.id
    """
)
_CHAIN = text("SELECT id, slug FROM organizations WHERE slug = :slug")
_COUNTS = text(
    """
    SELECT (SELECT count(*) FROM audit_entries WHERE organization_id = :organization_id) AS entries,
        (SELECT coalesce(sum(cardinality(entries)), 0) FROM audit_blocks
         WHERE organization_id = :organization_id) AS in_blocks,
        (SELECT coalesce(sum(cardinality(entries)), 0) FROM audit_unsealed
         WHERE organization_id = :organization_id) AS pending
    """
)
_UNCHAINED = text(
    """
    SELECT id FROM audit_entries WHERE organization_id = :organization_id
    EXCEPT SELECT unnest(entries) FROM audit_blocks WHERE organization_id = :organization_id
    EXCEPT SELECT unnest(entries) FROM audit_unsealed WHERE organization_id = :organization_id
    ORDER BY id LIMIT :max_rows
    """
)
_FIRST_HASH = text(
    "SELECT hash FROM audit_blocks WHERE organization_id = :organization_id AND number = 1"
)
_VALID_START = text(
    """
    SELECT CASE e.action
        WHEN 'organizations.watch' THEN true
        WHEN 'organizations.erase' THEN o.status IN ('closed', 'erased')
        ELSE coalesce(e.changes -> 'slug' -> 0 = 'null', false) END
        AND e.target_id IS NOT DISTINCT FROM o.id
    FROM (
        SELECT entries[1] AS id, 0 AS place FROM audit_blocks
        WHERE organization_id = :organization_id AND number = 1
        UNION ALL (SELECT entries[1], 1 FROM audit_unsealed
                   WHERE organization_id = :organization_id ORDER BY id LIMIT 1)
        ORDER BY place LIMIT 1
    ) AS first
    JOIN audit_entries e ON e.id = first.id
    JOIN organizations o ON o.id = :organization_id
    """
)


class EntryDigest(NamedTuple):
    """The time of an audit entry, and the digest of its current content."""

    at: datetime
    digest: bytes


class PendingRow(NamedTuple):
    """A row of `audit_unsealed`, which contains the ids of pending entries."""

    id: int
    entry_ids: list[UUID]


class EntryCounts(NamedTuple):
    """The numbers of a chain's existing entries, entries in blocks, and pending entries."""

    existing: int
    in_blocks: int
    pending: int


def get_digests(ids: Sequence[UUID]) -> dict[UUID, EntryDigest]:
    """Return the time and the current digest of each entry that exists, by entry id."""
    rows = db.session().execute(_DIGESTS, {"ids": list(ids)})
    return {row.id: EntryDigest(row.at, bytes(row.digest)) for row in rows}


def list_pending_organization_ids() -> list[UUID]:
    """Return the ids of organizations with pending entries, the longest waiting first."""
    return list(db.session().scalars(_PENDING_CHAINS))


def lock_chain(organization_id: UUID) -> None:
    """Lock a chain until the transaction ends, so that only this transaction can append to it."""
    db.session().execute(_LOCK, {"chain": str(organization_id)})


def get_head(organization_id: UUID) -> ChainHead:
    """Return a chain's head, or `EMPTY_HEAD` if the chain has no head."""
    row = db.session().execute(_HEAD, {"organization_id": organization_id}).first()
    return EMPTY_HEAD if row is None else ChainHead(row[0], row[1], bytes(row[2]), bytes(row[3]))


def list_pending_rows(organization_id: UUID) -> list[PendingRow]:
    """Return a chain's oldest pending rows, with BLOCK_ENTRIES entries or more if so many exist."""
    values = {"organization_id": organization_id, "max_rows": BLOCK_ENTRIES}
    return [PendingRow(row[0], row[1]) for row in db.session().execute(_PENDING, values)]


def append_block(
    organization_id: UUID, block: Block, pending_row_ids: Sequence[int], mac: bytes
) -> None:
    """Append a block, update the chain's head with its `mac`, and delete the `pending_row_ids`."""
    values = {
        "organization_id": organization_id,
        "number": block.number,
        "position": block.position,
        "entries": list(block.entry_ids),
        "digests": block.digests,
        "hash": block.hash,
        "pending_ids": list(pending_row_ids),
        "mac": mac,
    }
    db.session().execute(_APPEND, values)


def erase_chain(organization_id: UUID, proof: str) -> UUID:
    """Replace a chain with one new entry that contains `proof` (JSON); return the entry's id.

    Turns off the statement timeout until the transaction ends.
    """
    db.session().flush()
    db.disable_statement_timeout()
    values = {"organization_id": organization_id, "proof": proof}
    entry_id: UUID = db.session().execute(_ERASE, values).scalar_one()
    return entry_id


def remove_user_entries(user_ids: Sequence[UUID]) -> int:
    """Remove the entries about and by the users in `user_ids` who no longer have an account.

    Returns how many entries were removed. Only entries that belong to no organization are removed,
    such as entries about accounts and sessions. A new entry records how many entries were removed
    and a hash of their ids, so that the chain can still be verified. Turns off the statement
    timeout until the transaction ends. Call this function within `tenancy.across_organizations`.
    """
    db.session().flush()
    db.disable_statement_timeout()
    return int(db.session().execute(_REMOVE_USER_ENTRIES, {"people": list(user_ids)}).scalar_one())


def find_removed_ids(ids: Sequence[UUID]) -> set[UUID]:
    """Return the ids in `ids` that belong to entries removed together with an account."""
    return set(db.session().scalars(_REMOVED_IDS, {"ids": list(ids)}))


def list_invalid_removal_ids(limit: int) -> list[UUID]:
    """Return up to `limit` ids of `users.forget` entries that are missing or have a wrong hash.

    `audit_forgotten` records which entries were removed together with each `users.forget` entry,
    which must contain the hash of their ids.
    """
    return list(db.session().scalars(_INVALID_REMOVALS, {"max_rows": limit}))


def iterate_blocks(organization_id: UUID, last_number: int | None) -> Iterator[Block]:
    """Yield a chain's blocks in order, up to block `last_number`, or all blocks if it is None."""
    values = {"organization_id": organization_id, "upto": last_number, "max_rows": _BLOCKS_PER_READ}
    last_read_number = 0
    while True:
        values["after"] = last_read_number
        rows = db.session().execute(_BLOCKS, values).all()
        for row in rows:
            yield Block(row[0], row[1], row[2], bytes(row[3]), bytes(row[4]))
        if not rows:
            return
        last_read_number = rows[-1][0]


def find_first_unsigned_position(organization_id: UUID) -> int | None:
    """Return the position of the first block that the signed head does not cover, or None.

    If the chain has no head, returns the position of its first block, or None if it has no blocks.
    """
    position: int | None = db.session().scalar(
        _FIRST_UNSIGNED_POSITION, {"organization_id": organization_id}
    )
    return position


def list_chains() -> list[tuple[UUID, str | None]]:
    """Return the organization id and slug of every chain that exists or should exist.

    The chains are sorted by slug. The slug is None if no organization has the id.
    """
    return [(row[0], row[1]) for row in db.session().execute(_CHAINS)]


def find_chain_by_slug(slug: str) -> tuple[UUID, str | None] | None:
    """Return the organization id and slug of a chain, or None if the slug is unknown."""
    row = db.session().execute(_CHAIN, {"slug": slug}).first()
    return None if row is None else (row[0], row[1])


def count_entries(organization_id: UUID) -> EntryCounts:
    """Count a chain's existing entries, entries in blocks and pending entries in one snapshot."""
    row = db.session().execute(_COUNTS, {"organization_id": organization_id}).one()
    return EntryCounts(int(row[0]), int(row[1]), int(row[2]))


def list_unchained_ids(organization_id: UUID, limit: int) -> list[UUID]:
    """Return up to `limit` ids of entries that are neither in a block nor pending."""
    values = {"organization_id": organization_id, "max_rows": limit}
    return list(db.session().scalars(_UNCHAINED, values))


def get_first_hash(organization_id: UUID) -> bytes | None:
    """Return the hash of a chain's first block, or None if the chain has no blocks.

    If the hash changes, the chain was erased and a new chain has replaced it.
    """
    first_hash = db.session().scalar(_FIRST_HASH, {"organization_id": organization_id})
    return None if first_hash is None else bytes(first_hash)


def has_valid_start(organization_id: UUID) -> bool:
    """Return whether the chain's first entry is a valid start of the log.

    A log begins with the creation of the organization, with the start of auditing or, if the
    organization was closed, with its erasure. Also returns True if the first entry or the
    organization does not exist.
    """
    is_valid: bool | None = db.session().scalar(_VALID_START, {"organization_id": organization_id})
    return is_valid is not False
