"""Deletion of old rows in batches, so that no statement and no lock lasts long."""

from collections.abc import Mapping

from sqlalchemy import text

from app.kit import db
from app.kit.db import Checkpoint

BATCH_SIZE = 5000
"""The maximum number of rows that one transaction deletes."""


def purge(
    table: str,
    condition: str,
    checkpoint: Checkpoint,
    values: Mapping[str, object] | None = None,
) -> int:
    """Delete the rows of `table` that match `condition`, and return how many were deleted.

    `checkpoint` commits after each batch. Locked rows are skipped. The condition needs an index,
    because every batch looks up its rows again. `table` and `condition` must be constants in the
    code, never user input. `values` are the parameters for the condition.
    """
    deleted_count = 0
    while True:
        batch_count = delete_batch(table, condition, values or {}, BATCH_SIZE)
        checkpoint()
        deleted_count += batch_count
        if batch_count < BATCH_SIZE:
            return deleted_count


def delete_batch(table: str, condition: str, values: Mapping[str, object], limit: int) -> int:
    """Delete up to `limit` rows that match `condition`, and return how many were deleted.

    Locked rows are skipped. `table` and `condition` must be constants in the code, never user
    input.
    """
    # PostgreSQL builds the array only once. It might run a subquery in IN repeatedly, and would
    # then delete more rows than the limit.
    statement = text(
        f"DELETE FROM {table} WHERE ctid = ANY(ARRAY("  # noqa: S608 - constants in the code
        f"SELECT ctid FROM {table} WHERE {condition} LIMIT :batch FOR UPDATE SKIP LOCKED))"
    )
    result = db.session().execute(statement, {**values, "batch": limit})
    return int(result.rowcount)  # type: ignore[attr-defined]
