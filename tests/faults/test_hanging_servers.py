"""PostgreSQL or Valkey is suspended or unreachable.

Without PostgreSQL all requests are soon refused, and without Valkey none; afterwards all succeed.
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
from tests.faults.conftest import Receiver, Service, first_data, running
from tests.faults.outages import Clients, check_health, outage

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
            # A process that the postmaster was starting may end meanwhile.
            with suppress(psutil.NoSuchProcess):
                process.resume()


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labeling-hangs-")))
        folder.chmod(0o755)
        # To migrate an empty database and load the demo takes longer than the tests.
        copy = ["cp", "-a", first_data() / "postgres", folder / "postgres"]
        subprocess.run(copy, check=True)
        server = stack.enter_context(EmbeddedPostgres(folder / "postgres", fast=True))
        proxy = stack.enter_context(Proxy(("127.0.0.1", server.port)))
        yield Database(server, proxy)


@pytest.fixture(scope="module")
def guarded(database: Database) -> Iterator[Service]:
    """Run a service on that database, with rate limits."""
    with running(DATABASE_URL=database.url) as found:
        yield found


def _total(service: Service) -> int:
    total: int = service.call("GET", "/artifacts?page_size=1").json()["meta"]["total"]
    return total


def test_a_database_that_stands_still(
    guarded: Service, database: Database, receiver: Receiver
) -> None:
    webhook = guarded.hook(receiver)
    before = _total(guarded)
    with (
        Clients(guarded) as clients,
        outage(clients, database.suspend, database.resume) as began,
    ):
        check_health(guarded, began)
    # Nothing was done twice, nothing was lost, and the jobs went on by themselves.
    assert _total(guarded) - before == len(clients.created)
    guarded.settle(webhook, set(clients.created.values()), receiver)
    assert guarded.call("DELETE", f"/webhooks/{webhook}").status_code == 204


def test_a_database_that_vanishes(guarded: Service, database: Database) -> None:
    before = _total(guarded)
    with (
        Clients(guarded) as clients,
        outage(clients, database.proxy.vanish, database.proxy.come_back) as began,
    ):
        check_health(guarded, began)
    assert _total(guarded) - before == len(clients.created)

    def parsed() -> bool:
        answer = guarded.call("GET", "/artifacts", params={"status": "processing", "page_size": 1})
        return answer.status_code == 200 and answer.json()["meta"]["total"] == 0

    wait_until(parsed, "the documents to be parsed")


def test_requests_go_on_while_valkey_hangs(guarded: Service, receiver: Receiver) -> None:
    webhook = guarded.hook(receiver)
    (valkey,) = guarded.processes("valkey-server")
    valkey.suspend()
    try:
        written, times = set(), []
        for number in range(40):
            began = time.perf_counter()
            found = guarded.write(f"hung {number}")
            times.append(time.perf_counter() - began)
            assert found is not None
            written.add(found)
        # A limited operation asks the hung store once, and then leaves it alone.
        limited = [_timed_login(guarded) for _ in range(5)]
        # The quickest: whoever asks the hung store waits for it, however idle the machine is.
        assert min(times) < REDIS_TIMEOUT_SECONDS
        assert min(limited) < 1.5
    finally:
        valkey.resume()
    guarded.settle(webhook, written, receiver)
    assert guarded.call("DELETE", f"/webhooks/{webhook}").status_code == 204


def _timed_login(service: Service) -> float:
    began = time.perf_counter()
    body = {"email": "admin@demo.example", "password": service.password}
    answer = requests.post(f"{service.base}/api/v1/auth/login", json=body, timeout=30)
    assert answer.status_code == 200, answer.text
    return time.perf_counter() - began
