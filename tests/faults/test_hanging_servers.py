"""Check requests while PostgreSQL or Valkey is suspended or unreachable.

Without PostgreSQL, all requests are soon refused. Without Valkey, no request is refused. Later, all
requests succeed.
"""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest
import requests
from sqlalchemy import make_url

from app.kit.container import REDIS_TIMEOUT_SECONDS
from devserver.postgres import EmbeddedPostgres
from tests.factories.proxy import Proxy
from tests.factories.waiting import wait_until
from tests.faults.conftest import Receiver, Service, get_first_data, run_service
from tests.faults.outages import Clients, check_health, run_outage

pytestmark = pytest.mark.xdist_group("faults")


class Database:
    """An external PostgreSQL that the service reaches through a proxy."""

    def __init__(self, server: EmbeddedPostgres, proxy: Proxy) -> None:
        self._server = server
        self.proxy = proxy

    @property
    def url(self) -> str:
        url = make_url(self._server.url).set(port=self.proxy.port)
        return url.render_as_string(hide_password=False)

    def _processes(self) -> list[psutil.Process]:
        postmaster = psutil.Process(self._server.pid)
        return [postmaster, *postmaster.children()]

    def suspend(self) -> None:
        for process in self._processes():
            with suppress(psutil.NoSuchProcess):
                process.suspend()

    def resume(self) -> None:
        for process in self._processes():
            # A process that the postmaster was starting may have ended.
            with suppress(psutil.NoSuchProcess):
                process.resume()


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labeling-hangs-")))
        folder.chmod(0o755)
        # Migrating an empty database and loading the demo would take longer than the tests.
        copy = ["cp", "-a", get_first_data() / "postgres", folder / "postgres"]
        subprocess.run(copy, check=True)
        server = stack.enter_context(EmbeddedPostgres(folder / "postgres", fast=True))
        proxy = stack.enter_context(Proxy(("127.0.0.1", server.port)))
        yield Database(server, proxy)


@pytest.fixture(scope="module")
def limited_service(database: Database) -> Iterator[Service]:
    """Run a service that uses `database`, with rate limits."""
    with run_service(DATABASE_URL=database.url) as service:
        yield service


def _count_artifacts(service: Service) -> int:
    return int(service.call("GET", "/artifacts?page_size=1").json()["meta"]["total"])


def test_requests_are_refused_while_the_database_is_suspended(
    limited_service: Service, database: Database, receiver: Receiver
) -> None:
    webhook = limited_service.create_webhook(receiver)
    before = _count_artifacts(limited_service)
    with (
        Clients(limited_service) as clients,
        run_outage(clients, database.suspend, database.resume) as began,
    ):
        check_health(limited_service, began)
    # Nothing was done twice, nothing was lost, and the jobs continued without intervention.
    assert _count_artifacts(limited_service) - before == len(clients.created)
    limited_service.settle(webhook, set(clients.created.values()), receiver)
    assert limited_service.call("DELETE", f"/webhooks/{webhook}").status_code == 204


def test_requests_are_refused_while_the_database_is_unreachable(
    limited_service: Service, database: Database
) -> None:
    before = _count_artifacts(limited_service)
    with (
        Clients(limited_service) as clients,
        run_outage(
            clients, database.proxy.stop_forwarding, database.proxy.resume_forwarding
        ) as began,
    ):
        check_health(limited_service, began)
    assert _count_artifacts(limited_service) - before == len(clients.created)

    def are_parsed() -> bool:
        response = limited_service.call(
            "GET", "/artifacts", params={"status": "processing", "page_size": 1}
        )
        return response.status_code == 200 and response.json()["meta"]["total"] == 0

    wait_until(are_parsed, "the documents to be parsed")


def test_requests_succeed_while_valkey_hangs(limited_service: Service, receiver: Receiver) -> None:
    webhook = limited_service.create_webhook(receiver)
    (valkey,) = limited_service.processes("valkey-server")
    valkey.suspend()
    try:
        written, times = set(), []
        for number in range(40):
            began = time.perf_counter()
            artifact_id = limited_service.write(f"hung {number}")
            times.append(time.perf_counter() - began)
            assert artifact_id is not None
            written.add(artifact_id)
        # A process that has waited for the hung store once does not use it for some time.
        limited = [_time_login(limited_service) for _ in range(5)]
        # The minimum, because a request that uses the hung store waits even on an idle machine.
        assert min(times) < REDIS_TIMEOUT_SECONDS
        assert min(limited) < 1.5
    finally:
        valkey.resume()
    limited_service.settle(webhook, written, receiver)
    assert limited_service.call("DELETE", f"/webhooks/{webhook}").status_code == 204


def _time_login(service: Service) -> float:
    began = time.perf_counter()
    body = {"email": "admin@demo.example", "password": service.password}
    response = requests.post(f"{service.base}/api/v1/auth/login", json=body, timeout=30)
    assert response.status_code == 200, response.text
    return time.perf_counter() - began
