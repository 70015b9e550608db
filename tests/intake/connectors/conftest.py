"""Fixtures for a connector to a local folder, and for its crawls."""

from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from app.kit import container
from app.kit.egress import Egress, Policy
from tests.factories import Org, run_jobs_of
from tests.factories.orgs import get_data
from tests.intake.conftest import Imports

ADDRESS = "127.0.0.2"
"""The only address that connectors of the tests may reach."""


class Folder(Imports):
    """The folder of one organization, a connector to it, and its crawls."""

    def __init__(self, org: Org, root: Path) -> None:
        super().__init__(org)
        self.path = root / str(org.id)
        self.path.mkdir(parents=True, exist_ok=True)

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a document and return its path on the disk."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def write_numbered(self, *numbers: int) -> None:
        """Write a document for each number."""
        for number in numbers:
            self.write(f"{number}.txt", f"words {number}")

    def connect(self, **members: Any) -> dict[str, Any]:
        """Create a connector to the folder, or to another source, and return it."""
        body = {"name": "Inbox", "type": "local", "settings": {}, **members}
        return dict(get_data(self.admin.post("/connectors", json=body), 201))

    def request(self, connector: dict[str, Any], status: int = 202) -> dict[str, Any]:
        """Request a crawl and return the response's data, or its error."""
        answer = self.admin.post(f"/connectors/{connector['id']}/crawl")
        assert answer.status_code == status, answer.json
        return dict(answer.json["data"] if status == 202 else answer.json["error"])

    def crawl(self, connector: dict[str, Any]) -> dict[str, Any]:
        """Request and run a crawl, and return the job."""
        job = self.request(connector)
        self.work()
        return self.get(job["id"])

    def work(self) -> None:
        """Run the queued crawls, and the jobs that parse their documents."""
        for queue in ("crawls", "documents", "default", "crawls"):
            run_jobs_of(self.org, queue)

    def request_in_thread(self, method: str, path: str, status: int = 200, **options: Any) -> Any:
        """Send a request in another thread, because this thread may run a crawl."""
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(self.admin.request, method, path, **options).result()
        assert answer.status_code == status, answer.json
        return answer

    def update(self, connector: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """Update a connector in another thread, and return it."""
        path = f"/connectors/{connector['id']}"
        return dict(self.request_in_thread("PATCH", path, json=changes).json["data"])

    def cancel(self, job: dict[str, Any]) -> None:
        """Cancel a job in another thread."""
        self.request_in_thread("POST", f"/ingestion-jobs/{job['id']}/cancel")

    def read(self, connector: dict[str, Any]) -> dict[str, Any]:
        """Return the current state of a connector."""
        return dict(get_data(self.admin.get(f"/connectors/{connector['id']}")))

    def alerts(self, connector: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
        """Return the alerts of a connector, the latest first."""
        path = f"/connectors/{connector['id']}/alerts"
        return list(get_data(self.api.get(path, query_string=query)))


@pytest.fixture
def _allow_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let connectors reach all loopback addresses, without TLS."""
    policy = Policy(allowed_networks=(ip_network("127.0.0.0/8"),), allow_http=True)
    monkeypatch.setattr(container.current(), "connector_egress", Egress(policy))


@pytest.fixture
def folder(org: Org, environ: dict[str, str]) -> Folder:
    """Return the folder of `org`."""
    return Folder(org, Path(environ["CONNECTOR_LOCAL_ROOT"]))
