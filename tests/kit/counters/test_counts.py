"""Counts: triggers keep them, a job folds them, and a check repairs wrong cells."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from uuid import UUID

import psycopg2
import pytest
from flask import Flask
from sqlalchemy import select, text

from app.documents.artifacts.counters import ARTIFACTS
from app.kit import counters, db, tenancy
from app.kit.counters import upkeep
from app.kit.counters.models import CountCube, CountSource
from app.kit.counters.sources import SOURCES
from devserver.postgres import EmbeddedPostgres
from tests.factories import Org, make_org
from tests.factories.counts import (
    count_pending_deltas,
    find_differences,
    fold,
    get_cells,
    insert_artifacts,
    run_sql,
)
from tests.factories.queueing import call_in_thread
from tests.factories.sessions import terminate_backend


def _total(org: Org, **where: Any) -> int:
    with org.app.app_context(), tenancy.organization(org.id):
        statement = select(counters.build_total(ARTIFACTS, where))
        return int(db.session().execute(statement).scalar_one())


def test_the_service_and_the_database_count_the_same(app: Flask) -> None:
    with app.app_context():
        sources = {row.source: row.facets for row in db.session().scalars(select(CountSource))}
        found = {
            row.cube: (row.source, row.key, row.bucket, row.bucket_length, row.facets)
            for row in db.session().scalars(select(CountCube))
        }
    assert sources == {source.name: list(source.facets) for source in SOURCES.values()}

    def place(source: counters.Source, facet: str | None) -> int | None:
        return None if facet is None else source.facets.index(facet) + 1

    assert found == {
        cube.name: (
            source.name,
            place(source, cube.key),
            place(source, cube.bucket),
            cube.length,
            [place(source, facet) for facet in cube.facets],
        )
        for source in SOURCES.values()
        for cube in source.cubes
    }


def test_a_statement_appends_what_it_changes(org: Org) -> None:
    fold(org.app)
    ids = insert_artifacts(org, 12)
    assert _total(org) == 12
    before = count_pending_deltas(org)
    run_sql(org, "UPDATE artifacts SET updated_at = now(), revision = revision + 1")
    assert count_pending_deltas(org) == before, "what is not counted appends nothing"
    run_sql(org, "UPDATE artifacts SET status = 'done' WHERE id = ANY (:ids)", ids=ids[:4])
    assert _total(org, status="done") == 2 + 4 - 1
    assert _total(org, status="done", gold=False, archived=False) == len(
        run_sql(org, "SELECT FROM artifacts WHERE status = 'done' AND NOT gold AND NOT archived")
    )
    assert find_differences(org) == []


def test_many_rows_of_a_copy_are_one_delta(org: Org, postgres: EmbeddedPostgres) -> None:
    fold(org.app)
    before = count_pending_deltas(org)
    run_sql(
        org,
        "CREATE TEMPORARY TABLE copied ON COMMIT DROP AS SELECT 1;"
        "INSERT INTO teams (organization_id, id, name, skills, skill_keys, description,"
        " created_at, updated_at, revision)"
        " SELECT :org, gen_random_uuid(), 'Team ' || i, '[]', '{}', '', date '2026-02-02',"
        " now(), 1 FROM generate_series(1, 500) AS i",
    )
    teams = run_sql(
        org,
        "SELECT n FROM count_deltas WHERE organization_id = :org AND source = 'teams'",
    )
    assert [row.n for row in teams] == [500]
    assert count_pending_deltas(org) > before
    assert org.api("viewer").get("/teams").json["meta"]["total"] == 500


def test_folding_moves_deltas_into_cells(org: Org) -> None:
    insert_artifacts(org, 30)
    totals = {status: _total(org, status=status) for status in ("ready", "done", "failed")}
    fold(org.app)
    assert count_pending_deltas(org) == 0
    assert sum(get_cells(org, "artifacts").values()) == 30
    assert {status: _total(org, status=status) for status in totals} == totals
    assert find_differences(org) == []


def test_cells_of_nothing_go(org: Org) -> None:
    insert_artifacts(org, 30)
    fold(org.app)
    run_sql(org, "DELETE FROM artifacts")
    assert _total(org) == 0
    fold(org.app)
    assert get_cells(org, "artifacts") == {}
    leftover_rows = run_sql(
        org, "SELECT cube FROM counts WHERE cube LIKE 'artifacts%' OR cube = 'searched'"
    )
    assert leftover_rows == []


def test_what_is_rolled_back_was_never_counted(org: Org) -> None:
    total = _total(org)
    with org.app.app_context(), tenancy.organization(org.id):
        insert_team()
        teams = select(counters.build_total(SOURCES["teams"], {}))
        assert db.session().execute(teams).scalar_one() == 1
        db.session().rollback()
        assert db.session().execute(teams).scalar_one() == 0
        db.session().rollback()
    assert _total(org) == total
    assert find_differences(org) == []


def insert_team() -> None:
    db.session().execute(
        text(
            "INSERT INTO teams (organization_id, id, name, skills, skill_keys, description,"
            " created_at, updated_at, revision) VALUES (:org, gen_random_uuid(), 'Gone', '[]',"
            " '{}', '', now(), now(), 1)"
        ),
        {"org": tenancy.current_organization_id()},
    )


def test_nobody_sees_another_organizations_counts(org: Org, other_org: Org) -> None:
    insert_artifacts(org, 10)
    fold(org.app)
    insert_artifacts(org, 10)
    assert run_sql(other_org, "SELECT FROM counts WHERE cube = 'artifacts'") == []
    assert run_sql(other_org, "SELECT FROM count_deltas WHERE source = 'artifacts'") == []
    assert _total(other_org) == 0


def test_a_fold_for_one_organization_leaves_the_others_deltas(org: Org, other_org: Org) -> None:
    insert_artifacts(org, 10)
    insert_artifacts(other_org, 10)
    run_sql(org, "SELECT fold_counts(1000)")
    assert count_pending_deltas(org) == 0
    assert count_pending_deltas(other_org) > 0
    assert _total(org) == _total(other_org) == 10


@pytest.mark.parametrize("at", ["DELETE", "INSERT"])
def test_a_fold_that_is_killed_has_not_happened(
    org: Org, postgres: EmbeddedPostgres, at: str
) -> None:
    insert_artifacts(org, 50)
    expected = _total(org)
    options = "-c role=labeling_app -c app.all_organizations=on"
    with closing(psycopg2.connect(postgres.url, options=options)) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
        cursor.execute("SELECT fold_counts(100000)")
        assert _total(org) == expected, "its transaction is open"
        terminate_backend(postgres.admin_url, pid)
        with pytest.raises(psycopg2.Error):
            connection.commit() if at == "INSERT" else cursor.execute("SELECT 1")
    assert _total(org) == expected
    assert find_differences(org) == []
    fold(org.app)
    assert _total(org) == expected


def test_two_who_fold_at_once_count_nothing_twice(org: Org) -> None:
    insert_artifacts(org, 40)
    expected = _total(org)
    with ThreadPoolExecutor(4) as pool:
        folds = pool.map(fold, [org.app] * 4)
        seen = {_total(org) for _ in range(20)}
    assert list(folds) == [None] * 4
    assert seen == {expected}
    assert find_differences(org) == []


def test_a_horizon_from_another_server_hides_nothing(org: Org) -> None:
    """A restored dump contains the old horizon, but transaction ids start again."""
    fold(org.app)
    run_sql(org, "UPDATE count_horizon SET xact = 9223372036854775807")
    try:
        insert_artifacts(org, 5)
        assert _total(org) == 5
    finally:
        fold(org.app)
    assert _total(org) == 5
    horizon = run_sql(
        org,
        "SELECT xact <= CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint) AS ok"
        " FROM count_horizon",
    )
    assert [row.ok for row in horizon] == [True]


def test_a_transaction_that_takes_long_is_counted_when_it_ends(org: Org) -> None:
    """The horizon never passes a transaction that is still open."""
    with org.app.app_context(), tenancy.organization(org.id):
        insert_team()
        for _ in range(3):
            call_in_thread(insert_artifacts, org, 4)
            call_in_thread(fold, org.app)
        db.session().commit()
    assert org.api("viewer").get("/teams").json["meta"]["total"] == 1
    assert _total(org) == 12
    assert find_differences(org) == []


def test_readers_fold_where_nobody_else_does(
    org: Org, other_org: Org, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "MAX_BACKLOG", 20)
    monkeypatch.setattr(upkeep, "_READS_PER_CHECK", 1)
    insert_artifacts(other_org, 40)
    insert_artifacts(org, 40)
    kept = count_pending_deltas(other_org)
    assert count_pending_deltas(org) > 20
    assert org.api("viewer").get("/artifacts?archived=any").json["meta"]["total"] == 40
    assert count_pending_deltas(org) == 0
    assert count_pending_deltas(other_org) == kept
    assert org.api("viewer").get("/artifacts?archived=any").json["meta"]["total"] == 40


def test_the_job_folds(org: Org, work: Any) -> None:
    from app.kit.jobs import enqueue  # noqa: PLC0415

    insert_artifacts(org, 10)
    with org.app.app_context(), tenancy.across_organizations(reason="a test"), db.transaction():
        enqueue("counters.fold", {}, organization_id=None)
    work()
    assert count_pending_deltas(org) == 0


def _spoil(org: Org, postgres: EmbeddedPostgres) -> None:
    """Insert rows without the triggers, and a cell that counts nothing."""
    url = postgres.admin_url.rsplit("/", 1)[0] + "/labeling"
    with closing(psycopg2.connect(url)) as admin, admin, admin.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("DELETE FROM artifacts WHERE organization_id = %s AND gold", (str(org.id),))
        cursor.execute(
            "INSERT INTO counts (organization_id, cube, key, bucket, facets, n, total)"
            " VALUES (%s, 'teams', '', '', '{true}', 3, 0)",
            (str(org.id),),
        )


def test_what_is_wrong_is_found_and_mended(org: Org, postgres: EmbeddedPostgres) -> None:
    insert_artifacts(org, 28)
    fold(org.app)
    assert find_differences(org) == []
    _spoil(org, postgres)
    wrong = find_differences(org)
    assert {row["source"] for row in wrong} >= {"artifacts", "teams"}
    assert sum(row["n"] for row in wrong if row["cube"] == "artifacts") == -4
    assert sum(row["n"] for row in wrong if row["cube"] == "teams") == -3
    with org.app.app_context():
        for source in upkeep.list_sources():
            upkeep.repair(org.id, source)
        db.session().commit()
    assert find_differences(org) == []
    assert _total(org) == 24


def test_the_daily_check_mends_and_says_so(
    org: Org, postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert_artifacts(org, 14)
    _spoil(org, postgres)
    reported: list[dict[str, Any]] = []
    monkeypatch.setattr(upkeep.log, "error", lambda event, **values: reported.append(values))
    with org.app.app_context():
        wrong = upkeep.check_and_repair(org.id, org.slug, db.checkpoint)
    ours = [one for one in reported if one["organization"] == org.slug]
    assert {one["source"] for one in ours} >= {"artifacts", "teams"}
    assert wrong >= sum(one["cells"] for one in ours) > 0
    assert find_differences(org) == []


def test_counts_are_rebuilt_beside_writers(org: Org) -> None:
    """Each row is counted once, even if other transactions write or fold meanwhile."""
    insert_artifacts(org, 200)
    stop = threading.Event()

    def write(number: int) -> None:
        while not stop.is_set():
            ids = insert_artifacts(org, 5)
            run_sql(org, "UPDATE artifacts SET status = 'done' WHERE id = ANY (:ids)", ids=ids)
            run_sql(org, "DELETE FROM artifacts WHERE id = ANY (:ids)", ids=ids[number:])
            if number == 1:
                fold(org.app)

    with ThreadPoolExecutor(3) as pool:
        writers = [pool.submit(write, number) for number in (1, 2, 3)]
        try:
            for _ in range(6):
                with org.app.app_context(), db.transaction():
                    upkeep.repair(org.id, "artifacts")
                assert find_differences(org) == []
        finally:
            stop.set()
    assert [writer.exception() for writer in writers] == [None] * 3
    assert find_differences(org) == []


def test_counting_begins_with_rows_that_are_there(org: Org) -> None:
    """As in an upgrade, nothing is counted yet, and other transactions write meanwhile."""
    insert_artifacts(org, 60)
    fold(org.app)
    run_sql(org, "DELETE FROM counts WHERE cube LIKE 'artifacts%'")
    writer = threading.Thread(target=lambda: [insert_artifacts(org, 3) for _ in range(10)])
    writer.start()
    with org.app.app_context(), db.transaction():
        assert upkeep.repair(org.id, "artifacts") > 0
    writer.join()
    assert _total(org) == 90
    assert find_differences(org) == []
    with org.app.app_context(), db.transaction():
        assert upkeep.repair(org.id, "artifacts") == 0, "a second run finds nothing"


def test_erasing_leaves_no_counts(app: Flask) -> None:
    org = make_org(app)
    insert_artifacts(org, 20)
    fold(app)
    run_sql(
        org,
        "UPDATE organizations SET status = 'closed', closed_at = now(),"
        " erase_after = now() - interval '1 minute' WHERE id = :org",
    )
    with app.app_context():
        from app.identity.erasing import service  # noqa: PLC0415

        service.erase(org.id, db.checkpoint)
        db.session().commit()
    fold(app)
    leftover_rows = run_sql(org, "SELECT cube, n FROM counts WHERE cube NOT LIKE 'audit%'")
    assert leftover_rows == []
    assert {row.n for row in run_sql(org, "SELECT n FROM counts WHERE cube = 'audit'")} == {1}
    assert count_pending_deltas(org) == 0
    assert find_differences(org) == []


def test_deltas_of_an_organization_that_is_gone_are_dropped(app: Flask) -> None:
    org = make_org(app)
    unknown_id = UUID(int=7)
    with app.app_context(), tenancy.across_organizations(reason="a test"), db.transaction() as s:
        s.execute(
            text(
                "INSERT INTO count_deltas (organization_id, source, facets, n, total)"
                " VALUES (:gone, 'teams', ARRAY['true', ''], 1, 0)"
            ),
            {"gone": unknown_id},
        )
    fold(app)
    with app.app_context(), tenancy.across_organizations(reason="a test"):
        query = text("SELECT count(*) FROM count_deltas WHERE organization_id = :gone")
        assert db.session().execute(query, {"gone": unknown_id}).scalar_one() == 0
    assert find_differences(org) == []


def test_facets_that_no_cube_has_are_refused(org: Org) -> None:
    with org.app.app_context(), tenancy.organization(org.id), pytest.raises(LookupError):
        counters.build_total(SOURCES["assigned"], {"status": "ready"})
