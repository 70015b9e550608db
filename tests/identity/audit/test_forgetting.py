"""Entries about a deleted account are removed, and the chain can still be verified."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import delete

from app.identity.audit import queries
from app.identity.audit.models import NO_ORGANIZATION
from app.identity.audit.verifying import ChainVerifier, Finding, VerificationReport
from app.identity.users.models import User
from app.kit import tenancy
from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.orgs import PASSWORD, transaction_across_organizations
from tests.identity.audit.conftest import Owner, append_entries


def _list_findings(org: Org) -> list[Finding]:
    report = VerificationReport()
    with org.app.app_context(), tenancy.across_organizations(reason="a test verifies a chain"):
        ChainVerifier(NO_ORGANIZATION, None, report).verify(lambda: None)
    return report.findings


@pytest.fixture(autouse=True)
def _start_chain(owner_sql: Owner) -> None:
    """Delete the entries of earlier tests: each created accounts, and a long chain is slow."""
    for table in ("audit_entries", "audit_unsealed", "audit_blocks", "audit_heads"):
        owner_sql(f"DELETE FROM {table} WHERE organization_id = %s", NO_ORGANIZATION)
    owner_sql("DELETE FROM audit_forgotten")


def _remove_entries(org: Org, user_id: UUID, *, delete_account: bool = False) -> int:
    with transaction_across_organizations(org.app) as session:
        if delete_account:
            session.execute(delete(User).where(User.id == user_id))
        return queries.remove_user_entries([user_id])


def _leave(org: Org, user_id: UUID) -> int:
    return _remove_entries(org, user_id, delete_account=True)


def _get_forget_entry(owner_sql: Owner) -> Any:
    (entry,) = owner_sql(
        "SELECT * FROM audit_entries WHERE action = 'users.forget' ORDER BY id DESC LIMIT 1"
    )
    return entry


@pytest.fixture
def person(org: Org) -> Iterator[tuple[UUID, str]]:
    """Create a user who has logged in and out; return id and email address."""
    user_id = org.add_user("leaver", "viewer")
    email = org.email("leaver")
    login = org.anonymous().post("/auth/login", {"email": email, "password": PASSWORD})
    assert login.status_code == 200
    append_entries(org, NO_ORGANIZATION)
    yield user_id, email
    append_entries(org, NO_ORGANIZATION)
    assert _list_findings(org) == []


def _count_mentions(owner_sql: Owner, *texts: str) -> int:
    sql = "SELECT count(*) AS n FROM audit_entries e WHERE organization_id = %s AND e::text LIKE %s"
    return sum(owner_sql(sql, NO_ORGANIZATION, f"%{text}%")[0].n for text in texts)


def test_only_the_entry_about_the_removal_remains(
    org: Org, person: tuple[UUID, str], owner_sql: Owner
) -> None:
    user_id, email = person
    assert _count_mentions(owner_sql, email) >= 3
    removed = _leave(org, user_id)
    assert removed >= 3
    assert _count_mentions(owner_sql, email) == 0
    entry = _get_forget_entry(owner_sql)
    assert entry.changes["accounts"] == [None, 1]
    assert entry.changes["entries"] == [None, removed]
    assert str(user_id) not in str(entry)
    append_entries(org, NO_ORGANIZATION)
    assert _list_findings(org) == []


def test_an_existing_account_is_not_forgotten(
    org: Org, person: tuple[UUID, str], owner_sql: Owner
) -> None:
    assert _remove_entries(org, person[0]) == 0
    assert _count_mentions(owner_sql, person[1]) >= 3


def test_forgetting_twice_removes_nothing_more(org: Org, person: tuple[UUID, str]) -> None:
    _leave(org, person[0])
    assert _remove_entries(org, person[0]) == 0


def test_pending_entries_are_forgotten_too(org: Org, owner_sql: Owner) -> None:
    user_id = org.add_user("leaver", "viewer")
    email = org.email("leaver")
    assert _leave(org, user_id) >= 2
    append_entries(org, NO_ORGANIZATION)
    assert _count_mentions(owner_sql, email) == 0
    assert _list_findings(org) == []


def test_a_false_record_of_forgetting_is_found(
    org: Org, person: tuple[UUID, str], owner_sql: Owner
) -> None:
    _leave(org, person[0])
    append_entries(org, NO_ORGANIZATION)
    forgetting = _get_forget_entry(owner_sql)
    (other,) = owner_sql(
        "SELECT * FROM audit_entries WHERE target_id = %s AND action = 'users.create'",
        org.users["admin"],
    )
    owner_sql("CREATE TEMP TABLE kept AS SELECT * FROM audit_entries WHERE id = %s", other.id)
    owner_sql("DELETE FROM audit_entries WHERE id = %s", other.id)
    owner_sql("INSERT INTO audit_forgotten VALUES (%s, %s)", other.id, forgetting.id)
    (finding,) = _list_findings(org)
    assert (finding.kind, finding.entry_id) == ("broken", forgetting.id)
    owner_sql("DELETE FROM audit_forgotten WHERE entry_id = %s", other.id)
    (finding,) = _list_findings(org)
    assert (finding.kind, finding.entry_id) == ("removed", other.id)
    owner_sql("INSERT INTO audit_entries SELECT * FROM kept")


# A copy of the table with its indexes, long enough that a scan costs more than they do.
_LONG_LOG = """
    CREATE TEMP TABLE audit_entries (LIKE public.audit_entries INCLUDING INDEXES);
    INSERT INTO audit_entries (id, organization_id, at, actor_kind, actor_id, actor_label, action,
        target_type, target_id, changes)
    SELECT gen_random_uuid(), CAST(%s AS uuid), clock_timestamp(), 'user', gen_random_uuid(), '',
        'sessions.create', 'sessions', gen_random_uuid(),
        jsonb_build_object('user_id', jsonb_build_array(NULL, gen_random_uuid()))
    FROM generate_series(1, 5000);
    ANALYZE audit_entries
"""


def test_entries_are_found_by_indexes_however_long_the_log_is(owner_sql: Owner) -> None:
    (function,) = owner_sql("SELECT prosrc FROM pg_proc WHERE proname = 'audit_forget'")
    own = function.prosrc.split("WITH own AS (")[1].split("), of_sessions AS")[0]
    people = f"CAST(ARRAY['{uuid7()}'] AS {{}}[])"
    sql = own.replace("nobody", f"'{NO_ORGANIZATION}'")
    sql = sql.replace("(people)", f"({people.format('uuid')})")
    sql = sql.replace("(as_text)", f"({people.format('text')})")
    owner_sql(_LONG_LOG, str(NO_ORGANIZATION))
    plan = "\n".join(row[0] for row in owner_sql(f"EXPLAIN {sql}"))
    assert "Seq Scan" not in plan
    for column in ("(actor_id = ANY", "(target_id = ANY", "'user_id'::text) ->> 1)"):
        conditions = [line for line in plan.splitlines() if "Index Cond" in line and column in line]
        assert conditions, plan
