"""Fixtures that run the service under its supervisor, and a receiver that records deliveries."""

import atexit
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import psycopg2
import pytest
import redis
import requests

from devserver.process import find_free_port
from tests.factories.processes import SHARED, send_signal
from tests.factories.servers import QuietHandler, serve_receiver
from tests.factories.waiting import wait_until
from tests.factories.work import DISCARD_PENDING_WORK

if TYPE_CHECKING:
    from tests.faults.sites import Site

ROOT = Path(__file__).parents[2]
ADDRESS = "127.0.0.2"
DEADLINE_SECONDS = 150.0


@dataclass
class Receiver:
    """An HTTP server that records every delivery. While `hold` is set, it does not respond."""

    url: str = ""
    seen: Counter[str] = field(default_factory=Counter)
    artifacts: set[str] = field(default_factory=set)
    hold: threading.Event = field(default_factory=threading.Event)
    waiting: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def record_delivery(self, headers: Any, body: bytes) -> None:
        data = json.loads(body)["data"]
        with self.lock:
            self.waiting += 1
        while self.hold.is_set():
            time.sleep(0.02)
        with self.lock:
            self.waiting -= 1
            self.seen[headers["X-Service-Delivery"]] += 1
            self.artifacts.add(data.get("artifact_id", ""))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Run a receiver on an address to which the service may deliver."""
    receiver = Receiver()

    def receive(request: QuietHandler) -> int:
        receiver.record_delivery(request.headers, request.read_body())
        return 204

    with serve_receiver(receive, ADDRESS) as url:
        receiver.url = f"{url}/hook"
        try:
            yield receiver
        finally:
            receiver.hold.clear()


@dataclass
class Service:
    """The running service, with requests sent as the demo organization's admin."""

    base: str
    process: subprocess.Popen[bytes]
    folder: Path
    password: str
    start: Callable[[], subprocess.Popen[bytes]]
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def data_dir(self) -> Path:
        """Return the data folder as the service sees it; the service may have its own mounts."""
        return Path(f"/proc/{self.process.pid}/root{self.folder}/data")

    def restart(self) -> None:
        """Start the service again with the same data, after its process has ended."""
        self.process = self.start()
        wait_until(self.is_ready, "the service to be ready", 180)

    def is_ready(self) -> bool:
        """Return whether the service accepts requests. Fails if its process has ended."""
        assert self.process.poll() is None, (self.folder / "log").read_text()[-4000:]
        try:
            return requests.get(f"{self.base}/health/ready", timeout=2).ok
        except requests.RequestException:
            return False

    def call(self, method: str, path: str, timeout: float = 30, **kwargs: Any) -> requests.Response:
        url = f"{self.base}/api/v1{path}"
        headers = self.headers | kwargs.pop("headers", {})
        return requests.request(method, url, headers=headers, timeout=timeout, **kwargs)

    def login(self) -> None:
        body = {"email": "admin@demo.example", "password": self.password}
        data = self.call("POST", "/auth/login", json=body).json()["data"]
        self.headers = {"Authorization": f"Bearer {data['access_token']}", "X-Org-Slug": "demo"}

    def processes(self, *words: str) -> list[psutil.Process]:
        """Return the service's processes whose name or command line contains all of `words`."""
        matching = []
        for process in psutil.Process(self.process.pid).children(recursive=True):
            try:
                text = " ".join([process.name(), *process.cmdline()])
            except psutil.Error:
                continue
            if all(word in text for word in words):
                matching.append(process)
        return matching

    def kill(self, *words: str) -> None:
        """Kill the service's processes whose name or command line contains all of `words`."""
        for process in self.processes(*words):
            send_signal(process, signal.SIGKILL)

    def flush_valkey(self) -> None:
        """Delete everything in Valkey."""
        with redis.from_url(self.environment()["REDIS_URL"]) as client:
            client.flushall()

    def environment(self) -> dict[str, str]:
        """Return the environment of the service's processes: the URLs of PostgreSQL and Valkey."""
        record = json.loads((self.data_dir / "running.json").read_text())
        return dict(record["environment"])

    def create_webhook(self, receiver: Receiver) -> str:
        body = {"url": receiver.url, "events": ["artifact.ingested"]}
        response = self.call("POST", "/webhooks", json=body)
        assert response.status_code == 201, response.text
        return str(response.json()["data"]["id"])

    def write(self, text: str) -> str | None:
        """Create a document, and return its id, or None if the service did not acknowledge it."""
        try:
            response = self.call("POST", "/artifacts", json={"name": "fault.txt", "text": text})
        except requests.RequestException:
            return None
        if response.status_code == 201:
            return str(response.json()["data"]["id"])
        assert response.status_code in (500, 502, 503), response.text
        assert response.status_code == 503 or "internal_error" not in response.text, response.text
        return None

    def upload(self, text: bytes) -> requests.Response:
        """Upload a text file, and return the response."""
        return self.call("POST", "/artifacts", files={"file": ("a.txt", text, "text/plain")})

    def upload_and_wait(self, text: bytes) -> str:
        """Upload a text file, wait until the document is ready, and return its id."""
        response = self.upload(text)
        assert response.status_code == 201, response.text
        artifact_id = str(response.json()["data"]["id"])

        def is_ready() -> bool:
            document = self.call("GET", f"/artifacts/{artifact_id}").json()["data"]
            return bool(document["status"] == "ready")

        wait_until(is_ready, "a document that is ready")
        return artifact_id

    def deliveries(self, webhook: str) -> list[dict[str, Any]]:
        """Return all deliveries of a webhook."""
        deliveries: list[dict[str, Any]] = []
        cursor = None
        while True:
            query = {"page_size": 1000, **({"cursor": cursor} if cursor else {})}
            page = self.call("GET", f"/webhooks/{webhook}/deliveries", params=query).json()
            deliveries += page["data"]
            cursor = page["meta"]["next_cursor"]
            if cursor is None:
                return deliveries

    def settle(self, webhook: str, written: set[str], receiver: Receiver) -> None:
        """Wait until no delivery is pending; check that all were sent, with at most 4 attempts."""
        deliveries: list[dict[str, Any]] = []

        def is_settled() -> bool:
            query = {"status": "pending", "page_size": 1}
            try:
                page = self.call("GET", f"/webhooks/{webhook}/deliveries", params=query).json()
                if page["data"]:
                    # The list of all deliveries is long, so it is only read when none is pending.
                    return False
                deliveries[:] = self.deliveries(webhook)
            except (requests.RequestException, KeyError, ValueError):
                return False
            # A write that was not acknowledged may emit its event after the first request.
            is_pending = any(d["status"] == "pending" for d in deliveries)
            return len(deliveries) >= len(written) and not is_pending

        wait_until(is_settled, "no pending deliveries")
        assert {d["status"] for d in deliveries} <= {"delivered", "abandoned"}
        for delivery in deliveries:
            assert len(delivery["attempts"]) <= 4
            if delivery["status"] == "delivered":
                assert receiver.seen[delivery["id"]] >= 1
            else:
                assert len(delivery["attempts"]) == 4
        for artifact in written:
            assert self.call("GET", f"/artifacts/{artifact}").status_code == 200
        assert all(d["status"] == "delivered" for d in deliveries), "every delivery must succeed"
        assert written <= receiver.artifacts


