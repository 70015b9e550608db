"""A copy of a running service, and another service made of it that sends nothing."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from devserver import postgres_tools
from devserver.backup import _dump_database
from devserver.lock import DataLock
from devserver.postgres import EmbeddedPostgres
from devserver.postgres_tools import get_superuser_url
from devserver.progress import Progress
from tests.devserver.conftest import query_alone, run_devserver
from tests.factories.waiting import wait_until
from tests.faults.conftest import Receiver, Service, run_service
from tests.faults.conftest import receiver as receiver  # noqa: PLC0414 - a fixture

# Beside tests/faults, and not after all of them.
pytestmark = pytest.mark.xdist_group("services")


@pytest.fixture
def source() -> Iterator[Service]:
    """The service that is copied."""
    with run_service() as service:
        yield service


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup whose dump of the database cannot be restored."""
    folder = tmp_path / "backup"
    folder.mkdir()
    (folder / "database.dump").write_bytes(b"no dump")
    (folder / "backup.json").write_text("{}")
    return folder


def _run(command: str, data_dir: Path, *arguments: object, status: int = 0, **environ: str) -> str:
    """Run a command that must exit with `status`. Return its output, or the message of an error."""
    finished = run_devserver(command, *arguments, DATA_DIR=str(data_dir), **environ)
    assert finished.returncode == status, finished.stdout + finished.stderr
    return finished.stderr if status else finished.stdout


def _write_until(service: Service, stop: threading.Event, written: list[str]) -> None:
    while not stop.is_set():
        artifact_id = service.write(f"document {len(written)}")
        if artifact_id is not None:
            written.append(artifact_id)


def _content(service: Service, artifact: str) -> bytes:
    answer = service.call("GET", f"/artifacts/{artifact}/content")
    assert answer.status_code == 200, answer.text
    return answer.content


def test_a_restored_copy_has_everything_and_sends_nothing(
    source: Service, receiver: Receiver, tmp_path: Path
) -> None:
    receiver.hold.set()
    webhook = source.create_webhook(receiver)
    before = [source.write(f"before {number}") for number in range(20)]
    assert None not in before
    wait_until(lambda: receiver.waiting > 0, "a delivery under way")
    stop, meanwhile = threading.Event(), list[str]()
    writer = threading.Thread(target=_write_until, args=(source, stop, meanwhile))
    writer.start()
    try:
        assert "The backup is complete" in _run("backup", source.data_dir, tmp_path / "backup")
    finally:
        stop.set()
        writer.join()
    assert meanwhile
    copy_dir = tmp_path / "copy"
    _run("restore", copy_dir, tmp_path / "backup")
    _check_copy(source, receiver, copy_dir, webhook, before)


def _check_copy(
    source: Service, receiver: Receiver, copy_dir: Path, webhook: str, before: list[str | None]
) -> None:
    with run_service(DATA_DIR=str(copy_dir), OUTBOUND="off") as copy:
        ready = requests.get(f"{copy.base}/health/ready", timeout=10).json()
        assert ready["checks"]["outbound"] == "off"
        artifacts = _all_artifacts(copy)
        assert set(before) <= set(artifacts)
        for artifact in artifacts:
            assert _content(copy, artifact) == _content(source, artifact)
        seen = receiver.seen.copy()
        assert copy.write("written to the copy") is not None
        wait_until(lambda: len(copy.deliveries(webhook)) > len(artifacts), "the event of the copy")
        assert {delivery["status"] for delivery in copy.deliveries(webhook)} == {"pending"}
        assert receiver.seen == seen
    receiver.hold.clear()


def _all_artifacts(service: Service) -> list[str]:
    answer = service.call("GET", "/artifacts", params={"page_size": 1000})
    return [row["id"] for row in answer.json()["data"] if row["name"] == "fault.txt"]


def test_nothing_is_copied_when_nothing_runs(tmp_path: Path) -> None:
    refusal = _run("backup", tmp_path / "data", tmp_path / "backup", status=1)
    assert "No service is running on" in refusal
    assert not (tmp_path / "backup").exists()


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """The locked data folder of a service outside demo mode, with the keys of its demo mode."""
    folder = tmp_path / "data"
    lock = DataLock(folder)
    _record(folder, DEMO="off", DATABASE_URL="postgresql://db.invalid/labeling")
    (folder / "secrets.env").write_text("SECRET_KEY=of the demo mode\n")
    yield folder
    lock.release()


def _record(data_dir: Path, **environ: str) -> None:
    (data_dir / "running.json").write_text(json.dumps({"environment": environ}))


def test_nothing_is_copied_while_the_service_starts(data_dir: Path, tmp_path: Path) -> None:
    _record(data_dir, DEMO="off")
    refusal = _run("backup", data_dir, tmp_path / "backup", status=1)
    assert refusal.endswith("is starting. Try again when it is ready.\n")
    assert not (tmp_path / "backup").exists()


def test_an_earlier_backup_is_not_called_incomplete(data_dir: Path, backup: Path) -> None:
    url = "postgresql://db.invalid/labeling"
    refusal = _run("backup", data_dir, "--database-url", url, backup, status=1)
    assert "Nothing was copied" in refusal
    assert "File exists" in refusal
    assert "incomplete" not in refusal


