"""Erasing removes everything of one organization, and nothing of others, despite interruptions."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import text

from app.identity.control_plane import service as control_plane
from app.identity.erasing import queries
from app.kit import db, jobs, tenancy
from app.kit.errors import ApiError
from app.kit.ids import uuid7
from app.kit.jobs import Retry
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.orgs import transaction_across_organizations
from tests.factories.waiting import wait_until
from tests.identity.erasing.conftest import DueOrg, close, count_rows, measure_files

ROOT = Path(__file__).parents[3]
Add = Callable[[Org], None]
_KILLED = """
import os, signal, sys
from uuid import UUID
from app.factory import create_app
from app.identity.erasing import queries, service
from app.kit import db, tenancy

queries.BATCH_SIZE = 2
left = int(sys.argv[2])

def checkpoint():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    db.session().commit()

app = create_app(os.environ, with_api=False)
with app.app_context(), tenancy.across_organizations(reason="as the job has it"):
    service.erase(UUID(sys.argv[1]), checkpoint)
"""

_WAITING = text("SELECT FROM pg_stat_activity WHERE :pid = ANY (pg_blocking_pids(pid))")
_ELSEWHERE = """
INSERT INTO memberships (organization_id, user_id, role, created_at)
VALUES (:there, :viewer, 'viewer', now())
"""
_NAMED_ELSEWHERE = """
INSERT INTO exports (organization_id, id, format, filter, options, include, status, progress_done,
                     created_by, created_at, updated_at)
VALUES (:there, gen_random_uuid(), 'jsonl', '{}', '{}', '{}', 'failed', 0, :reviewer, now(), now())
"""
_SIGNED_OUT = """
UPDATE sessions SET expires_at = now(), last_seen_at = now() - interval '1 hour'
WHERE user_id IN (:viewer, :reviewer, :labeler)
"""

_ADD_MEMBERS = """
INSERT INTO users (id, email, name, created_at, updated_at, revision, locale, time_zone,
                   token_version)
SELECT md5(:salt || n)::uuid, :salt || n || '@test.example', 'Member', now(), now(), 1, 'en', 'UTC',
       1
