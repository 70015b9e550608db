"""SQL for erasing: find the tables with an organization's rows, and delete the rows."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Table, and_, delete, exists, func, select, text, tuple_
from sqlalchemy.exc import IntegrityError

from app.identity.auth.models import Session
from app.identity.organizations.models import Membership, Organization
from app.identity.users.models import User
from app.kit import db, tenancy

BATCH = 1000
_FIRST = ("jobs", "outbox_events")
_AUDIT = "audit_"
_MEMBERS = "memberships"
_DELETE_MEMBERSHIPS = text(
    """
    DELETE FROM memberships WHERE organization_id = :organization_id AND user_id IN (
        SELECT user_id FROM memberships WHERE organization_id = :organization_id
        ORDER BY user_id LIMIT :batch)
    RETURNING user_id
    """
)
_COUNT = text(
    """
    UPDATE organizations SET erasure = jsonb_set(erasure, CAST(:path AS text[]),
        to_jsonb(coalesce(CAST(erasure #>> CAST(:path AS text[]) AS bigint), 0) + :number))
    WHERE id = :organization_id
    """
)

_FILES = text(
    """
    UPDATE organizations
    SET erasure = erasure || jsonb_build_object('files', :files, 'bytes', CAST(:bytes AS bigint))
    WHERE id = :organization_id AND NOT jsonb_exists(erasure, 'files')
    """
)


def list_due() -> list[UUID]:
    """Return the closed organizations whose grace period is over."""
    statement = select(Organization.id).where(
        Organization.status == "closed", Organization.erase_after <= func.now()
    )
    return list(db.session().scalars(statement))


def lock_organization(organization_id: UUID) -> Organization:
    """Return the organization, locked so that not even a row that references it can be inserted."""
    statement = (
        select(Organization)
        .where(Organization.id == organization_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    return db.session().execute(statement).scalar_one()


def list_tables() -> list[Table]:
    """Return every table with rows of organizations, in the order of deletion.

    Memberships, the audit log and what the operator has to keep are not included. Jobs come first,
    so that nothing works on the organization any more. Then each table comes after those that
    reference it.
    """
    tables = {
        table.name: table
        for table in reversed(db.Base.metadata.sorted_tables)
        if "organization_id" in table.columns
        # Derived rows are deleted together with the rows that they come from.
        and not table.info.get("derived")
        and not table.info.get("kept")
        and table.name != _MEMBERS
        and not table.name.startswith(_AUDIT)
    }
    return [tables.pop(name) for name in _FIRST] + list(tables.values())


def erase_batch(table: Table, organization_id: UUID) -> int:
    """Delete up to `BATCH` of an organization's rows and return their number, 0 if none is left."""
    keys = list(table.primary_key.columns)
    belongs = table.columns.organization_id == organization_id
    batch = select(*keys).where(belongs, *_build_leaf_conditions(table)).limit(BATCH)
    statement = delete(table).where(belongs, tuple_(*keys).in_(batch))
    with tenancy.organization(organization_id):
        return int(db.session().execute(statement).rowcount)  # type: ignore[attr-defined]


def _build_leaf_conditions(table: Table) -> list[ColumnElement[bool]]:
    """Return the conditions for rows that no row of the same table references.

    Rows of a tree, such as teams, are deleted from the leaves up.
    """
    conditions: list[ColumnElement[bool]] = []
    for key in table.foreign_key_constraints:
        if key.referred_table is table:
            child = table.alias()
            pairs = [(child.columns[e.parent.name], e.column) for e in key.elements]
            conditions.append(~exists().where(and_(*(below == above for below, above in pairs))))
    return conditions


def erase_memberships(organization_id: UUID) -> list[UUID]:
    """Delete up to `BATCH` memberships, and return the ids of their users."""
    values = {"organization_id": organization_id, "batch": BATCH}
    with tenancy.organization(organization_id):
        return list(db.session().scalars(_DELETE_MEMBERSHIPS, values))


def erase_users(user_ids: Sequence[UUID], *, closed_at: datetime) -> int:
    """Delete those accounts that are no longer needed, and return their number.

    An account stays if it belongs to an organization, has a valid session or was used since
    `closed_at`, or if records of another organization reference it. Requires access across
    organizations.
    """
    is_member = exists().where(Membership.user_id == User.id)
    is_used = exists().where(
        Session.user_id == User.id,
        (Session.last_seen_at >= closed_at)
        | (Session.revoked_at.is_(None) & (Session.expires_at > func.now())),
    )
    statement = select(User.id).where(User.id.in_(user_ids), ~is_member, ~is_used)
    unneeded_ids = list(db.session().scalars(statement))
    if _delete_users(unneeded_ids):
        return len(unneeded_ids)
    return sum(_delete_users([user_id]) for user_id in unneeded_ids)


def _delete_users(user_ids: list[UUID]) -> bool:
    """Delete all of the accounts, or none if another record references one of them."""
    try:
        with db.session().begin_nested():
            db.session().execute(
                delete(User)
                .where(User.id.in_(user_ids))
                .execution_options(synchronize_session=False)
            )
    except IntegrityError:
        return False
    return True


def add_to_erasure(organization_id: UUID, *path: str, number: int) -> None:
    """Add to a number in the organization's `erasure`, in the transaction that deletes the rows."""
    values = {"organization_id": organization_id, "path": list(path), "number": number}
    db.session().execute(_COUNT, values)


def record_files(organization_id: UUID, files: int, size: int) -> None:
    """Record the number and size of the files, unless recorded before."""
    values = {"organization_id": organization_id, "files": files, "bytes": size}
    db.session().execute(_FILES, values)


def list_nonempty_tables(organization_id: UUID) -> list[str]:
    """Return the names of the tables that still have rows."""
    all_tables = [*list_tables(), db.Base.metadata.tables[_MEMBERS]]
    return [
        table.name
        for table in all_tables
        if db.session().scalar(
            select(exists().where(table.columns.organization_id == organization_id))
        )
    ]