_shared: list[Service] = []
_until_last_test = ExitStack()


@pytest.fixture(scope="session")
def _stop_shared() -> Iterator[None]:
    """Stop the shared service at the end of the test run, if it is still running."""
    with _until_last_test:
        yield


@pytest.fixture
def shared_service(_stop_shared: None) -> Service:
    """Return the service that tests share; each test has its own organization (`test_site`)."""
    if not _shared:
        _shared.append(_until_last_test.enter_context(run_service(RATE_LIMITS="off")))
        _until_last_test.callback(_shared.clear)
    return _shared[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """Stop the shared service after the last test of this folder.

    An idle service would use a twentieth of a processor until the end of the test run.
    """
    try:
        return (yield)
    finally:
        if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
            _until_last_test.close()


@pytest.fixture
def demo(shared_service: Service) -> Service:
    """Return the shared service, with requests sent to the demo organization."""
    wait_until(shared_service.is_ready, "the service to be ready after the last test")
    shared_service.headers["X-Org-Slug"] = "demo"
    return shared_service


@pytest.fixture
def test_site(shared_service: Service, request: pytest.FixtureRequest) -> Iterator["Site"]:
    """Create an organization in `shared_service`."""
    from tests.faults.sites import create_site  # noqa: PLC0415 - it imports this module

    wait_until(shared_service.is_ready, "the service to be ready after the last test")
    with create_site(shared_service, request.node.name) as test_site:
        yield test_site
        wait_until(test_site.is_database_ready, "the database to be ready")
        # Pending work of this test must not delay the next test.
        for statement in ("UPDATE webhooks SET active = false", *DISCARD_PENDING_WORK):
            test_site.sql(statement)


def get_base_environment() -> dict[str, str]:
    """Return the environment variables that every program needs.

    All other variables are left out, because other tests may have set them in this process.
    """
    names = ("PATH", "HOME", "LANG", "TMPDIR")
    return {name: os.environ[name] for name in names if name in os.environ}


@contextmanager
def run_service(
    *, output: int | None = None, command_prefix: Sequence[str] = (), **settings: str
) -> Iterator[Service]:
    """Run a service with the demo organization; `settings` are added to its environment.

    `output` is a descriptor for its output, instead of a file. `command_prefix` is a command that
    starts it; the data folder and the service's own command are appended. The service starts with a
    copy of `get_first_data()`, unless the settings contain another data location or
    `command_prefix` is given.
    """
    with tempfile.TemporaryDirectory(prefix="labeling-faults-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        if not command_prefix and not settings.keys() & _DATA_LOCATIONS:
            subprocess.run(["cp", "-a", get_first_data(), folder / "data"], check=True)
        with _start_service(folder, output, command_prefix, settings) as service:
            service.login()
            yield service


_DATA_LOCATIONS = {"DATA_DIR", "STORAGE_URL"}


@cache
def get_first_data() -> Path:
    """Return the data folder of a service that was started and stopped once.

    All processes of a pytest run share it.
    """
    if SHARED not in os.environ:
        os.environ[SHARED] = tempfile.mkdtemp(prefix="labeling-faults-")
        atexit.register(shutil.rmtree, os.environ[SHARED], ignore_errors=True)
        Path(os.environ[SHARED]).chmod(0o755)
    folder = Path(os.environ[SHARED]) / "first-start"
    marker = folder / "made"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists():
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)
            # Recognizing the text of the demo's scan takes as long as all other steps.
            with _start_service(folder, None, (), {"OCR": "off"}) as service:
                wait_until(partial(_has_no_due_job, service), "the first jobs to end")
            marker.touch()
    return folder / "data"


def _has_no_due_job(service: Service) -> bool:
    url, options = service.environment()["DATABASE_URL"], "-c app.all_organizations=on"
    with (
        closing(psycopg2.connect(url, options=options)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT count(*) FROM jobs WHERE due_at <= now()")
        return cursor.fetchone() == (0,)


@contextmanager
def _start_service(
    folder: Path, output: int | None, command_prefix: Sequence[str], settings: Mapping[str, str]
) -> Iterator[Service]:
    """Start a service in `folder`, and stop it at the end of the block."""
    port = find_free_port()
    environ = {
        **get_base_environment(),
        "DATA_DIR": str(folder / "data"),
        "PORT": str(port),
        "DEMO": "on",
        "DEMO_PASSWORD": "a-password-of-the-faults",
        "SECRET_KEY": "",
        "ENCRYPTION_KEYS": "",
        "RATE_LIMITS": "on",
        "EGRESS_ALLOWED_NETWORKS": f"{ADDRESS}/32",
        "CONNECTOR_LOCAL_ROOT": str(folder / "sources"),
        "CONNECTOR_ALLOWED_NETWORKS": "127.0.0.0/8",
        "CONNECTOR_ALLOW_UNENCRYPTED": "true",
        "WEBHOOK_ALLOW_HTTP": "on",
        "WEBHOOK_RETRY_DELAYS": "1,2,3",
        "LOG_LEVEL": "INFO",
        **settings,
    }
    starter = [*command_prefix, environ["DATA_DIR"]] if command_prefix else []
    with (folder / "log").open("wb") as log:

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                [*starter, sys.executable, "-m", "devserver", "run"],
                cwd=ROOT,
                env=environ,
                stdout=log if output is None else output,
                stderr=log if output is None else output,
                start_new_session=True,
            )

        base, password = f"http://127.0.0.1:{port}", environ["DEMO_PASSWORD"]
        service = Service(base, start(), folder, password, start)
        try:
            wait_until(service.is_ready, "the service to be ready", 180)
            yield service
        finally:
            service.process.send_signal(signal.SIGTERM)
            service.process.wait(60)
