"""SQL queries that delete an organization's rows and unused accounts, and count deleted rows."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Table, and_, delete, exists, func, select, text, tuple_
from sqlalchemy.exc import IntegrityError

from app.identity.auth.models import Session
from app.identity.organizations.models import Membership, Organization
from app.identity.users.models import User
from app.kit import db, tenancy

BATCH_SIZE = 1000
MEMBER_BATCH_SIZE = 10
"""The maximum number of members that one transaction erases.

PostgreSQL looks for records of each deleted account in every table that refers to accounts, even in
tables without an index on the reference. In a large database, that can take a second for each
account.
"""
_TABLES_ERASED_FIRST = ("jobs", "outbox_events")
_AUDIT_TABLE_PREFIX = "audit_"
_MEMBERSHIP_TABLE = "memberships"
_DELETE_MEMBERSHIPS = text(
    """
    DELETE FROM memberships WHERE organization_id = :organization_id AND user_id IN (
        SELECT user_id FROM memberships WHERE organization_id = :organization_id
        ORDER BY user_id LIMIT :batch)
    RETURNING user_id
    """
)
_ADD_TO_ERASURE = text(
    """
    UPDATE organizations SET erasure = jsonb_set(erasure, CAST(:path AS text[]),
        to_jsonb(coalesce(CAST(erasure #>> CAST(:path AS text[]) AS bigint), 0) + :number))
    WHERE id = :organization_id
    """
)

_RECORD_FILE_TOTALS = text(
    """
    UPDATE organizations
    SET erasure = erasure || jsonb_build_object('files', :files, 'bytes', CAST(:bytes AS bigint))
    WHERE id = :organization_id AND NOT jsonb_exists(erasure, 'files')
    """
)


class DueOrganization(NamedTuple):
    """A closed organization whose grace period is over."""

    id: UUID
    closed_at: datetime | None
    has_erasure_begun: bool


def list_due_organizations() -> list[DueOrganization]:
    """Return the closed organizations whose grace period is over."""
    statement = select(
        Organization.id, Organization.closed_at, Organization.erasure.is_not(None)
    ).where(Organization.status == "closed", Organization.erase_after <= func.now())
    return [DueOrganization(*row) for row in db.session().execute(statement)]


def list_tables() -> list[Table]:
    """Return the tables from which an organization's rows are deleted, in the order of deletion.

    Memberships, the audit log and the tables that the operator must keep are not included. Jobs
    come first, so that no job can work on the organization anymore. Every other table comes after
    the tables that reference it.
    """
    tables = {
        table.name: table
        for table in reversed(db.Base.metadata.sorted_tables)
        if "organization_id" in table.columns
        # Triggers delete derived rows: counts with the rows that they count, and the amounts of
        # usage when the status of the organization becomes `erased`.
        and not table.info.get("derived")
        and not table.info.get("kept")
        and table.name != _MEMBERSHIP_TABLE
        and not table.name.startswith(_AUDIT_TABLE_PREFIX)
    }
    return [tables.pop(name) for name in _TABLES_ERASED_FIRST] + list(tables.values())


def erase_batch(table: Table, organization_id: UUID) -> int:
    """Erase up to `BATCH_SIZE` rows of an organization from a table; return how many were erased.

    Returns 0 if the table has no more rows of the organization.
    """
    keys = list(table.primary_key.columns)
    in_organization = table.columns.organization_id == organization_id
    batch = select(*keys).where(in_organization, *_build_leaf_conditions(table)).limit(BATCH_SIZE)
    statement = delete(table).where(in_organization, tuple_(*keys).in_(batch))
    with tenancy.organization(organization_id):
        return int(db.session().execute(statement).rowcount)  # type: ignore[attr-defined]


def _build_leaf_conditions(table: Table) -> list[ColumnElement[bool]]:
    """Build conditions for the rows of a table to which no row of the same table refers.

    The rows of a tree, such as teams, are deleted from the leaves up.
    """
    conditions: list[ColumnElement[bool]] = []
    for key in table.foreign_key_constraints:
        if key.referred_table is table:
            child = table.alias()
            pairs = [(child.columns[e.parent.name], e.column) for e in key.elements]
            matches = and_(*(column == target for column, target in pairs))
            conditions.append(~exists().where(matches))
    return conditions


def erase_memberships(organization_id: UUID) -> list[UUID]:
    """Erase up to `MEMBER_BATCH_SIZE` memberships in an organization, and return the user ids."""
    values = {"organization_id": organization_id, "batch": MEMBER_BATCH_SIZE}
    with tenancy.organization(organization_id):
        return list(db.session().scalars(_DELETE_MEMBERSHIPS, values))


def erase_users(user_ids: Sequence[UUID], *, closed_at: datetime) -> int:
    """Erase the users in `user_ids` whose accounts are unused; return how many were erased.

    An account is kept if it is a member of an organization, has a valid session, was used after
    `closed_at`, or is referenced by records of another organization. Turns off the statement
    timeout until the transaction ends. Call this function within `tenancy.across_organizations`.
    """
    db.disable_statement_timeout()
    is_member = exists().where(Membership.user_id == User.id)
    is_used = exists().where(
        Session.user_id == User.id,
        (Session.last_seen_at >= closed_at)
        | (Session.revoked_at.is_(None) & (Session.expires_at > func.now())),
    )
    statement = select(User.id).where(~is_member, ~is_used)
    candidate_ids = list(db.session().scalars(statement.where(User.id.in_(user_ids))))
    # A candidate may have signed in or joined an organization meanwhile, so check again. While the
    # accounts are locked, no new record can refer to them.
    candidates = select(User.id).where(User.id.in_(candidate_ids))
    db.session().execute(candidates.order_by(User.id).with_for_update())
    unused_ids = list(db.session().scalars(statement.where(User.id.in_(candidate_ids))))
    if _delete_users(unused_ids):
        return len(unused_ids)
    # At least one account is referenced and must be kept. Try to delete each account separately.
    return sum(_delete_users([user_id]) for user_id in unused_ids)


def _delete_users(user_ids: list[UUID]) -> bool:
    """Delete all of the accounts or none of them, and return whether they were deleted.

    No account is deleted if another record references one of them.
    """
    try:
        with db.session().begin_nested():
            db.execute_bulk(delete(User).where(User.id.in_(user_ids)))
    except IntegrityError:
        return False
    return True


def add_to_erasure_counter(organization_id: UUID, *path: str, count: int) -> None:
    """Add `count` to the counter at `path` in the organization's `erasure` column.

    Call this function in the transaction that deletes the counted rows.
    """
    values = {"organization_id": organization_id, "path": list(path), "number": count}
    db.session().execute(_ADD_TO_ERASURE, values)


def record_file_totals(organization_id: UUID, file_count: int, total_bytes: int) -> None:
    """Record the number and total size of the organization's files, unless already recorded."""
    values = {"organization_id": organization_id, "files": file_count, "bytes": total_bytes}
    db.session().execute(_RECORD_FILE_TOTALS, values)


def list_nonempty_tables(organization_id: UUID) -> list[str]:
    """Return the names of the tables in which rows of an organization still have to be erased."""
    all_tables = [*list_tables(), db.Base.metadata.tables[_MEMBERSHIP_TABLE]]
    return [
        table.name
        for table in all_tables
        if db.session().scalar(
            select(exists().where(table.columns.organization_id == organization_id))
        )
    ]
