"""Create tag sets with any tags, and run exports."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

import orjson
import pytest
from flask import Flask
from sqlalchemy import text

from app.delivery.exports import jobs
from app.documents.artifacts.models.documents import Artifact
from app.kit import container, db, tenancy
from app.kit.ids import uuid7
from app.kit.storage.store import STAGING
from app.workflow.tag_sets.models import TagSet
from tests.factories import Org
from tests.factories.labels import make_labeled
from tests.factories.progress import OnProgress, install_progress_callback
from tests.factories.workspace import Workspace

IS_EXPORT_JOB = "organization_id = :org AND function = 'exports.run'"
VERSION = "SELECT current_version_id FROM schemas WHERE organization_id = :org AND id = :schema"


def _list_staging_keys() -> list[str]:
    return [entry.key for entry in container.current().storage.list(STAGING)]


def read_answer(answer: Any, status: int = 200) -> dict[str, Any]:
    """Check the status of a response, and return its data, or its error."""
    assert answer.status_code == status, answer.json
    return dict(answer.json["data" if status < 400 else "error"])


class Exports:
    """The tag sets and exports of one organization."""

    def __init__(self, org: Org, work: Callable[[], None]) -> None:
        self.org = org
        self.work = work
        self.workspace = Workspace(org)
        self.api = org.api("reviewer")
        self._staged_before = set(_list_staging_keys())

    def label(
        self,
        schema_id: UUID,
        tags: list[Any],
        *,
        status: str = "accepted",
        artifact_id: UUID | None = None,
        text: str | None = None,
        artifact: dict[str, Any] | None = None,
        **members: Any,
    ) -> str:
        """Insert a tag set, by default for a new document, and return its id."""
        version = self.workspace.sql(VERSION, org=self.org.id, schema=schema_id)[0][0]
        artifact_id = artifact_id or self.workspace.artifact(
            schema_id, text=text, **(artifact or {})
        )
        values = {
            "id": uuid7(),
            "artifact_id": artifact_id,
            "schema_id": schema_id,
            "schema_version_id": version,
            "labeler_id": self.org.users["labeler"],
            "tags": tags,
            "status": status,
            "decided_at": db.utc_now() if status in ("accepted", "rejected") else None,
            **members,
        }
        self.add(TagSet(**values))
        return str(values["id"])

    def add(self, *records: Any) -> None:
        """Insert records of the organization."""
        with self.org.transaction() as s:
            s.add_all(records)

    def get_artifact(self, tag_set_id: str) -> Artifact:
        """Return the document of a tag set."""
        with self.org.app.app_context(), tenancy.organization(self.org.id):
            tag_set = db.session().get(TagSet, (self.org.id, UUID(tag_set_id)))
            assert tag_set is not None
            artifact = db.session().get(Artifact, (self.org.id, tag_set.artifact_id))
            assert artifact is not None
            return artifact

    def start(self, format: str = "jsonl", **body: Any) -> str:  # noqa: A002 - the member's name
        """Request an export, and return its id."""
        return str(read_answer(self.api.post("/exports", {"format": format, **body}), 202)["id"])

    def start_labeled(self, count: int) -> str:
        """Create labeled documents, request their export, and return its id."""
        make_labeled(self.org, count)
        return self.start()

    def get(self, export_id: str) -> dict[str, Any]:
        """Return the current state of an export."""
        return read_answer(self.api.get(f"/exports/{export_id}"))

    def act(self, export_id: str, action: str, status: int) -> dict[str, Any]:
        """Cancel or retry an export, and return it, or the error."""
        return read_answer(self.api.post(f"/exports/{export_id}/{action}"), status)

    def make(self, format: str = "jsonl", **body: Any) -> dict[str, Any]:  # noqa: A002
        """Request and run an export, and return it."""
        export_id = self.start(format, **body)
        self.work()
        export = self.get(export_id)
        assert export["status"] == "completed", export
        return export

    def download_file(self, export_id: str) -> bytes:
        """Download the file of an export."""
        answer = self.api.get(f"/exports/{export_id}/download")
        assert answer.status_code == 200, answer.json
        return bytes(answer.data)

    def export_file(self, format: str = "jsonl", **body: Any) -> bytes:  # noqa: A002
        """Run an export, and download its file."""
        return self.download_file(self.make(format, **body)["id"])

    def export_rows(self, **body: Any) -> list[dict[str, Any]]:
        """Run an export in the format jsonl, and return its rows."""
        return [orjson.loads(line) for line in self.export_file(**body).splitlines()]

    def export_tag_set_ids(self, **body: Any) -> list[str]:
        """Run an export, and return the ids of its tag sets in the order of the file."""
        return [row["tag_set_id"] for row in self.export_rows(**body)]

    def sql(self, statement: str, **values: Any) -> list[Any]:
        """Run a statement in the organization, commit, and return its rows."""
        return self.workspace.sql(statement, **values)

    def update_export(self, export_id: str, change: str, **values: Any) -> None:
        """Update the row of an export."""
        self.sql(f"UPDATE exports SET {change} WHERE id = :id", id=export_id, **values)

    def reopen(self, tag_set_id: str) -> None:
        """Reopen an accepted tag set with the API."""
        read_answer(self.api.post(f"/tag-sets/{tag_set_id}/reopen", {"reason": "Wrong."}))

    def list_events(self, name: str) -> list[dict[str, Any]]:
        """Return the data of the organization's events with this name."""
        return self.workspace.events(name)

    def build_storage_key(self, export_id: str) -> str:
        """Return the key of an export's file in the storage."""
        return f"organizations/{self.org.id}/exports/{export_id}.jsonl"

    def is_stored(self, export_id: str) -> bool:
        """Return whether the storage has the file of an export."""
        return container.current().storage.exists(self.build_storage_key(export_id))

    def list_staged_files(self) -> list[str]:
        """Return the keys of the staged files that runs have left since the test began."""
        return [key for key in _list_staging_keys() if key not in self._staged_before]

    def get_run_job(self, *, skip_locked: bool = False) -> Any:
        """Return the job of the organization's only export, or None if there is no job.

        With `skip_locked`, also returns None if the row is locked.
        """
        lock = " FOR UPDATE SKIP LOCKED" if skip_locked else ""
        jobs = self.sql(f"SELECT * FROM jobs WHERE {IS_EXPORT_JOB}{lock}", org=self.org.id)
        return jobs[0] if jobs else None

    def update_run(self, change: str) -> None:
        """Update the jobs of the organization's exports."""
        self.sql(f"UPDATE jobs SET {change} WHERE {IS_EXPORT_JOB}", org=self.org.id)

    def lose_lease(self) -> None:
        """Lease the job to another worker for an hour."""
        self.update_run("lease_token = gen_random_uuid(), leased_until = now() + interval '1 hour'")

    def end_lease(self) -> None:
        """Let the lease that `lose_lease` created expire."""
        self.update_run("leased_until = now() - interval '1 second'")

    def rerun(self) -> None:
        """Make the job due again, and run it."""
        self.update_run(
            "status = 'queued', due_at = now(), leased_until = NULL, lease_token = NULL,"
            " finished_at = NULL"
        )
        self.work()


_POSTPONE = text(
    "UPDATE jobs SET due_at = due_at + interval '1 day', leased_until = leased_until"
    " + interval '1 day' WHERE function = 'exports.run' AND finished_at IS NULL"
)


@pytest.fixture(autouse=True)
def _postpone_other_runs(app: Flask) -> None:
    """Postpone unfinished runs of other tests, so that they are not retried in this test."""
    everything = tenancy.across_organizations(reason="a test postpones jobs of other tests")
    with app.app_context(), everything, db.transaction():
        db.session().execute(_POSTPONE)


@pytest.fixture
def exports(org: Org, work: Callable[[], None]) -> Exports:
    return Exports(org, work)


@pytest.fixture
def other_exports(other_org: Org, work: Callable[[], None]) -> Exports:
    return Exports(other_org, work)


@pytest.fixture
def schema_id(exports: Exports) -> UUID:
    return exports.workspace.schema()


@pytest.fixture
def on_progress(org: Org, monkeypatch: pytest.MonkeyPatch) -> OnProgress:
    """Return a function that installs a callback for the organization's exports.

    The callback gets the number of rows done, after each row was written and reported.
    """
    return partial(install_progress_callback, monkeypatch, jobs, org)
