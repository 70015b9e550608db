"""Scheduled exports of one organization, their runs, and a server that receives the files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import UUID

import pytest

from app.delivery.scheduled_exports.service import starting
from app.kit import db, tenancy
from tests.delivery.exports.conftest import Exports, read_answer
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.servers import serve_http

ADDRESS = "127.0.0.2"
"""The only address that destinations of the tests may reach."""
DAILY = "30 6 * * *"


class ScheduledExports(Exports):
    """The scheduled exports of one organization."""

    def __init__(self, org: Org, work: Callable[[], None]) -> None:
        super().__init__(org, work)
        self.admin = org.api("admin")

    def schedule(self, status: int = 201, **members: Any) -> dict[str, Any]:
        """Create a scheduled export, and return it, or the error."""
        body = {"name": "Nightly invoices", "format": "jsonl", "cron": DAILY, **members}
        return read_answer(self.admin.post("/exports/scheduled", body), status)

    def update(self, export_id: str, status: int = 200, **members: Any) -> dict[str, Any]:
        """Update a scheduled export, and return it, or the error."""
        answer = self.admin.patch(f"/exports/scheduled/{export_id}", json=members)
        return read_answer(answer, status)

    def read(self, export_id: str) -> dict[str, Any]:
        """Return the current state of a scheduled export."""
        return read_answer(self.api.get(f"/exports/scheduled/{export_id}"))

    def run_now(self, export_id: str, status: int = 202) -> dict[str, Any]:
        """Request a run, and return it, or the error."""
        return read_answer(self.api.post(f"/exports/scheduled/{export_id}/run"), status)

    def run(self, export_id: str) -> dict[str, Any]:
        """Request a run, run all due jobs, and return the latest run."""
        self.run_now(export_id)
        self.work()
        return self.list_runs(export_id)[0]

    def list_runs(self, export_id: str) -> list[dict[str, Any]]:
        """Return the runs, the latest first."""
        return list(get_data(self.api.get(f"/exports/scheduled/{export_id}/runs")))

    def update_schedule(self, export_id: str, change: str, **values: Any) -> None:
        """Update the row of a scheduled export."""
        sql = f"UPDATE scheduled_exports SET {change} WHERE id = :id"
        self.sql(sql, id=export_id, **values)

    def make_due(self, export_id: str) -> None:
        """Move the next run into the past."""
        self.update_schedule(export_id, "next_run_at = now() - interval '1 minute'")

    def schedule_due(self) -> dict[str, Any]:
        """Create a scheduled export whose next run is due, and return it as it was before."""
        created = self.schedule()
        self.make_due(created["id"])
        return created

    def start_due(self) -> None:
        """Start all due runs, as the scheduler does."""
        everything = tenancy.across_organizations(reason="a test is the scheduler")
        with self.org.app.app_context(), everything, db.transaction():
            while starting.start_due_runs():
                pass


@pytest.fixture
def scheduled(org: Org, work: Callable[[], None]) -> ScheduledExports:
    return ScheduledExports(org, work)


@pytest.fixture
def schema_id(scheduled: ScheduledExports) -> UUID:
    return scheduled.workspace.schema()


@dataclass
class UploadServer:
    """A web server that stores the files it receives by PUT, and responds with `status`."""

    url: str = ""
    status: int = 201
    files: dict[str, bytes] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)


@pytest.fixture
def upload_server() -> Iterator[UploadServer]:
    server = UploadServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_PUT(self) -> None:
            size = int(self.headers["Content-Length"])
            body = self.rfile.read(size)
            if server.status < 400 and len(body) == size:
                server.files[self.path] = body
                server.headers[self.path] = dict(self.headers.items())
            self.send_response(server.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with serve_http(Handler, ADDRESS) as port:
        server.url = f"http://{ADDRESS}:{port}/in/{{name}}"
        yield server
