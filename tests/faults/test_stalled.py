"""Clients that stall do not delay other clients."""

import os
import time
from contextlib import ExitStack

import psutil
import pytest
import requests

from tests.factories.waiting import wait_until
from tests.faults.conftest import Service, running
from tests.faults.hammering import hammering
from tests.faults.stalling import stalling

pytestmark = pytest.mark.xdist_group("faults")
STALLED = 500
REQUESTS = 150
DOWNLOAD_BYTES = 8 * 1024 * 1024
SLACK_SECONDS = 0.1
"""What a machine whose cores are both busy may add to one request in a hundred."""


@pytest.fixture
def download(demo: Service) -> str:
    """Return the path of a file that is too large for the buffer of a socket."""
    content = b"%PDF-1.7\n" + os.urandom(DOWNLOAD_BYTES)
    files = {"file": ("large.pdf", content, "application/pdf")}
    answer = demo.call("POST", "/artifacts", files=files)
    assert answer.status_code == 201, answer.text
    return f"/artifacts/{answer.json()['data']['id']}/content"


def slowest(service: Service, path: str) -> float:
    """Return the 99th percentile of the response times."""
    times = []
    with requests.Session() as session:
        for _ in range(REQUESTS):
            began = time.perf_counter()
            answer = session.get(f"{service.base}{path}", headers=service.headers, timeout=30)
            times.append(time.perf_counter() - began)
            assert answer.status_code == 200, answer.text
    return sorted(times)[int(REQUESTS * 0.99)]


def port_of(service: Service) -> int:
    return int(service.base.rpartition(":")[2])


def list_options(service: Service, request: pytest.FixtureRequest) -> list[str]:
    """Return the path and the header lines of a download."""
    lines = (f"{name}: {value}" for name, value in service.headers.items())
    return [f"/api/v1{request.getfixturevalue('download')}", *lines]


PATHS = ("/health/live", "/api/v1/artifacts?page_size=100")


def memory_of(service: Service) -> int:
    return sum(process.memory_info().rss for process in service.processes("gunicorn"))


@pytest.mark.parametrize("kind", ["head", "body", "reader"])
def test_clients_that_stall_slow_nobody_down(
    demo: Service, kind: str, request: pytest.FixtureRequest
) -> None:
    """Check the response times and the memory of the API while clients stall."""
    options = list_options(demo, request) if kind == "reader" else []
    usual = {path: slowest(demo, path) for path in PATHS}
    before = memory_of(demo)
    with stalling(port_of(demo), kind, STALLED, *options):
        for path in PATHS:
            stalled = slowest(demo, path)
            assert stalled <= 3 * usual[path] + SLACK_SECONDS, (path, usual, stalled)
        assert memory_of(demo) - before < 300 * 1024 * 1024


def test_an_upload_and_a_stop_go_through_beside_them() -> None:
    """Run all types of stalling clients at once; a stop does not wait longer than documented."""
    with running(RATE_LIMITS="off") as service, ExitStack() as stack:
        for kind in ("head", "body"):
            stack.enter_context(stalling(port_of(service), kind, STALLED))
        files = {"file": ("a.txt", b"some text " * 50_000, "text/plain")}
        assert service.call("POST", "/artifacts", files=files).status_code == 201
        children = psutil.Process(service.process.pid).children(recursive=True)
        service.process.terminate()
        wait_until(lambda: service.process.poll() is not None, "the service to stop", 60)
        assert not any(child.is_running() for child in children)


def test_pages_that_must_be_rendered_slow_nobody_down(demo: Service) -> None:
    """Check that few pages are rendered at a time, and that other requests are refused with 503."""
    body = {"name": "pages.txt", "text": "A line of the document's text.\n" * 500}
    answer = demo.call("POST", "/artifacts", json=body)
    path = f"/artifacts/{answer.json()['data']['id']}"

    def is_read() -> bool:
        data = demo.call("GET", path).json()["data"]
        return data["status"] not in ("processing", "failed")

    wait_until(is_read, "the document to be read")
    usual = {path: slowest(demo, path) for path in PATHS}
    # A width that is not cached is rendered each time.
    url = f"{demo.base}/api/v1{path}/pages/1/image?width=1001"
    with hammering(url, 24, demo.headers) as counts:
        for path in PATHS:
            times = slowest(demo, path)
            assert times <= 3 * usual[path] + SLACK_SECONDS, (path, usual, times)
    assert counts["200"] > 0
    assert set(counts) == {"200", "503"}
