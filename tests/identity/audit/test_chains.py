"""Hash chains: verification finds every manipulation that the tables' owner can make."""

from collections.abc import Callable
from contextlib import closing
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import psycopg2
import pytest
from sqlalchemy import text

from app.identity.audit import jobs as audit_jobs
from app.identity.audit import queries, service
from app.kit import db, jobs, tenancy
from app.kit.errors import ApiError
from app.kit.ids import uuid7
from devserver.postgres import EmbeddedPostgres
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.labels import make_labeled
from tests.factories.orgs import transaction_across_organizations
from tests.factories.queueing import run_concurrently
from tests.identity.audit.conftest import Entries, Owner, append_entries, verify

_COLUMNS = (
    "organization_id, at, actor_kind, actor_id, actor_label, operation, action, target_type,"
    " target_id, target_label, changes, request_id, ip_address"
)


def _change(org: Org, *names: str) -> None:
    for name in names:
        run_sql(org, "UPDATE organizations SET name = :name WHERE id = :org", name=name)


def _list_finding_kinds(org: Org) -> set[str]:
    return {finding.kind for finding in verify(org).findings}


@pytest.fixture
def chained_org(org: Org) -> Org:
    """Return an organization whose chain has three blocks."""
    append_entries(org)
    for n in range(2):
        _change(org, f"a{n}", f"b{n}")
        assert append_entries(org) == 2
    report = verify(org)
    assert report.ok, report.findings
    assert report.unsealed == 0
    return org


def test_an_untouched_chain_is_fine(chained_org: Org, entries: Entries) -> None:
    seen: list[tuple[int, int]] = []
    with chained_org.app.app_context():
        report = service.verify(
            chained_org.slug, progress=lambda done, all_: seen.append((done, all_))
        )
    count = len(entries(chained_org.id))
    assert (report.chains, report.entries) == (1, count)
    assert seen[-1] == (count, count)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_pending_entries_are_counted_and_not_a_fault(chained_org: Org) -> None:
    _change(chained_org, "later")
    report = verify(chained_org)
    assert report.ok
    assert report.unsealed == 1


@pytest.mark.parametrize(
    "edit",
    [
        "actor_label = 'somebody else'",
        'changes = changes || \'{"name": ["x", "y"]}\'',
        "at = at + interval '1 microsecond'",
        "action = 'organizations.create'",
        "ip_address = '192.0.2.1'",
        "target_id = NULL",
        "organization_id = gen_random_uuid()",
    ],
)
def test_an_edited_entry_is_found(
    chained_org: Org, entries: Entries, owner_sql: Owner, edit: str
) -> None:
    entry = entries(chained_org.id)[-2]
    owner_sql(f"UPDATE audit_entries SET {edit} WHERE id = %s", entry.id)
    report = verify(chained_org)
    (finding,) = report.findings
    assert (finding.kind, finding.entry_id) == ("edited", entry.id)
    assert finding.organization == chained_org.slug
    assert finding.position == len(entries(chained_org.id)) - 2 or "organization_id" in edit


def test_a_removed_entry_is_found(chained_org: Org, entries: Entries, owner_sql: Owner) -> None:
    entry = entries(chained_org.id)[2]
    owner_sql("DELETE FROM audit_entries WHERE id = %s", entry.id)
    (finding,) = verify(chained_org).findings
    assert (finding.kind, finding.entry_id, finding.position) == ("removed", entry.id, 2)


def test_a_chain_removed_and_recreated_is_found(chained_org: Org, owner_sql: Owner) -> None:
    for table in ("entries", "unsealed", "blocks", "heads"):
        owner_sql(f"DELETE FROM audit_{table} WHERE organization_id = %s", chained_org.id)
    _change(chained_org, "later")
    assert _list_finding_kinds(chained_org) == {"truncated"}
    append_entries(chained_org)
    assert _list_finding_kinds(chained_org) == {"truncated"}


def test_an_erased_log_of_an_active_organization_is_found(chained_org: Org) -> None:
    with chained_org.transaction() as session:
        status = "UPDATE organizations SET status = :s WHERE id = :o"
        session.execute(text(status), {"s": "closed", "o": chained_org.id})
        session.execute(text("SELECT audit_erase(:o, '{\"rows\": {}}')"), {"o": chained_org.id})
        session.execute(text(status), {"s": "active", "o": chained_org.id})
    append_entries(chained_org)
    assert _list_finding_kinds(chained_org) == {"truncated"}


def test_an_entry_removed_while_pending_is_found(
    chained_org: Org, entries: Entries, owner_sql: Owner
) -> None:
    _change(chained_org, "gone")
    owner_sql("DELETE FROM audit_entries WHERE id = %s", entries(chained_org.id)[-1].id)
    append_entries(chained_org)
    assert _list_finding_kinds(chained_org) == {"removed"}


