"""The disk of a running service fills up: reads and labeling continue, and uploads recover."""

from typing import Any

import pytest
import requests

from tests.factories.scrape import parse, series
from tests.factories.waiting import wait_until
from tests.faults.conftest import Service
from tests.faults.small_disk import SmallDisk, small_disk

pytestmark = pytest.mark.xdist_group("faults")


def _upload(service: Service, text: bytes) -> requests.Response:
    part = {"file": ("a.txt", text, "text/plain")}
    return service.call("POST", "/artifacts", files=part)


def _refused(answer: requests.Response) -> None:
    assert answer.status_code == 503, answer.text
    assert answer.json()["error"]["details"]["reason"] == "storage_full"
    assert int(answer.headers["Retry-After"]) > 0


def _reads(service: Service, artifact: str) -> None:
    for path in ("", f"/{artifact}", f"/{artifact}/text", f"/{artifact}/content"):
        answer = service.call("GET", f"/artifacts{path}")
        assert answer.status_code == 200, (path, answer.text)


def _status(service: Service, artifact: str) -> str:
    status: str = service.call("GET", f"/artifacts/{artifact}").json()["data"]["status"]
    return status


def _readiness(service: Service) -> Any:
    answer = requests.get(f"{service.base}/health/ready", timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()["checks"]


def _metrics(service: Service) -> dict[Any, float]:
    token = service.environment()["METRICS_TOKEN"]
    headers = {"Authorization": f"Bearer {token}"}
    answer = requests.get(f"{service.base}/metrics", headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    return parse(answer.text)


def _lasting(service: Service) -> set[int]:
    """Return the processes that run as long as the service; jobs run in other processes."""
    found = [*service.processes("gunicorn"), *service.processes("worker.py")]
    parents = {process.pid for process in found if process.ppid() == service.process.pid}
    return parents | {process.pid for process in found if process.ppid() in parents}


def test_a_full_disk_stops_uploads_and_nothing_else() -> None:
    with small_disk() as disk:
        service = disk.service
        answer = _upload(service, b"taken in before the disk was full")
        assert answer.status_code == 201, answer.text
        artifact = answer.json()["data"]["id"]
        wait_until(lambda: _status(service, artifact) == "ready", "a document that is ready")
        before = _lasting(service)
        assert len(before) >= 5
        disk.use_up()
        _goes_on(disk, artifact)
        if disk.own:
            disk.fill()
            assert disk.free() == 0
            for _ in range(10):
                _reads(service, artifact)
                _refused(_upload(service, b"not even with nothing left"))
        # Processes of other jobs may have started.
        assert before <= _lasting(service), "no process died"
        disk.clear()
        _comes_back(disk)


def _goes_on(disk: SmallDisk, artifact: str) -> None:
    service = disk.service
    assert disk.free() < disk.reserve
    checks = _readiness(service)
    assert checks == {**checks, "storage": "full", "database": "ok", "redis": "ok"}
    _refused(_upload(service, b"too late"))
    _refused(service.call("POST", "/artifacts", json={"name": "a.txt", "text": "too late"}))
    _refused(service.call("POST", "/exports", json={"format": "jsonl"}))
    _reads(service, artifact)
    # The database goes on writing, as it has the reserve.
    revision = service.call("GET", f"/artifacts/{artifact}").json()["data"]["revision"]
    for number in range(50):
        body = {"metadata": {"n": number, "long": "x" * 2000}, "revision": revision}
        answer = service.call("PATCH", f"/artifacts/{artifact}", json=body)
        assert answer.status_code == 200, answer.text
        revision = answer.json()["data"]["revision"]
    refusals = series("labeling_storage_refusals_total", {"operation": "upload"})
    wait_until(lambda: _metrics(service)[refusals] >= 1, "the refusals among the metrics")
    found = _metrics(service)
    folders = [series("labeling_storage_free_bytes", {"folder": one}) for one in ("data", "files")]
    assert min(found[folder] for folder in folders) < disk.reserve
    assert found[series("labeling_metrics_store_up", {})] == 1


def _comes_back(disk: SmallDisk) -> None:
    service = disk.service
    wait_until(lambda: _readiness(service)["storage"] == "ok", "the space to be back")
    answer = _upload(service, b"taken in again")
    assert answer.status_code == 201, answer.text
    artifact = answer.json()["data"]["id"]
    wait_until(lambda: _status(service, artifact) == "ready", "a document that is ready")
    export = service.call("POST", "/exports", json={"format": "jsonl"})
    assert export.status_code == 202, export.text
    path = f"/exports/{export.json()['data']['id']}"
    wait_until(
        lambda: service.call("GET", path).json()["data"]["status"] == "completed", "the export"
    )
