"""The embedded PostgreSQL: its start, its account and rights, and what survives a kill -9."""

import contextlib
import os
import pwd
import signal
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest
from psycopg2 import errors

from devserver import databases, process, processes
from devserver.postgres import EmbeddedPostgres
from devserver.process import find_free_port, rotate_log
from devserver.server import ServerError
from tests.devserver.conftest import check_end_with_starter, query, query_alone, wait_for_end


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("postgres")


@pytest.fixture(scope="module")
def server(folder):
    with EmbeddedPostgres(folder / "data", fast=True) as running:
        yield running


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The data of a server that was started and stopped once, which takes longer than a copy."""
    data = tmp_path_factory.mktemp("stopped") / "data"
    with EmbeddedPostgres(data, fast=True) as instance:
        log = instance.log
    log.unlink()
    return data


@pytest.fixture
def own(stopped, tmp_path):
    """A running server for a test that harms it, on its own copy of that data."""
    subprocess.run(["cp", "-a", stopped, tmp_path / "data"], check=True)
    instance = EmbeddedPostgres(tmp_path / "data", fast=True)
    instance.start()
    yield instance
    instance.stop()


def test_the_application_role_owns_its_database_and_is_no_superuser(server):
    rights = query(
        server.url,
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin FROM pg_roles"
        " WHERE rolname = current_user",
    )
    assert rights == [(False, False, True, False, True)]
    owner = query(
        server.url,
        "SELECT current_database(), pg_get_userbyid(datdba) FROM pg_database"
        " WHERE datname = current_database()",
    )
    assert owner == [("labeling", "labeling")]


def test_passwords_are_needed_and_private(server, folder):
    assert server.url.startswith("postgresql://labeling:")
    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        psycopg2.connect(f"postgresql://labeling:wrong@127.0.0.1:{server.port}/labeling")
    for role in ("labeling", "postgres"):
        mode = (folder / "data" / f"{role}.password").stat().st_mode
        assert stat.S_IMODE(mode) == 0o600


def read_settings(url: str, *names: str) -> tuple[str, ...]:
    columns = ", ".join(f"current_setting('{name}')" for name in names)
    return query(url, f"SELECT {columns}")[0]


def test_it_listens_on_loopback_only(server):
    addresses = read_settings(server.admin_url, "listen_addresses", "unix_socket_directories")
    assert addresses == ("127.0.0.1", "")


def test_it_never_runs_as_root(server):
    expected = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else os.geteuid()
    assert Path(f"/proc/{server.pid}").stat().st_uid == expected


def test_text_is_utf_8_and_case_folding_knows_more_than_ascii(server):
    assert query(server.url, "SELECT lower('ÀÉΣЖ'), current_setting('server_encoding')") == [
        ("àéσж", "UTF8")
    ]


def test_durability_is_given_up_only_when_asked(server, tmp_path):
    names = ("fsync", "full_page_writes", "synchronous_commit")
    assert read_settings(server.url, *names) == ("off", "off", "off")
    with EmbeddedPostgres(tmp_path / "durable") as durable:
        assert read_settings(durable.url, *names) == ("on", "on", "on")


def test_databases_are_copied_from_a_template_and_dropped_with_their_sessions(server):
    template = server.create_database("template_of_test")
    query(template, "CREATE TABLE t AS SELECT 7 AS n")
    copy = server.create_database("copy_of_test", template="template_of_test")
    assert query(copy, "SELECT n FROM t") == [(7,)]
    with pytest.raises(errors.DuplicateDatabase):
        server.create_database("copy_of_test")
    with closing(psycopg2.connect(copy)):
        server.drop_database("copy_of_test")
    server.drop_database("copy_of_test")
    with pytest.raises(psycopg2.OperationalError, match="does not exist"):
        psycopg2.connect(copy)


def test_a_second_start_keeps_data_and_passwords(own):
    query(own.url, "CREATE TABLE t AS SELECT 'kept' AS word")
    password = own.url.partition("@")[0]
    own.stop()
    with EmbeddedPostgres(own.log.parent, fast=True) as again:
        assert query(again.url, "SELECT word FROM t") == [("kept",)]
        assert again.url.partition("@")[0] == password


def test_committed_rows_survive_kill_9_of_the_server(tmp_path):
    with EmbeddedPostgres(tmp_path / "data") as server:
        query(server.url, "CREATE TABLE t AS SELECT generate_series(1, 1000) AS n")
        os.kill(server.pid, signal.SIGKILL)
        server.stop()
        server.start()
        assert query(server.url, "SELECT count(*) FROM t") == [(1000,)]


def test_recovery_reads_little_and_syncs_the_file_system_at_once(own):
    names = ("recovery_init_sync_method", "max_wal_size")
    assert read_settings(own.url, *names) == ("syncfs", "128MB")
    # What concerns the size of the server is the operator's to change.
    query_alone(own.admin_url, "ALTER SYSTEM SET max_wal_size = '2GB'")
    os.kill(own.pid, signal.SIGKILL)
    own.stop()
    own.start()
    assert read_settings(own.url, *names) == ("syncfs", "2GB")


def test_it_stops_cleanly_when_its_starter_is_killed(running, tmp_path):
    check_end_with_starter(running, "EmbeddedPostgres(data, fast=True)", tmp_path / "data")
    log = tmp_path / "data" / "postgres.log"
    assert log.read_text().rstrip().endswith("database system is shut down")


def test_a_second_server_on_the_same_data_is_refused(server, folder, monkeypatch):
    second = EmbeddedPostgres(folder / "data", fast=True)
    monkeypatch.setattr(second, "previous_server_timeout", 0.2)
    with pytest.raises(ServerError, match=f"already running on .*{server.pid}"):
        second.start()
    assert query(server.url, "SELECT 1") == [(1,)]


def test_a_lock_file_of_a_process_that_is_something_else_is_no_obstacle(own):
    own.stop()
    account = own.log.parent / "cluster"
    uid = account.stat().st_uid
    # Of the server's own account, as only such a process makes PostgreSQL refuse by itself.
    with subprocess.Popen(["sleep", "600"], user=uid if os.geteuid() == 0 else None) as other:
        try:
            lock = account / "postmaster.pid"
            lock.write_text(f"{other.pid}\n{account}\n1\n5432\n\n127.0.0.1\n\nready\n")
            own.start()
            assert query(own.url, "SELECT 1") == [(1,)]
            assert other.poll() is None
        finally:
            other.kill()


def test_half_a_cluster_left_by_a_crash_is_created_again(tmp_path):
    draft = tmp_path / "data" / "cluster.new"
    draft.mkdir(parents=True)
    (draft / "PG_VERSION").write_text("18\n")
    with EmbeddedPostgres(tmp_path / "data", fast=True) as server:
        assert query(server.url, "SELECT 1") == [(1,)]
        assert not draft.exists()


def test_the_role_is_created_when_a_crash_came_before_it(own):
    query(own.url, "CREATE TABLE t (n int)")
    query_alone(own.admin_url, "DROP DATABASE labeling WITH (FORCE)", "DROP ROLE labeling")
    assert own.check_ready()
    assert query(own.url, "SELECT current_user") == [("labeling",)]


def test_a_cluster_of_another_major_version_is_refused(own):
    own.stop()
    (own.log.parent / "cluster" / "PG_VERSION").write_text("17\n")
    with pytest.raises(ServerError, match="created by PostgreSQL 17, but this is PostgreSQL 18"):
        own.start()


def test_a_server_that_cannot_start_quotes_its_log(own):
    own.stop()
    with (own.log.parent / "cluster" / "postgresql.conf").open("a") as configuration:
        configuration.write("\nno_such_setting = 1\n")
    with pytest.raises(ServerError, match='unrecognized configuration parameter "no_such_setting"'):
        own.start()
    assert own.pid is None


def test_a_configured_port_is_used(tmp_path):
    port = find_free_port()
    with EmbeddedPostgres(tmp_path / "data", port, fast=True) as server:
        assert server.port == port
        assert f"@127.0.0.1:{port}/" in server.url


def test_stop_ends_every_process_of_the_server_with_clients_connected(own):
    with closing(psycopg2.connect(own.url)):
        everything = {process.pid for process in processes.list_tree(own.pid)}
        assert len(everything) > 3
        own.stop()
    wait_for_end(everything)


SECRET = "Zaphod Beeblebrox, 42 Heart of Gold"
# Each fails, and what fails is told with a value: of the statement, of a row, or of a parameter.
TELLING = (
    "INSERT INTO people VALUES ('{0}'), ('{0}')",
    "INSERT INTO people VALUES (NULL), ('{0} short')",
    "SELECT '{0}'::date",
    "SELECT '{0}'::jsonb",
    "SELECT * FROM nowhere WHERE name = '{0}'",
    "SELECT 1 FROM people WHERE name = '{0}' GROUP BY",
    "SET statement_timeout = 1; SELECT '{0}', pg_sleep(60)",
    "DO $$ BEGIN RAISE EXCEPTION 'no place for %', '{0}'; END $$",
    "DO $$ BEGIN RAISE WARNING 'no place for %', '{0}'; END $$",
    "PREPARE by_name (text) AS SELECT 1 / (length($1) - length($1)); EXECUTE by_name('{0}')",
)


def test_the_log_holds_no_value_of_statements_and_errors(own):
    query(own.url, "CREATE TABLE people (name text PRIMARY KEY)")
    for statement in TELLING:
        with contextlib.suppress(psycopg2.Error):
            query(own.url, statement.format(SECRET))
    log = own.log.read_text()
    assert "Heart of Gold" not in log
    assert "STATEMENT" not in log
    # A server process that crashes is told with what it was running, at another level.
    with closing(psycopg2.connect(own.url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
        with ThreadPoolExecutor(1) as pool:
            asleep = pool.submit(cursor.execute, f"SELECT '{SECRET}', pg_sleep(60)")
            watch = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            while query(own.admin_url, watch) != [(1,)]:
                assert not asleep.done()
            os.kill(pid, signal.SIGKILL)
            assert asleep.exception(60) is not None
    ended = f"(PID {pid}) was terminated by signal 9"
    deadline = time.monotonic() + 60
    while ended not in (log := own.log.read_text()):
        assert time.monotonic() < deadline, "the server does not tell of the end of its process"
    assert "Heart of Gold" not in log
    # While it starts again, it may overlook that it is to stop.
    while not databases.can_connect(own.url):
        assert time.monotonic() < deadline, "the server does not start again"


def test_the_log_reports_what_does_not_concern_a_statement(own):
    with pytest.raises(psycopg2.OperationalError):
        psycopg2.connect(f"postgresql://labeling:wrong@127.0.0.1:{own.port}/labeling")
    with pytest.raises(psycopg2.Error):
        query(own.admin_url, "SELECT * FROM nowhere")
    log = own.log.read_text()
    assert 'password authentication failed for user "labeling"' in log
    assert 'ERROR:  relation "nowhere" does not exist' in log
    assert "LINE" not in log


def test_clusters_made_before_get_the_settings_of_the_log(own):
    query(own.admin_url, "ALTER ROLE labeling RESET ALL")
    own.stop()
    with (own.log.parent / "cluster" / "postgresql.conf").open("a") as configuration:
        configuration.write("\nlog_min_error_statement = debug5\nlog_error_verbosity = verbose\n")
    with EmbeddedPostgres(own.log.parent, fast=True) as again:
        with pytest.raises(psycopg2.Error):
            query(again.url, f"SELECT '{SECRET}'::date")
        names = ("log_min_error_statement", "log_error_verbosity", "log_min_messages")
        assert read_settings(again.url, *names) == ("panic", "terse", "log")
    assert "Heart of Gold" not in own.log.read_text()


def test_the_log_is_rotated_under_the_running_server(own):
    own_log = own.log
    rotate_log(own_log, limit=10_000_000)
    assert not (own_log.parent / "postgres.log.1").exists()
    before = own_log.read_text()
    rotate_log(own_log, limit=10)
    with pytest.raises(psycopg2.OperationalError):
        psycopg2.connect(f"postgresql://labeling:wrong@127.0.0.1:{own.port}/labeling")
    after = own_log.read_bytes()
    old = own_log.parent / "postgres.log.1"
    assert b"\0" not in after, "the server goes on at the new end of the file"
    assert b"password authentication failed" in after
    assert len(after) < 5000
    assert old.read_text() == before
    assert stat.S_IMODE(old.stat().st_mode) == 0o600


def test_a_log_that_cannot_be_kept_is_bounded_all_the_same(tmp_path, monkeypatch):
    log = tmp_path / "server.log"
    monkeypatch.setattr(process.shutil, "copyfileobj", _no_space)
    log.write_bytes(b"x" * 150)
    rotate_log(log, limit=100)
    assert log.stat().st_size == 150, "it is tried again"
    log.write_bytes(b"x" * 200)
    rotate_log(log, limit=100)
    assert log.stat().st_size == 0
    assert [path.name for path in tmp_path.iterdir()] == ["server.log"]


def _no_space(*_):
    raise OSError(28, "No space left on device")
