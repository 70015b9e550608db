"""Invitations that ended are kept for ever, and cost the lists and removals nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

import pytest
from sqlalchemy import text

from app.identity.invitations import queries
from app.kit import db, tenancy
from app.kit.pagination import PageRequest
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.plans.explaining import Explained, explaining

_COUNTS = {"open": 4, "expired": 300, "accepted": 3000, "revoked": 1000}
_INSERT = """
INSERT INTO invitations (organization_id, id, email, email_key, role, team_ids, token_hash,
    expires_at, accepted_at, revoked_at, created_at, updated_at)
SELECT :org, gen_random_uuid(), address, address, 'labeler', '[]', gen_random_uuid()::text,
    now() + CASE WHEN :status = 'open' THEN interval '1 day' ELSE interval '-1 day' END,
    CASE WHEN :status = 'accepted' THEN now() END,
    CASE WHEN :status = 'revoked' THEN now() END,
    now() - number * interval '1 minute', now()
FROM generate_series(1, :count) AS number, concat(:status, number, '@test.example') AS address
"""


@pytest.fixture
def old_org(org: Org) -> Org:
    """An organization with thousands of invitations, of which a few are open."""
    for status, count in _COUNTS.items():
        run_sql(org, _INSERT, status=status, count=count)
    with org.app.app_context(), db.transaction() as session:
        session.execute(text("SET LOCAL ROLE NONE"))
        session.execute(text("ANALYZE invitations"))
    return org


@contextmanager
def _explain_in(org: Org) -> Iterator[list[Explained]]:
    """Explain the statements of a transaction in the organization. Requests read without one."""
    with (
        explaining(org.app) as explained,
        org.app.app_context(),
        tenancy.organization(org.id),
        db.transaction() as session,
    ):
        # In the table of a test, most rows belong to this organization.
        session.execute(text("SET LOCAL enable_seqscan = off"))
        yield explained


def _count_rows(explained: Explained) -> int:
    """Return the number of invitations that the statement read, by any index or none."""
    rows = explained.rows_by_index.items()
    return sum(count for name, count in rows if "invitations" in name)


def test_a_page_reads_only_its_own_invitations(old_org: Org) -> None:
    for status, sort in product(_COUNTS, ("-created_at", "created_at", "email")):
        with _explain_in(old_org) as explained:
            page = queries.get_page(PageRequest(None, 2, sort, b""), {"status": status})
        assert page.total == _COUNTS[status]
        assert [row.status for row in page.items] == [status] * 2
        select_page, count = (query for query in explained if "FROM invitations" in query.statement)
        # In the order of addresses, the accepted ones come first; others are found among all.
        if sort != "email" or status in ("open", "accepted"):
            assert _count_rows(select_page) <= 5, select_page
        assert _count_rows(count) <= _COUNTS[status], count
        assert select_page.scanned == count.scanned == []


def test_the_list_of_each_status_has_the_invitations_with_it(old_org: Org) -> None:
    for status, count in _COUNTS.items():
        path = f"/organizations/{old_org.slug}/invitations?status={status}&page_size=1000"
        answer = old_org.api("owner").get(path)
        assert {row["status"] for row in answer.json["data"]} == {status}
        assert answer.json["meta"]["total"] == count


def test_a_removal_finds_the_invitation_of_an_address(old_org: Org) -> None:
    run_sql(
        old_org,
        "UPDATE invitations SET email = :email WHERE email = 'open3@test.example'",
        email=old_org.email("labeler"),
    )
    with _explain_in(old_org) as explained:
        queries.revoke_by_invitee(old_org.users["labeler"])
    (update,) = (query for query in explained if "UPDATE invitations" in query.statement)
    assert _count_rows(update) <= 2, update
    assert update.scanned == []
    (row,) = run_sql(old_org, "SELECT count(*) AS n FROM invitations WHERE revoked_at IS NOT NULL")
    assert row.n == _COUNTS["revoked"] + 1
