"""SQL queries for the claims on the rows of a table: on artifacts, or on tag sets under review."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Boolean, TextClause, func, literal_column, not_, text

from app.identity.members.eligibility import build_eligible_members
from app.kit import db, tenancy
from app.kit.permissions import Role
from app.workflow.tag_sets import claimable

BATCH_SIZE = 1000

_RELEASE = """
    WITH claimed AS (
        SELECT id, claim_user_id FROM {table}
        WHERE organization_id = :org AND id = :id AND NOT {unclaimed}
          AND (CAST(:user_id AS uuid) IS NULL OR claim_user_id = :user_id)
        FOR NO KEY UPDATE
    )
    UPDATE {table} SET claim_user_id = NULL, claim_expires_at = NULL{time_sql}
    FROM claimed WHERE {table}.organization_id = :org AND {table}.id = claimed.id
    RETURNING claimed.claim_user_id
"""
# No batches are needed, because a user has few claims. All code locks rows in the order of their
# ids, to avoid deadlocks.
_LOCK_INELIGIBLE = """
    SELECT organization_id, id FROM {table}
    WHERE organization_id = :org AND claim_user_id = :user_id AND {ineligible}
    ORDER BY id FOR NO KEY UPDATE
"""
# Locked rows are skipped until the next run, so that the cleanup never blocks.
_LOCK_EXPIRED = """
    SELECT organization_id, id FROM {table}
    WHERE claim_user_id IS NOT NULL AND claim_expires_at <= now()
    LIMIT :batch FOR NO KEY UPDATE SKIP LOCKED
"""
# An earlier statement has locked the rows, so this statement sees all of their tag sets.
_END_CLAIMS = """
    UPDATE {table} SET claim_user_id = NULL, claim_expires_at = NULL{time_sql}{status_sql}
    FROM unnest(CAST(:organization_ids AS uuid[]), CAST(:ids AS uuid[]))
        AS locked (organization_id, id)
    WHERE {table}.organization_id = locked.organization_id AND {table}.id = locked.id
"""


def build_ineligible_condition(role: Role, user_id: str = ":user_id") -> str:
    """Build the SQL condition that a user is not an eligible member with at least `role`.

    `user_id` is an SQL expression. The parameter `:org` is the organization's id.
    """
    return f"""NOT EXISTS (SELECT FROM {build_eligible_members(role)}
        WHERE member.organization_id = :org AND member.user_id = {user_id})"""


def build_claim(user_id: UUID, minutes: int) -> dict[str, Any]:
    """Build the column values of a claim that expires after `minutes`."""
    expires_at = func.now() + timedelta(minutes=minutes)
    return {"claim_user_id": user_id, "claim_expires_at": expires_at}


class ClaimableTable:
    """A table whose rows users with at least `role` can claim.

    `time_sql` and `status_sql` are SQL assignments, each after a comma, for the UPDATE that ends a
    claim: `time_sql` is always added, and `status_sql` only if a background job ends the claim.
    """

    def __init__(self, table: str, role: Role, *, time_sql: str = "", status_sql: str = "") -> None:
        unclaimed = claimable.UNCLAIMED.format(of=f"{table}.")
        self.is_unclaimed = literal_column(unclaimed, Boolean)
        self.is_claimed = not_(self.is_unclaimed)
        self._release = text(_RELEASE.format(table=table, unclaimed=unclaimed, time_sql=time_sql))
        ineligible = build_ineligible_condition(role)
        self._lock_ineligible = text(_LOCK_INELIGIBLE.format(table=table, ineligible=ineligible))
        self._lock_expired = text(_LOCK_EXPIRED.format(table=table))
        self._end = text(_END_CLAIMS.format(table=table, time_sql=time_sql, status_sql=status_sql))

    def release(self, row_id: UUID, user_id: UUID | None) -> UUID | None:
        """Release a claimed row, and return the id of the user who had claimed it.

        If `user_id` is None, the claim of any user is ended; otherwise only the claim of that user.
        Returns None if there is no such unexpired claim.
        """
        values = {"org": tenancy.current_organization_id(), "id": row_id, "user_id": user_id}
        claimed_by: UUID | None = db.session().scalar(self._release, values)
        return claimed_by

    def release_all(self, user_id: UUID) -> list[UUID]:
        """Release all rows that a user has claimed, unless the user is eligible; return the ids."""
        values = {"org": tenancy.current_organization_id(), "user_id": user_id}
        return self._end_claims(self._lock_ineligible, values)

    def expire_claims(self) -> int:
        """End at most BATCH_SIZE expired claims of all organizations; return how many ended."""
        return len(self._end_claims(self._lock_expired, {"batch": BATCH_SIZE}))

    def _end_claims(self, lock_sql: TextClause, lock_values: Mapping[str, object]) -> list[UUID]:
        rows = db.session().execute(lock_sql, lock_values).all()
        if rows:
            organization_ids = [str(row.organization_id) for row in rows]
            values = {"organization_ids": organization_ids, "ids": [str(row.id) for row in rows]}
            db.session().execute(self._end, values)
        return [row.id for row in rows]
