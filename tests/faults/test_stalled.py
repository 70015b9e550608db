"""Check that clients that stall do not delay other clients."""

import os
import time
from contextlib import ExitStack
from statistics import median

import psutil
import pytest
import requests

from tests.factories.waiting import wait_until
from tests.faults.conftest import Service, run_service
from tests.faults.hammering import run_clients
from tests.faults.stalling import run_stalling_clients

pytestmark = pytest.mark.xdist_group("faults")
STALLED = 500
REQUESTS = 150
DOWNLOAD_BYTES = 8 * 1024 * 1024
SLACK_SECONDS = 0.1
"""The tolerance for half of the requests on a machine with two busy cores."""
MAX_SECONDS = 5.0
"""The maximum response time. A request that waited for a client that stalls would take longer than
this; `make bench` measures the 99th percentile on an idle machine."""


@pytest.fixture
def download(demo: Service) -> str:
    """Return the path of a file that is too large for the buffer of a socket."""
    content = b"%PDF-1.7\n" + os.urandom(DOWNLOAD_BYTES)
    files = {"file": ("large.pdf", content, "application/pdf")}
    response = demo.call("POST", "/artifacts", files=files)
    assert response.status_code == 201, response.text
    return f"/artifacts/{response.json()['data']['id']}/content"


def measure_median(service: Service, path: str) -> float:
    """Return the median of the response times in seconds; check that no request takes long."""
    times = []
    with requests.Session() as session:
        for _ in range(REQUESTS):
            began = time.perf_counter()
            response = session.get(
                f"{service.base}{path}", headers=service.headers, timeout=MAX_SECONDS
            )
            times.append(time.perf_counter() - began)
            assert response.status_code == 200, response.text
    assert max(times) < MAX_SECONDS
    return median(times)


def get_port(service: Service) -> int:
    return int(service.base.rpartition(":")[2])


def list_options(service: Service, request: pytest.FixtureRequest) -> list[str]:
    """Return the path and the header lines of a download."""
    lines = (f"{name}: {value}" for name, value in service.headers.items())
    return [f"/api/v1{request.getfixturevalue('download')}", *lines]


PATHS = ("/health/live", "/api/v1/artifacts?page_size=100")


def measure_memory(service: Service) -> int:
    return sum(process.memory_info().rss for process in service.processes("gunicorn"))


@pytest.mark.parametrize("kind", ["head", "body", "reader"])
def test_stalling_clients_do_not_delay_other_clients(
    demo: Service, kind: str, request: pytest.FixtureRequest
) -> None:
    """Check the response times and the memory of the API while clients stall."""
    options = list_options(demo, request) if kind == "reader" else []
    usual = {path: measure_median(demo, path) for path in PATHS}
    before = measure_memory(demo)
    with run_stalling_clients(get_port(demo), kind, STALLED, *options):
        for path in PATHS:
            stalled = measure_median(demo, path)
            assert stalled <= 3 * usual[path] + SLACK_SECONDS, (path, usual, stalled)
        assert measure_memory(demo) - before < 300 * 1024 * 1024


def test_uploads_and_a_stop_succeed_while_clients_stall() -> None:
    """Run all types of stalling clients at once; a stop does not wait longer than documented."""
    with run_service(RATE_LIMITS="off") as service, ExitStack() as stack:
        for kind in ("head", "body"):
            stack.enter_context(run_stalling_clients(get_port(service), kind, STALLED))
        files = {"file": ("a.txt", b"some text " * 50_000, "text/plain")}
        assert service.call("POST", "/artifacts", files=files).status_code == 201
        children = psutil.Process(service.process.pid).children(recursive=True)
        service.process.terminate()
        wait_until(lambda: service.process.poll() is not None, "the service to stop", 60)
        assert not any(child.is_running() for child in children)


def test_rendering_pages_does_not_delay_other_requests(demo: Service) -> None:
    """Check that requests stay fast while pages are rendered, and excess renderings get a 503."""
    body = {"name": "pages.txt", "text": "A line of the document's text.\n" * 500}
    response = demo.call("POST", "/artifacts", json=body)
    path = f"/artifacts/{response.json()['data']['id']}"

    def is_read() -> bool:
        data = demo.call("GET", path).json()["data"]
        return data["status"] not in ("processing", "failed")

    wait_until(is_read, "the document to be read")
    usual = {path: measure_median(demo, path) for path in PATHS}
    # A width that is not cached is rendered each time.
    url = f"{demo.base}/api/v1{path}/pages/1/image?width=1001"
    with run_clients(url, 24, demo.headers) as counts:
        for path in PATHS:
            times = measure_median(demo, path)
            assert times <= 3 * usual[path] + SLACK_SECONDS, (path, usual, times)
    assert counts["200"] > 0
    assert set(counts) == {"200", "503"}