def test_an_inserted_entry_is_found(chained_org: Org, entries: Entries, owner_sql: Owner) -> None:
    forged = uuid7()
    owner_sql(
        f"INSERT INTO audit_entries (id, {_COLUMNS}) SELECT %s, {_COLUMNS} FROM audit_entries"
        " WHERE id = %s",
        forged,
        entries(chained_org.id)[0].id,
    )
    (finding,) = verify(chained_org).findings
    assert (finding.kind, finding.entry_id) == ("inserted", forged)


def test_a_backdated_pending_entry_is_found(
    chained_org: Org, entries: Entries, owner_sql: Owner
) -> None:
    forged, old = uuid7(), _COLUMNS.replace(" at,", " at - interval '3 hours',")
    owner_sql(
        f"INSERT INTO audit_entries (id, {_COLUMNS}) SELECT %s, {old} FROM audit_entries"
        " WHERE id = %s",
        forged,
        entries(chained_org.id)[-1].id,
    )
    owner_sql(
        "INSERT INTO audit_unsealed (organization_id, entries) VALUES (%s, ARRAY[%s])",
        chained_org.id,
        forged,
    )
    append_entries(chained_org)
    (finding,) = verify(chained_org).findings
    assert (finding.kind, finding.entry_id) == ("backdated", forged)


_LAST = "organization_id = %s AND number = 3"


def test_a_truncated_chain_is_found(chained_org: Org, entries: Entries, owner_sql: Owner) -> None:
    for entry in entries(chained_org.id)[-2:]:
        owner_sql("DELETE FROM audit_entries WHERE id = %s", entry.id)
    owner_sql(f"DELETE FROM audit_blocks WHERE {_LAST}", chained_org.id)
    assert _list_finding_kinds(chained_org) == {"truncated"}


def test_a_truncated_chain_with_a_changed_head_is_found(
    chained_org: Org, entries: Entries, owner_sql: Owner
) -> None:
    for entry in entries(chained_org.id)[-2:]:
        owner_sql("DELETE FROM audit_entries WHERE id = %s", entry.id)
    owner_sql(f"DELETE FROM audit_blocks WHERE {_LAST}", chained_org.id)
    owner_sql(
        "UPDATE audit_heads h SET blocks = 2, entries = h.entries - 2, hash = b.hash"
        " FROM audit_blocks b WHERE b.organization_id = h.organization_id AND b.number = 2"
        " AND h.organization_id = %s",
        chained_org.id,
    )
    assert _list_finding_kinds(chained_org) == {"broken"}
    # No block is appended to it: the service would sign a chain that it did not write.
    _change(chained_org, "later")
    with pytest.raises(service.InvalidHead):
        append_entries(chained_org)
    assert _list_finding_kinds(chained_org) == {"broken"}


