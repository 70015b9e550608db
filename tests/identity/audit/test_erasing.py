"""Erasing an organization's log: one entry remains, and a new chain begins with it."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import InternalError

from app.identity.audit import queries, service
from app.kit import audit, db, tenancy
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.labels import make_labeled
from tests.identity.audit.conftest import Entries, Owner, append_entries, verify

PROOF = {"artifacts": 12, "files": 30, "bytes": 4096}


def _set_status(org: Org, status: str) -> None:
    run_sql(org, "UPDATE organizations SET status = :status WHERE id = :org", status=status)


def _erase(org: Org) -> UUID:
    with (
        org.app.app_context(),
        tenancy.organization(org.id),
        audit.bind_actor("system", None, "organizations.erase", operation="organizations.erase"),
        db.transaction() as session,
    ):
        session.execute(
            text("UPDATE organizations SET status = 'erased', name = '' WHERE id = :id"),
            {"id": org.id},
        )
        return service.erase(org.id, PROOF)


def test_one_entry_remains_and_is_verified(org: Org, entries: Entries, owner_sql: Owner) -> None:
    make_labeled(org, 50)
    append_entries(org)
    (head,) = owner_sql("SELECT * FROM audit_heads WHERE organization_id = %s", org.id)
    _set_status(org, "closed")
    final = _erase(org)
    (entry,) = entries(org.id)
    assert entry.id == final
    assert (entry.action, entry.actor_label) == ("organizations.erase", "organizations.erase")
    assert (entry.target_id, entry.target_label) == (org.id, org.slug)
    assert entry.changes == {
        "artifacts": [None, 12],
        "files": [None, 30],
        "bytes": [None, 4096],
        "audit_log": [None, {"entries": head.entries, "head": bytes(head.hash).hex()}],
    }
    report = verify(org)
    assert report.ok, report.findings
    assert (report.entries, report.unsealed) == (1, 0)


def test_verifying_during_an_erasure_finds_no_fault(
    org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_labeled(org, 50)
    append_entries(org)
    _set_status(org, "closed")
    read = queries.get_digests

    def read_after_erasure(ids: Any) -> Any:
        # Appending the entry of the erasure reads them too.
        monkeypatch.setattr(queries, "get_digests", read)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(_erase, org).result()
        return read(ids)

    monkeypatch.setattr(queries, "get_digests", read_after_erasure)
    report = verify(org)
    assert report.ok, report.findings
    assert (report.chains, report.entries) == (1, 1)


def test_no_previous_entry_is_left(org: Org, owner_sql: Owner) -> None:
    made = org.api("owner").post(
        "/webhooks", json={"url": "http://127.0.0.2:9/x", "events": ["tag_set.accepted"]}
    )
    _set_status(org, "closed")
    _erase(org)
    sql = "SELECT count(*) AS n FROM audit_entries e WHERE e::text LIKE %s"
    assert owner_sql(sql, f"%{made.json['data']['id']}%")[0].n == 0


def test_the_new_chain_continues(org: Org, entries: Entries) -> None:
    _set_status(org, "closed")
    _erase(org)
    _set_status(org, "closed")
    assert append_entries(org) == 1
    report = verify(org)
    assert report.ok
    assert report.entries == len(entries(org.id)) == 2


def test_an_organization_that_is_not_closed_is_not_erased(org: Org, entries: Entries) -> None:
    before = len(entries(org.id))
    with org.app.app_context(), tenancy.organization(org.id):
        with pytest.raises(InternalError, match="not closed"):
            service.erase(org.id, PROOF)
        db.session().rollback()
    assert len(entries(org.id)) == before


def test_a_failed_erasure_changes_nothing(org: Org, entries: Entries) -> None:
    _set_status(org, "closed")
    before = len(entries(org.id))
    with org.app.app_context(), tenancy.organization(org.id):
        service.erase(org.id, PROOF)
        db.session().rollback()
    assert len(entries(org.id)) == before


def test_the_final_entry_cannot_be_replaced(org: Org, entries: Entries, owner_sql: Owner) -> None:
    _set_status(org, "closed")
    final = _erase(org)
    owner_sql(
        "UPDATE audit_entries SET changes = jsonb_set(changes, '{files}', '[null, 0]')"
        " WHERE id = %s",
        final,
    )
    (finding,) = verify(org).findings
    assert (finding.kind, finding.entry_id) == ("edited", final)
