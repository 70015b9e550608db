"""Helpers of the tests of exports: label sets of any tags, and exports run to their end."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import orjson
import pytest
from flask import Flask
from sqlalchemy import text

from app.delivery.exports import jobs
from app.documents.artifacts.models import Artifact
from app.kit import container, db, tenancy
from app.kit.ids import uuid7
from app.kit.storage.store import STAGING
from app.workflow.tag_sets.models import TagSet
from tests.factories import Org
from tests.factories.desk import Desk

OF_RUN = "organization_id = :org AND function = 'exports.run'"
VERSION = "SELECT current_version_id FROM schemas WHERE organization_id = :org AND id = :schema"


def _staging() -> list[str]:
    return [entry.key for entry in container.current().storage.list(STAGING)]


class Exports:
    """Label sets and exports of one organization."""

    def __init__(self, org: Org, work: Callable[[], None]) -> None:
        self.org = org
        self.work = work
        self.desk = Desk(org)
        self.api = org.api("reviewer")
        self._staged_before = set(_staging())

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
        """A label set as the database may hold one, of a document of its own; its id."""
        version = self.desk.sql(VERSION, org=self.org.id, schema=schema_id)[0][0]
        artifact_id = artifact_id or self.desk.artifact(schema_id, text=text, **(artifact or {}))
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
        """Write records of the organization."""
        with self.org.app.app_context(), tenancy.organization(self.org.id), db.transaction() as s:
            s.add_all(records)

    def artifact_of(self, tag_set_id: str) -> Artifact:
        """The document of a label set."""
        with self.org.app.app_context(), tenancy.organization(self.org.id):
            tag_set = db.session().get(TagSet, (self.org.id, UUID(tag_set_id)))
            assert tag_set is not None
            found = db.session().get(Artifact, (self.org.id, tag_set.artifact_id))
            assert found is not None
            return found

    def start(self, format: str = "jsonl", **body: Any) -> str:  # noqa: A002 - the member's name
        """Ask for an export; its id."""
        answer = self.api.post("/exports", {"format": format, **body})
        assert answer.status_code == 202, answer.json
        return str(answer.json["data"]["id"])

    def get(self, export_id: str) -> dict[str, Any]:
        """An export as it stands."""
        answer = self.api.get(f"/exports/{export_id}")
        assert answer.status_code == 200, answer.json
        return dict(answer.json["data"])

    def make(self, format: str = "jsonl", **body: Any) -> dict[str, Any]:  # noqa: A002
        """An export that was run to its end."""
        export_id = self.start(format, **body)
        self.work()
        made = self.get(export_id)
        assert made["status"] == "completed", made
        return made

    def file(self, export_id: str) -> bytes:
        """The whole file."""
        answer = self.api.get(f"/exports/{export_id}/download")
        assert answer.status_code == 200, answer.json
        return bytes(answer.data)

    def rows(self, **body: Any) -> list[dict[str, Any]]:
        """The rows of a new export as jsonl."""
        return [orjson.loads(line) for line in self.file(self.make(**body)["id"]).splitlines()]

    def ids(self, **body: Any) -> list[str]:
        """The label sets of a new export, in order."""
        return [row["tag_set_id"] for row in self.rows(**body)]

    def sql(self, statement: str, **values: Any) -> list[Any]:
        """Rows of a statement in the organization, committed."""
        return self.desk.sql(statement, **values)

    def events(self, name: str) -> list[dict[str, Any]]:
        """The data of the organization's events of a name."""
        return self.desk.events(name)

    def key_of(self, export_id: str) -> str:
        """Where the file is kept."""
        return f"organizations/{self.org.id}/exports/{export_id}.jsonl"

    def staged(self) -> list[str]:
        """What runs left behind since the test began."""
        return [key for key in _staging() if key not in self._staged_before]

    def run_row(self, *, skip_locked: bool = False) -> Any:
        """The job of the organization's one export; None when it is held and to be skipped."""
        lock = " FOR UPDATE SKIP LOCKED" if skip_locked else ""
        found = self.sql(f"SELECT * FROM jobs WHERE {OF_RUN}{lock}", org=self.org.id)
        return found[0] if found else None

    def update_run(self, change: str) -> None:
        """Change the jobs of the organization's exports."""
        self.sql(f"UPDATE jobs SET {change} WHERE {OF_RUN}", org=self.org.id)

    def take_lease(self) -> None:
        """Let another worker have the job; it will be busy for an hour."""
        self.update_run("lease_token = gen_random_uuid(), leased_until = now() + interval '1 hour'")

    def end_lease(self) -> None:
        """Let that worker be dead."""
        self.update_run("leased_until = now() - interval '1 second'")

    def again(self) -> None:
        """Make the job due once more, and run it."""
        self.update_run(
            "status = 'queued', due_at = now(), leased_until = NULL, lease_token = NULL,"
            " finished_at = NULL"
        )
        self.work()

    def apart(self, call: Callable[[], Any]) -> Any:
        """What somebody else does while an export runs, on a thread of their own."""
        with ThreadPoolExecutor(1) as others:
            return others.submit(call).result()


_PUT_OFF = text(
    "UPDATE jobs SET due_at = due_at + interval '1 day', leased_until = leased_until"
    " + interval '1 day' WHERE function = 'exports.run' AND finished_at IS NULL"
)


@pytest.fixture(autouse=True)
def _others_wait(app: Flask) -> None:
    """Runs that other tests let fail or die do not come again in the middle of this one."""
    everything = tenancy.across_organizations(reason="a test puts off what others left")
    with app.app_context(), everything, db.transaction():
        db.session().execute(_PUT_OFF)


@pytest.fixture
def exports(org: Org, work: Callable[[], None]) -> Exports:
    return Exports(org, work)


@pytest.fixture
def other_exports(other_org: Org, work: Callable[[], None]) -> Exports:
    return Exports(other_org, work)


@pytest.fixture
def during(
    exports: Exports, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[int], None]], None]:
    """Call a function with the number of rows done, after every row of the organization's exports
    was written and reported."""
    report = jobs._report_progress

    def install(call: Callable[[int], None]) -> None:
        def reported(job: Any, export_id: UUID, done: int, total: int) -> None:
            report(job, export_id, done, total)
            if job.organization_id == exports.org.id:
                exports.apart(lambda: call(done))

        monkeypatch.setattr(jobs, "REPORT_SECONDS", 0.0)
        monkeypatch.setattr(jobs, "_report_progress", reported)

    return install
