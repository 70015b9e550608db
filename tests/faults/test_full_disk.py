"""Check that reads and labeling continue while the disk is full, and that uploads recover."""

from contextlib import closing
from functools import partial
from typing import Any

import psycopg2
import pytest
import requests

from tests.factories.scrape import build_series_key, parse
from tests.factories.waiting import wait_until
from tests.faults.conftest import Service
from tests.faults.small_disk import SmallDisk, run_on_small_disk

pytestmark = pytest.mark.xdist_group("faults")


def _check_refused(response: requests.Response) -> None:
    assert response.status_code == 503, response.text
    assert response.json()["error"]["details"]["reason"] == "storage_full"
    assert int(response.headers["Retry-After"]) > 0


def _check_reads(service: Service, artifact: str) -> None:
    for path in ("", f"/{artifact}", f"/{artifact}/text", f"/{artifact}/content"):
        response = service.call("GET", f"/artifacts{path}")
        assert response.status_code == 200, (path, response.text)


def _query_as_superuser(service: Service, *statements: str) -> Any:
    """Run statements on a new connection, and return the first value of the last one's result."""
    password = (service.data_dir / "postgres" / "postgres.password").read_text().strip()
    url = service.environment()["DATABASE_URL"]
    with closing(psycopg2.connect(url, user="postgres", password=password)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            ((value,),) = cursor.fetchall()
            return value


def _stop_autovacuum(service: Service) -> None:
    """Stop autovacuum, so that no connection needs to write a file.

    Autovacuum deletes cache files of PostgreSQL (`pg_internal.init`). The next new connection then
    writes them, as the last connection here does, and fails if the disk is full.
    """
    _query_as_superuser(service, "ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()")
    count = "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'autovacuum%'"
    wait_until(lambda: _query_as_superuser(service, count) == 0, "autovacuum to stop")


def _check_without_cache_files(disk: SmallDisk, artifact: str) -> None:
    """Check that open connections continue to work if PostgreSQL cannot accept new ones."""
    service = disk.service
    files = list(service.data_dir.rglob("pg_internal.init"))
    assert files
    for file in files:
        file.unlink()
    disk.fill()
    with pytest.raises(psycopg2.OperationalError, match="could not write init file"):
        _query_as_superuser(service, "SELECT 1")

    def can_read(path: str) -> bool:
        response = service.call("GET", path)
        if response.status_code == 200:
            return True
        assert response.status_code == 503, response.text
        assert response.json()["error"]["details"]["reason"] == "database"
        assert int(response.headers["Retry-After"]) > 0
        return False

    for path in (f"/artifacts/{artifact}", f"/artifacts/{artifact}/content"):
        wait_until(partial(can_read, path), "a thread with an open connection")


def _get_readiness_checks(service: Service) -> Any:
    response = requests.get(f"{service.base}/health/ready", timeout=30)
    assert response.status_code == 200, response.text
    return response.json()["checks"]


def _read_metrics(service: Service) -> dict[Any, float]:
    token = service.environment()["METRICS_TOKEN"]
    headers = {"Authorization": f"Bearer {token}"}
    response = requests.get(f"{service.base}/metrics", headers=headers, timeout=30)
    assert response.status_code == 200, response.text
    return parse(response.text)


def _find_permanent_pids(service: Service) -> set[int]:
    """Return the ids of the processes that run as long as the service; they run no jobs."""
    processes = [*service.processes("gunicorn"), *service.processes("worker.py")]
    parents = {process.pid for process in processes if process.ppid() == service.process.pid}
    return parents | {process.pid for process in processes if process.ppid() in parents}


def test_a_full_disk_stops_only_uploads() -> None:
    with run_on_small_disk() as disk:
        service = disk.service
        artifact = service.upload_and_wait(b"uploaded before the disk was full")
        before = _find_permanent_pids(service)
        assert len(before) >= 5
        if disk.own:
            _stop_autovacuum(service)
        disk.use_up()
        _check_full_disk(disk, artifact)
        if disk.own:
            disk.fill()
            assert disk.get_free_bytes() == 0
            for _ in range(10):
                _check_reads(service, artifact)
                _check_refused(service.upload(b"not even with nothing left"))
            _check_without_cache_files(disk, artifact)
        # Processes of other jobs may have started.
        assert before <= _find_permanent_pids(service), "no process died"
        disk.clear()
        _check_recovery(disk)


def _check_full_disk(disk: SmallDisk, artifact: str) -> None:
    service = disk.service
    assert disk.get_free_bytes() < disk.reserve
    checks = _get_readiness_checks(service)
    assert checks == {**checks, "storage": "full", "database": "ok", "redis": "ok"}
    _check_refused(service.upload(b"too late"))
    _check_refused(service.call("POST", "/artifacts", json={"name": "a.txt", "text": "too late"}))
    _check_refused(service.call("POST", "/exports", json={"format": "jsonl"}))
    _check_reads(service, artifact)
    # The database can still write, because it may use the reserve.
    revision = service.call("GET", f"/artifacts/{artifact}").json()["data"]["revision"]
    for number in range(50):
        body = {"metadata": {"n": number, "long": "x" * 2000}, "revision": revision}
        response = service.call("PATCH", f"/artifacts/{artifact}", json=body)
        assert response.status_code == 200, response.text
        revision = response.json()["data"]["revision"]
    refusals = build_series_key("labeling_storage_refusals_total", {"operation": "upload"})
    wait_until(lambda: _read_metrics(service)[refusals] >= 1, "the refusals in the metrics")
    values = _read_metrics(service)
    folders = [
        build_series_key("labeling_storage_free_bytes", {"folder": name})
        for name in ("data", "files")
    ]
    assert min(values[folder] for folder in folders) < disk.reserve
    assert values[build_series_key("labeling_metrics_store_up", {})] == 1


def _check_recovery(disk: SmallDisk) -> None:
    service = disk.service
    wait_until(
        lambda: _get_readiness_checks(service)["storage"] == "ok", "the space to be free again"
    )
    service.upload_and_wait(b"uploaded again")
    export = service.call("POST", "/exports", json={"format": "jsonl"})
    assert export.status_code == 202, export.text
    path = f"/exports/{export.json()['data']['id']}"
    wait_until(
        lambda: service.call("GET", path).json()["data"]["status"] == "completed", "the export"
    )
