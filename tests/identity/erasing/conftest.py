"""Fixtures of closed organizations that are due to be erased."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import text

from app.identity.erasing import queries, service
from app.identity.organizations.models import Organization
from app.kit import container, db, tenancy
from tests.contract.seeds import create_seeds
from tests.factories import Org, run_jobs_of
from tests.factories.counts import run_sql
from tests.factories.workspace import Workspace


class Killed(BaseException):
    """Simulates a killed process; production code must not catch it."""


@dataclass
class DueOrg:
    """A closed organization that is due to be erased, with its numbers of rows and files."""

    org: Org
    rows: dict[str, int]
    files: tuple[int, int]

    def erase(
        self, *, killed_at: int | None = None, on_checkpoint: Callable[[int], None] | None = None
    ) -> int:
        """Run the erasure to its end, or to the checkpoint `killed_at`, which is not committed.

        `on_checkpoint` is called with the number of each committed checkpoint. Returns the number
        of checkpoints, including the checkpoint `killed_at`.
        """
        passed = 0

        def checkpoint() -> None:
            nonlocal passed
            passed += 1
            if passed == killed_at:
                raise Killed
            db.session().commit()
            if on_checkpoint is not None:
                on_checkpoint(passed)

        with (
            self.org.app.app_context(),
            tenancy.across_organizations(reason="as the job does"),
        ):
            try:
                service.erase(self.org.id, checkpoint)
                db.session().commit()
            except BaseException as failure:
                db.session().rollback()
                if not isinstance(failure, Killed):
                    raise
        return passed

    def record(self) -> Organization:
        with self.org.app.app_context():
            return db.session().get_one(Organization, self.org.id)

    def proof(self) -> dict[str, Any]:
        erasure = self.record().erasure
        assert erasure is not None
        return erasure

    def check_erased(self) -> None:
        """Check that nothing is left, and that the proof has the right numbers."""
        assert count_rows(self.org) == {}
        assert measure_files(self.org) == (0, 0)
        record = self.record()
        assert (record.status, record.name, record.settings) == ("erased", "", {})
        assert (record.slug, record.erased_at is not None) == (self.org.slug, True)
        proof = self.proof()
        assert proof["rows"] == self.rows
        assert (proof["files"], proof["bytes"]) == self.files


def count_rows(org: Org) -> dict[str, int]:
    """Return the organization's number of rows by table, without tables that have none."""
    rows = {}
    with org.app.app_context(), tenancy.organization(org.id):
        for name in [*(table.name for table in queries.list_tables()), "memberships"]:
            sql = text(f"SELECT count(*) FROM {name} WHERE organization_id = :id")
            rows[name] = db.session().scalar(sql, {"id": org.id})
    return {name: number for name, number in rows.items() if number}


def measure_files(org: Org) -> tuple[int, int]:
    """Return the number of the organization's files, and their total size in bytes."""
    with org.app.app_context():
        return tuple(container.current().storage.measure(f"organizations/{org.id}"))


def close(org: Org) -> None:
    """Close the organization, and let its grace period end."""
    answer = org.api("owner").post(f"/organizations/{org.slug}/close", json={"slug": org.slug})
    assert answer.status_code == 202, answer.json
    run_sql(org, "UPDATE organizations SET erase_after = closed_at WHERE id = :org")


@pytest.fixture
def fill(work: Callable[[], None]) -> Callable[[Org], None]:
    """Return a function that creates records of all types in many states, including files."""

    def fill_org(org: Org) -> None:
        create_seeds(org)
        work()

    return fill_org


@pytest.fixture
def make_due_org(fill: Callable[[Org], None]) -> Callable[[Org], DueOrg]:
    def due_org(org: Org) -> DueOrg:
        fill(org)
        close(org)
        run_jobs_of(org)  # jobs that closing enqueues
        return DueOrg(org, count_rows(org), measure_files(org))

    return due_org


@pytest.fixture
def add_document(work: Callable[[], None]) -> Callable[[Org], None]:
    """Return a function that creates one document with its file, much faster than `fill`."""

    def add(org: Org) -> None:
        body = {"name": "a.txt", "text": "Words", "schema_id": str(Workspace(org).schema())}
        assert org.api().post("/artifacts", json=body).status_code == 201
        work()

    return add


@pytest.fixture
def small_due_org(org: Org, add_document: Callable[[Org], None]) -> DueOrg:
    """Return a closed organization that has one document and is due to be erased."""
    add_document(org)
    close(org)
    run_jobs_of(org)
    return DueOrg(org, count_rows(org), measure_files(org))


@pytest.fixture
def due_org(org: Org, make_due_org: Callable[[Org], DueOrg]) -> DueOrg:
    return make_due_org(org)
