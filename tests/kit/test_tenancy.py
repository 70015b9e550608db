"""Isolation of organizations by the ORM and by PostgreSQL, each tested alone."""

import pytest
from flask import Flask
from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.exc import DataError, ProgrammingError, StatementError

from app.delivery.notifications.models import Notification
from app.kit import container, db, tenancy
from app.kit.tenancy import TENANT_TABLES, TenantNotBoundError
from tests.factories import Org


def _notify(org: Org, title: str) -> None:
    with org.transaction() as session:
        session.add(Notification(user_id=org.users["owner"], kind="mention", title=title))


def test_orm_statements_see_the_bound_organization_only(org: Org, other_org: Org) -> None:
    _notify(org, "ours")
    _notify(other_org, "theirs")
    with org.app.app_context(), tenancy.organization(org.id):
        assert db.session().scalars(select(Notification.title)).all() == ["ours"]
        changed = db.session().execute(update(Notification).values(title="x"))
        assert changed.rowcount == 1  # type: ignore[attr-defined]
        removed = db.session().execute(delete(Notification))
        assert removed.rowcount == 1  # type: ignore[attr-defined]
        db.session().rollback()


def test_orm_raises_when_nothing_is_bound(org: Org) -> None:
    with org.app.app_context():
        with pytest.raises(TenantNotBoundError):
            db.session().scalars(select(Notification)).all()
        with pytest.raises(StatementError, match="TenantNotBoundError"):
            db.session().execute(
                insert(Notification).values(user_id=org.users["owner"], kind="x", title="x")
            )


def test_postgresql_holds_the_line_without_the_orm(org: Org, other_org: Org) -> None:
    _notify(other_org, "theirs")
    sql = text("SELECT count(*) FROM notifications")
    with org.app.app_context():
        with tenancy.organization(org.id):
            assert db.session().execute(sql).scalar() == 0
        assert db.session().execute(sql).scalar() == 0
        with tenancy.organization(other_org.id):
            assert db.session().execute(sql).scalar() == 1


def test_postgresql_refuses_a_row_for_another_organization(org: Org, other_org: Org) -> None:
    with org.app.app_context(), tenancy.organization(org.id):
        foreign = Notification(
            organization_id=other_org.id, user_id=org.users["owner"], kind="x", title="x"
        )
        db.session().add(foreign)
        with pytest.raises(ProgrammingError, match="row-level security"):
            db.session().flush()
        db.session().rollback()


def test_scope_holds_after_a_savepoint_was_rolled_back(org: Org) -> None:
    _notify(org, "ours")
    with org.app.app_context():
        session = db.session()
        session.execute(text("SELECT 1"))
        savepoint = session.begin_nested()
        with tenancy.organization(org.id):
            assert session.scalar(text("SELECT count(*) FROM notifications")) == 1
            savepoint.rollback()
            assert session.scalar(text("SELECT count(*) FROM notifications")) == 1
        assert session.scalar(text("SELECT count(*) FROM notifications")) == 0


def test_a_savepoint_is_gone_back_to_after_a_failed_statement(org: Org) -> None:
    with org.transaction() as session:
        for _ in range(2):
            with pytest.raises(DataError), session.begin_nested():
                session.execute(text("SELECT 1 / 0"))
            assert session.scalars(select(Notification)).all() == []


def test_scope_does_not_leak_through_the_pool(org: Org) -> None:
    _notify(org, "ours")
    for _ in range(20):
        with org.app.app_context(), tenancy.organization(org.id):
            db.set_read_only(read_only=True)
            assert db.session().scalar(text("SELECT count(*) FROM notifications")) == 1
            db.set_read_only(read_only=False)
        with org.app.app_context():
            assert db.session().scalar(text("SELECT count(*) FROM notifications")) == 0


def test_every_tenant_table_has_a_forced_policy(app: Flask) -> None:
    sql = text(
        "SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, count(p.polname)"
        " FROM pg_class c JOIN pg_attribute a"
        " ON a.attrelid = c.oid AND a.attname = 'organization_id'"
        " LEFT JOIN pg_policy p ON p.polrelid = c.oid"
        " WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace GROUP BY 1, 2, 3"
    )
    # Read or written as their owner, by functions and a view alone (see the first migration, the
    # one of search, and the audit migration).
    audit = {"audit_entries", "audit_unsealed", "audit_blocks", "audit_heads"}
    # The audit log's functions write to the deltas of counts, too. Memberships that are deleted
    # with an account are metered as the owner.
    unforced = {"artifact_texts", "artifact_search", "count_deltas", "usage_changes", *audit}
    # A session is a person's; its organization is the one that it is good for, null for all.
    above = {"sessions"}
    with app.app_context():
        found = {name: (on, forced, n) for name, on, forced, n in db.session().execute(sql)}
    assert set(found) >= TENANT_TABLES
    # A person's, not an organization's: the column tells whose identity provider vouched.
    del found["sessions"]
    for name, (on, forced, policies) in found.items():
        if name in above:
            assert name not in TENANT_TABLES
            continue
        assert on, name
        assert policies, name
        assert forced or name in unforced, name


def test_the_application_role_can_bypass_nothing(app: Flask) -> None:
    sql = text("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
    with app.app_context():
        assert db.session().execute(sql).one() == (False, False)
        assert (
            db.session().scalar(text("SELECT current_user")) == container.settings().database_role
        )


def test_foreign_keys_between_tenant_tables_carry_the_organization() -> None:
    tenant = {t for t in db.Base.metadata.tables.values() if t.name in TENANT_TABLES}
    for table in tenant:
        for key in table.foreign_key_constraints:
            if key.referred_table in tenant:
                assert "organization_id" in key.column_keys, (table.name, key.name)