def test_organizations_take_turns(
    org: Org, other_org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backlog of one organization does not delay the entries of another."""
    append_entries(org)
    append_entries(other_org)
    _change(org, *(f"name {n}" for n in range(6)))
    _change(other_org, "other")
    monkeypatch.setattr(queries, "BLOCK_ENTRIES", 2)
    appended: list[UUID] = []
    append = service.append_pending_entries

    def record(organization_id: UUID) -> int:
        count = append(organization_id)
        if count:
            appended.append(organization_id)
        return count

    monkeypatch.setattr(service, "append_pending_entries", record)
    job: Any = SimpleNamespace(checkpoint=db.checkpoint)
    with transaction_across_organizations(org.app):
        audit_jobs.append_entries(job)
    turns = [
        organization_id for organization_id in appended if organization_id in (org.id, other_org.id)
    ]
    assert turns == [org.id, other_org.id, org.id, org.id]


def test_an_older_head_is_found(chained_org: Org, owner_sql: Owner) -> None:
    (old,) = owner_sql("SELECT * FROM audit_heads WHERE organization_id = %s", chained_org.id)
    _change(chained_org, "later")
    append_entries(chained_org)
    owner_sql(
        "UPDATE audit_heads SET blocks = %s, entries = %s, hash = %s, mac = %s"
        " WHERE organization_id = %s",
        old.blocks,
        old.entries,
        old.hash,
        old.mac,
        chained_org.id,
    )
    assert _list_finding_kinds(chained_org) == {"truncated"}


def test_a_missing_head_is_found(chained_org: Org, owner_sql: Owner) -> None:
    owner_sql("DELETE FROM audit_heads WHERE organization_id = %s", chained_org.id)
    assert _list_finding_kinds(chained_org) == {"truncated"}


def test_a_missing_block_is_found(chained_org: Org, owner_sql: Owner) -> None:
    owner_sql("DELETE FROM audit_blocks WHERE organization_id = %s AND number = 2", chained_org.id)
    # Its entries are no longer in any block.
    assert _list_finding_kinds(chained_org) == {"broken", "inserted"}


def test_an_entry_edited_with_its_digest_is_found(
    chained_org: Org, entries: Entries, owner_sql: Owner
) -> None:
    entry = entries(chained_org.id)[0]
    owner_sql("UPDATE audit_entries SET actor_label = 'x' WHERE id = %s", entry.id)
    owner_sql(
        "UPDATE audit_blocks SET digests = overlay(digests PLACING sha256('x') FROM 1 FOR 32)"
        " WHERE organization_id = %s AND number = 1",
        chained_org.id,
    )
    assert "broken" in _list_finding_kinds(chained_org)


def test_a_chain_of_another_organization_does_not_pass_for_this_one(
    chained_org: Org, other_org: Org, owner_sql: Owner
) -> None:
    append_entries(other_org)
    owner_sql("DELETE FROM audit_entries WHERE organization_id = %s", other_org.id)
    for table in ("audit_heads", "audit_blocks"):
        owner_sql(f"DELETE FROM {table} WHERE organization_id = %s", other_org.id)
        owner_sql(
            f"UPDATE {table} SET organization_id = %s WHERE organization_id = %s",
            other_org.id,
            chained_org.id,
        )
    owner_sql(
        "UPDATE audit_entries SET organization_id = %s WHERE organization_id = %s",
        other_org.id,
        chained_org.id,
    )
    assert _list_finding_kinds(other_org) == {"broken", "edited", "truncated"}
    assert _list_finding_kinds(chained_org) == {"missing"}


def test_an_organization_without_any_entry_is_found(org: Org, owner_sql: Owner) -> None:
    for table in ("audit_entries", "audit_unsealed", "audit_blocks", "audit_heads"):
        owner_sql(f"DELETE FROM {table} WHERE organization_id = %s", org.id)
    assert _list_finding_kinds(org) == {"missing"}


def test_everything_is_verified_without_a_slug(chained_org: Org, other_org: Org) -> None:
    with chained_org.app.app_context():
        report = service.verify()
    assert report.chains >= 3, "two organizations, and what belongs to none"
    ours = {chained_org.slug, other_org.slug}
    assert [f for f in report.findings if f.organization in ours or f.organization is None] == []


def test_an_unknown_slug_is_not_found(org: Org) -> None:
    with org.app.app_context(), pytest.raises(ApiError) as raised:
        service.verify("no-such-organization")
    assert raised.value.code == "not_found"


def test_a_long_chain_has_several_blocks(org: Org, owner_sql: Owner) -> None:
    make_labeled(org, 2500, texts=False)
    assert append_entries(org) > 5000
    blocks = owner_sql(
        "SELECT cardinality(entries) AS n FROM audit_blocks WHERE organization_id = %s", org.id
    )
    assert len(blocks) >= 4
    assert max(block.n for block in blocks) < 2000
    assert verify(org).ok


def test_concurrent_appends_create_one_chain(org: Org) -> None:
    append_entries(org)
    _change(org, *(f"n{n}" for n in range(20)))
    assert sum(run_concurrently(*[partial(append_entries, org)] * 4)) == 20
    report = verify(org)
    assert report.ok, report.findings
    assert report.unsealed == 0


def test_an_interrupted_append_leaves_nothing(org: Org) -> None:
    append_entries(org)
    _change(org, "one", "two")
    with org.app.app_context(), tenancy.across_organizations(reason="a test appends entries"):
        assert service.append_pending_entries(org.id) == 2
        db.session().rollback()
    assert verify(org).unsealed == 2
    assert append_entries(org) == 2
    assert verify(org).ok


def test_entries_are_appended_in_the_order_of_commits(
    org: Org, postgres: EmbeddedPostgres, entries: Entries
) -> None:
    append_entries(org)
    with closing(psycopg2.connect(postgres.url)) as slow:
        with slow.cursor() as cursor:
            cursor.execute(
                "INSERT INTO schemas (organization_id, id, name, document_type, description,"
                " guidelines, review_policy, fields, status, ai_assist_enabled,"
                " current_version_number, created_at, updated_at, revision)"
                " SELECT %s, gen_random_uuid(), 'slow', 'x', '', '', '{}', '[]', 'draft', false, 0,"
                " now(), now(), 1 FROM set_config('app.all_organizations', 'on', true)",
                (str(org.id),),
            )
        _change(org, "fast")
        assert append_entries(org) == 1
        slow.commit()
    assert append_entries(org) == 1
    assert verify(org).ok
    # This transaction began first and committed last; the chain has the order of the commits.
    assert [row.target_type for row in entries(org.id)][-2:] == ["schemas", "organizations"]


def test_the_worker_appends_pending_entries(org: Org, work: Callable[[], None]) -> None:
    _change(org, "one")
    with transaction_across_organizations(org.app):
        jobs.enqueue("audit.seal", {}, organization_id=None)
    work()
    report = verify(org)
    assert report.ok
    assert report.unsealed == 0
    assert report.entries > 0
