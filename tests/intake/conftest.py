"""Import files, and read the resulting jobs, items and documents."""

import io
from collections.abc import Callable
from typing import Any
from uuid import UUID

import orjson
import pytest

from app.kit import container, db, tenancy
from tests.factories import Org, run_jobs_of
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace


class Killed(BaseException):
    """Simulates a killed process; production code must not catch it."""


class Imports:
    """The imports of one organization."""

    def __init__(self, org: Org) -> None:
        self.org = org
        self.api = org.api("labeler")
        self.admin = org.api("admin")
        self.workspace = Workspace(org)

    def run(
        self,
        run_job: Callable[[UUID, Callable[[], None]], None],
        job_id: str,
        *,
        checkpoints: int | None = None,
    ) -> None:
        """Run a job in this process until it ends, or is killed after `checkpoints` commits."""
        remaining = checkpoints

        def checkpoint() -> None:
            nonlocal remaining
            db.session().commit()
            if remaining is not None:
                remaining -= 1
                if remaining == 0:
                    raise Killed

        with self.org.app.app_context(), tenancy.organization(self.org.id):
            try:
                run_job(UUID(job_id), checkpoint)
                db.session().commit()
            except Killed:
                db.session().rollback()

    def send(self, data: bytes, name: str = "texts.jsonl", /, **form: Any) -> Any:
        """Upload a file, and return the response."""
        return self.api.request(
            "POST",
            "/artifacts/bulk-import",
            data={"file": (io.BytesIO(data), name), **form},
            content_type="multipart/form-data",
        )

    def start(self, data: bytes, name: str = "texts.jsonl", /, **form: Any) -> str:
        """Upload a file, and return the id of the job."""
        return str(get_data(self.send(data, name, **form), 202)["id"])

    def work(self) -> None:
        """Run the queued imports."""
        run_jobs_of(self.org, "imports")

    def run_due_jobs(self, *queues: str) -> None:
        """Run the due jobs, and check that no job in `default` is due within nine minutes."""
        run_jobs_of(self.org, *queues)
        sql = "SELECT function FROM jobs WHERE queue = 'default' AND organization_id = :org"
        soon = self.sql(f"{sql} AND due_at < now() + interval '9 minutes'", org=self.org.id)
        assert soon == []

    def retry(self, job_id: str) -> None:
        """Request a retry of a job."""
        get_data(self.admin.post(f"/ingestion-jobs/{job_id}/retry"), 202)

    def make(self, data: bytes, name: str = "texts.jsonl", /, **form: Any) -> dict[str, Any]:
        """Upload and import a file, and return the job."""
        job_id = self.start(data, name, **form)
        self.work()
        return self.get(job_id)

    def get(self, job_id: str) -> dict[str, Any]:
        """Return the current state of a job."""
        return dict(get_data(self.api.get(f"/ingestion-jobs/{job_id}")))

    def items(self, job_id: str, **query: Any) -> list[dict[str, Any]]:
        """Return the items of a job."""
        return list(get_data(self.api.get(f"/ingestion-jobs/{job_id}/items", query_string=query)))

    def artifact(self, artifact_id: str) -> dict[str, Any]:
        """Return a document."""
        return dict(get_data(self.api.get(f"/artifacts/{artifact_id}")))

    def sql(self, statement: str, **values: Any) -> list[Any]:
        """Run a statement in the organization, commit, and return its rows."""
        return self.workspace.sql(statement, **values)

    def count(self, table: str = "artifacts") -> int:
        """Return the number of rows that the organization has in a table."""
        statement = f"SELECT count(*) FROM {table} WHERE organization_id = :org"
        return int(self.sql(statement, org=self.org.id)[0][0])

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the payloads of the events with this name."""
        statement = "SELECT data FROM outbox_events WHERE organization_id = :org AND name = :name"
        return [row.data for row in self.sql(statement, org=self.org.id, name=name)]

    def files(self) -> list[str]:
        """Return the keys of the files of the organization."""
        folder = f"organizations/{self.org.id}"
        return sorted(entry.key for entry in container.current().storage.list(folder))


@pytest.fixture
def imports(org: Org) -> Imports:
    """Return the imports of `org`."""
    return Imports(org)


def lines(*records: Any) -> bytes:
    """Return objects as JSON Lines."""
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def counts(**members: int) -> dict[str, int]:
    """Return the counts of a job; counts that are not in `members` are 0."""
    return dict.fromkeys(("found", "created", "duplicate", "skipped", "failed"), 0) | members