FROM generate_series(1, :number) AS n;
INSERT INTO memberships (organization_id, user_id, role, created_at)
SELECT :org, md5(:salt || n)::uuid, 'viewer', now() FROM generate_series(1, :number) AS n
"""


def test_everything_is_erased_and_others_keep_their_data(
    due_org: DueOrg, other_org: Org, fill: Callable[[Org], None]
) -> None:
    fill(other_org)
    before = count_rows(other_org), measure_files(other_org)
    assert len(due_org.rows) >= 15, due_org.rows
    assert due_org.files[0] >= 10
    due_org.erase()
    due_org.check_erased()
    assert (count_rows(other_org), measure_files(other_org)) == before
    assert other_org.api().get(f"/organizations/{other_org.slug}").status_code == 200


def test_only_closed_organizations_that_are_due_are_erased(org: Org, add_document: Add) -> None:
    add_document(org)
    due_org = DueOrg(org, count_rows(org), measure_files(org))
    assert due_org.files[0] > 0
    assert due_org.erase() == 0
    close(org)
    run_sql(
        org, "UPDATE organizations SET erase_after = now() + interval '1 minute' WHERE id = :org"
    )
    assert due_org.erase() == 0
    assert measure_files(org) == due_org.files
    assert count_rows(org)["artifacts"] == due_org.rows["artifacts"]


def test_interrupted_runs_are_resumed(due_org: DueOrg, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "BATCH_SIZE", 5)
    for point in (1, 2, 4, 9, 15, -2, -1):
        # A negative number counts back from the last checkpoint of a run that is not interrupted.
        batches = sum(-(-n // 5) for n in count_rows(due_org.org).values())
        killed_at = point if point > 0 else batches + 3 + point
        assert due_org.erase(killed_at=killed_at) == killed_at
        assert due_org.record().status == "closed"
    due_org.erase()
    due_org.check_erased()


def test_the_run_of_a_killed_process_is_resumed(due_org: DueOrg, environ: dict[str, str]) -> None:
    env = {**os.environ, **environ, "PYTHONPATH": str(ROOT)}
    for checkpoints in ("12", "40"):
        arguments = [sys.executable, "-c", _KILLED, str(due_org.org.id), checkpoints]
        done = subprocess.run(arguments, env=env, cwd=ROOT, check=False, timeout=60)
        assert done.returncode == -signal.SIGKILL
        assert 0 < sum(due_org.proof()["rows"].values()) < sum(due_org.rows.values())
    due_org.erase()
    due_org.check_erased()


def test_concurrent_runs_count_everything_once(due_org: DueOrg) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: due_org.erase(), range(2)))
    due_org.check_erased()


def test_rows_added_during_a_run_are_erased_by_the_next_one(small_due_org: DueOrg) -> None:
    late = "INSERT INTO jobs (id, organization_id, queue, function, args) VALUES"
    org_id, rows = small_due_org.org.id, small_due_org.rows

    def add_rows_late(passed: int) -> None:
        # All tables are empty: each has taken one batch.
        if passed == 1 + len(rows):
            with tenancy.organization(org_id), db.transaction() as session:
                sql = f"{late} (:id, :org, 'default', 'kit.purge', '{{}}')"
                session.execute(text(sql), {"id": uuid7(), "org": org_id})

    with pytest.raises(Retry, match="jobs"):
        small_due_org.erase(on_checkpoint=add_rows_late)
    assert small_due_org.record().status == "closed"
    rows["jobs"] = rows.get("jobs", 0) + 1
    small_due_org.erase()
    small_due_org.check_erased()


def _list_remaining_users(org: Org) -> set[str]:
    with org.app.app_context():
        sql = text("SELECT id FROM users WHERE id = ANY(:ids)")
        remaining_ids = set(db.session().scalars(sql, {"ids": list(org.users.values())}))
    return {name for name, user_id in org.users.items() if user_id in remaining_ids}


def test_unused_accounts_are_erased(org: Org, other_org: Org) -> None:
    values = {"there": other_org.id, **org.users}
    with transaction_across_organizations(org.app) as session:
        # The viewer is also a member of another organization, which has a record of the reviewer.
        for sql in (_ELSEWHERE, _NAMED_ELSEWHERE, _SIGNED_OUT):
            session.execute(text(sql), values)
    close(org)
    due_org = DueOrg(org, count_rows(org), measure_files(org))
    due_org.erase()
    due_org.check_erased()
    # The owner and the admin are signed in.
    assert _list_remaining_users(org) == {"owner", "admin", "viewer", "reviewer"}
    assert due_org.proof()["users"] == 1


def test_many_accounts_are_erased_in_short_transactions(org: Org) -> None:
    number = 2 * queries.MEMBER_BATCH_SIZE
    run_sql(org, _ADD_MEMBERS, salt=org.slug, number=number)
    close(org)
    due_org = DueOrg(org, count_rows(org), measure_files(org))
    membership_counts = [due_org.rows["memberships"]]
    due_org.erase(
        on_checkpoint=lambda _: membership_counts.append(count_rows(org).get("memberships", 0))
    )
    due_org.check_erased()
    assert due_org.proof()["users"] == number
    assert (
        max(before - after for before, after in pairwise(membership_counts))
        == queries.MEMBER_BATCH_SIZE
    )


def test_erasing_an_account_may_take_longer_than_a_request(org: Org) -> None:
    with transaction_across_organizations(org.app) as session:
        session.execute(text("SET LOCAL statement_timeout = 1"))
        queries.erase_users([org.users["viewer"]], closed_at=db.utc_now())
        assert session.scalar(text("SHOW statement_timeout")) == "0"


def test_an_account_that_joins_another_organization_meanwhile_is_kept(
    org: Org, other_org: Org
) -> None:
    values = {"there": other_org.id, **org.users}
    with transaction_across_organizations(org.app) as session:
        session.execute(text(_SIGNED_OUT), values)
        session.execute(text("DELETE FROM memberships WHERE user_id = :viewer"), values)

    def erase() -> int:
        with transaction_across_organizations(org.app):
            return queries.erase_users([org.users["viewer"]], closed_at=db.utc_now())

    with org.app.app_context(), db.engine().connect() as joining, ThreadPoolExecutor(1) as pool:
        joining.execute(text("SET LOCAL app.all_organizations = 'on'"))
        joining.execute(text(_ELSEWHERE), values)
        erased = pool.submit(erase)
        pid = joining.connection.driver_connection.info.backend_pid  # type: ignore[union-attr]
        wait_until(lambda: _is_waited_for(org, pid), "the erasure to wait for the account")
        joining.commit()
        assert erased.result() == 0
    assert "viewer" in _list_remaining_users(org)


def _is_waited_for(org: Org, pid: int) -> bool:
    with org.app.app_context(), db.engine().connect() as connection:
        return connection.execute(_WAITING, {"pid": pid}).first() is not None


def test_the_worker_erases_and_the_log_ends_with_the_proof(
    small_due_org: DueOrg, work: Callable[[], None]
) -> None:
    with transaction_across_organizations(small_due_org.org.app):
        jobs.enqueue("erasing.start", {}, organization_id=None)
    work()
    small_due_org.check_erased()
    with small_due_org.org.app.app_context(), tenancy.across_organizations(reason="reads the log"):
        sql = text("SELECT action, changes FROM audit_entries WHERE organization_id = :id")
        (last,) = db.session().execute(sql, {"id": small_due_org.org.id}).all()
    assert last.action == "organizations.erase"
    assert last.changes["rows"] == [None, small_due_org.rows]
    assert (last.changes["files"][1], last.changes["bytes"][1]) == small_due_org.files


def test_an_organization_cannot_be_reopened_during_its_erasure(
    org: Org, small_due_org: DueOrg
) -> None:
    small_due_org.erase(killed_at=2)
    for _ in range(2):
        with org.app.app_context(), pytest.raises(ApiError, match="is being erased"):
            control_plane.reopen(org.slug)
        small_due_org.erase()


def test_an_erased_slug_belongs_to_no_organization(small_due_org: DueOrg, other_org: Org) -> None:
    small_due_org.erase()
    slug = small_due_org.org.slug
    taken = other_org.api().post("/organizations", json={"name": "x", "slug": slug})
    assert taken.status_code == 409
    gone = other_org.api("owner", slug=slug).get(f"/organizations/{slug}")
    never = other_org.api("owner", slug="never-was").get("/organizations/never-was")
    assert gone.status_code == 403
    assert gone.data == never.data