def _back_up_empty_database(data_dir: Path, tmp_path: Path) -> None:
    with EmbeddedPostgres(tmp_path / "source", fast=True) as server:
        query_alone(server.url, "CREATE TABLE alembic_version (version_num text)")
        url = get_superuser_url(server)
        _run("backup", data_dir, "--database-url", url, tmp_path / "backup")


def test_outside_demo_mode_a_backup_has_no_keys(data_dir: Path, tmp_path: Path) -> None:
    _back_up_empty_database(data_dir, tmp_path)
    assert not (tmp_path / "backup" / "secrets.env").exists()
    assert json.loads((tmp_path / "backup" / "backup.json").read_text())["keys"] is False


def test_a_copy_names_the_password_of_its_demo_users(data_dir: Path, tmp_path: Path) -> None:
    _record(data_dir, DEMO="on", DATABASE_URL="postgresql://db.invalid/labeling")
    (data_dir / "postgres").mkdir()
    (data_dir / "postgres" / "demo.password").write_text("given by hand\n")
    _back_up_empty_database(data_dir, tmp_path)
    _run("restore", tmp_path / "copy", tmp_path / "backup")
    copy = tmp_path / "copy" / "postgres" / "demo.password"
    assert copy.read_text() == "given by hand\n"
    assert (tmp_path / "copy" / "secrets.env").exists()


@pytest.mark.parametrize(
    ("url", "dbname", "password"),
    [
        ("postgresql:///labels", "postgresql:///labels", "of the environment"),
        ("postgresql://me@db/labels", "postgresql://me@db/labels", "of the environment"),
        (
            "postgresql://m%40e:p%40w@db:6/labels?sslmode=require",
            "postgresql://m%40e@db:6/labels?sslmode=require",
            "p@w",
        ),
    ],
)
def test_the_tools_get_the_user_and_the_password_of_the_operator(
    url: str, dbname: str, password: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "pg_dump"
    program.write_text('#!/bin/sh\necho "$1 $PGPASSWORD"\n')
    program.chmod(0o700)
    monkeypatch.setattr(postgres_tools, "find_postgres_binaries", lambda _: tmp_path)
    monkeypatch.setenv("PGPASSWORD", "of the environment")
    assert list(postgres_tools.run_tool("pg_dump", url, [])) == [f"--dbname={dbname} {password}\n"]


def test_files_are_restored_where_the_service_reads_them(backup: Path, tmp_path: Path) -> None:
    (backup / "files").mkdir()
    (backup / "files" / "a").write_bytes(b"x")
    url = f"file://{tmp_path}/srv"
    _run("restore", tmp_path / "data", backup, status=1, STORAGE_URL=url)
    assert (tmp_path / "srv" / "a").read_bytes() == b"x"
    assert not (tmp_path / "data" / "files").exists()


def test_a_backup_that_broke_off_is_refused(backup: Path, tmp_path: Path) -> None:
    (backup / "database.dump").write_bytes(b"PGDMP")
    (backup / "backup.json").unlink()
    refusal = _run("restore", tmp_path / "data", backup, status=1)
    assert "not a complete backup" in refusal
    assert not (tmp_path / "data").exists()


def test_a_restore_that_breaks_off_leaves_no_database(backup: Path, tmp_path: Path) -> None:
    for _ in range(2):
        refusal = _run("restore", tmp_path / "data", backup, status=1)
        assert "pg_restore failed" in refusal
        assert not (tmp_path / "data" / "postgres").exists()


@pytest.mark.parametrize("owner", ["somebody", "postgres"])
def test_tables_of_another_owner_are_restored_for_the_application(
    backup: Path, tmp_path: Path, owner: str
) -> None:
    """A server of one's own may have any owner, one with the name of the superuser too."""
    with EmbeddedPostgres(tmp_path / "source", fast=True) as server:
        if owner != "postgres":
            query_alone(get_superuser_url(server), f"CREATE ROLE {owner}")
        query_alone(
            get_superuser_url(server),
            "CREATE ROLE labeling_app",
            "CREATE EXTENSION pg_trgm",
            f"GRANT CREATE ON SCHEMA public TO {owner}",
            f"SET ROLE {owner}",
            "CREATE TABLE notes (body text)",
            "ALTER TABLE notes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
            "RESET ROLE",
            f"ALTER DEFAULT PRIVILEGES FOR ROLE {owner} GRANT SELECT ON TABLES TO labeling_app",
        )
        _dump_database(get_superuser_url(server), backup / "database.dump", Progress())
    (backup / "backup.json").write_text(json.dumps({"owner": owner}))
    _run("restore", tmp_path / "data", backup)
    with EmbeddedPostgres(tmp_path / "data" / "postgres") as server:
        assert query_alone(
            get_superuser_url(server),
            "SELECT tableowner, pg_get_userbyid(defaclrole) FROM pg_tables, pg_default_acl"
            " WHERE tablename = 'notes'",
        ) == [("labeling", "labeling")]
        roles = "SELECT rolname FROM pg_roles WHERE rolsuper OR rolcanlogin ORDER BY 1"
        assert query_alone(get_superuser_url(server), roles) == [("labeling",), ("postgres",)]
        assert query_alone(server.url, "SELECT 1") == [(1,)]


def test_nothing_is_restored_over_a_database(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "data" / "postgres").mkdir(parents=True)
    assert "already has a database" in _run("restore", tmp_path / "data", backup, status=1)
