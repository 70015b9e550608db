"""Check that a backlog is processed correctly while the API's workers are killed.

Sixteen labelers and four reviewers work on it. Each document is done once, no acknowledged write is
lost, and no document is claimed by two users.
"""

import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psutil
import pytest

from app.documents.artifacts.models.documents import Artifact
from app.identity.organizations.models import Membership
from app.identity.users.models import User
from app.kit.ids import uuid7
from tests.factories.processes import send_signal
from tests.factories.waiting import wait_until
from tests.faults.conftest import Service
from tests.faults.draining import Ledger, Person
from tests.faults.sites import Site

pytestmark = pytest.mark.xdist_group("faults")

SEED = "draining"
DOCUMENTS, LABELERS, REVIEWERS, KILLS = 40, 16, 4, 4
DEADLINE = 600.0
"""The maximum duration in seconds. On an idle machine, the test takes less than a tenth of it."""


@dataclass
class Backlog:
    """An organization with documents to label, labelers and reviewers."""

    site: Site
    ledger: Ledger = field(default_factory=Ledger)
    labelers: list[Person] = field(default_factory=list)
    reviewers: list[Person] = field(default_factory=list)

    def count_done(self) -> int:
        counted = "SELECT count(*) FROM artifacts WHERE organization_id = :org AND status = 'done'"
        return int(self.site.get_value(counted))


@pytest.fixture
def backlog(test_site: Site) -> Backlog:
    """Create unlabeled documents, labelers and reviewers; every tag set will require review."""
    backlog = Backlog(test_site)
    _fill(backlog, test_site.create_schema())
    return backlog


def _fill(backlog: Backlog, schema_id: UUID) -> None:
    site = backlog.site
    password_hash = site.get_value(
        "SELECT password_hash FROM users WHERE email = 'admin@demo.example'"
    )
    roles = {f"labeler{n}": "labeler" for n in range(LABELERS)}
    roles |= {f"reviewer{n}": "reviewer" for n in range(REVIEWERS)}
    ids = {name: uuid7() for name in roles}
    users = [
        {
            "id": ids[name],
            "email": f"{name}@backlog.example",
            "email_key": f"{name}@backlog.example",
            "name": name,
            "password_hash": password_hash,
        }
        for name in roles
    ]
    of = {"organization_id": UUID(site.org)}
    members = [{**of, "user_id": ids[name], "role": role} for name, role in roles.items()]
    documents = [_build_document(number, schema_id) | of for number in range(DOCUMENTS)]
    site.insert((User, users), (Membership, members), (Artifact, documents))
    people = [
        Person(site.service.base, site.slug, user["email"], backlog.ledger, f"{SEED}-{name}")
        for name, user in zip(roles, users, strict=True)
    ]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda person: person.login(site.service.password), people))
    backlog.labelers, backlog.reviewers = people[:LABELERS], people[LABELERS:]


def _build_document(number: int, schema_id: UUID) -> dict[str, Any]:
    return {
        "id": uuid7(),
        "name": f"document {number}",
        "schema_id": schema_id,
        "media_type": "text/plain",
        "size_bytes": 100,
        "sha256": uuid7().hex * 2,
        "page_count": 1,
        "text_length": 100,
        "status": "ready",
        "priority": number % 3,
    }


class Killer:
    """Kills one or all workers of the API at random points of the work."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._random = random.Random(SEED)
        self._points = sorted(self._random.sample(range(10, DOCUMENTS - 10), KILLS))
        self.kills = 0

    def kill_if_due(self, done: int) -> None:
        """Kill one or all workers if the next random point is reached."""
        if self.kills == KILLS or done < self._points[self.kills]:
            return
        workers = self._workers()
        if not workers:
            return
        self.kills += 1
        kills_all = self.kills == KILLS // 2
        for worker in workers if kills_all else [self._random.choice(workers)]:
            send_signal(worker, signal.SIGKILL)

    def _workers(self) -> list[psutil.Process]:
        """Return the gunicorn processes whose parent is the gunicorn master."""
        processes = self._service.processes("gunicorn")
        pids, workers = {process.pid for process in processes}, []
        for process in processes:
            with suppress(psutil.Error):
                workers += [process] if process.ppid() in pids else []
        return workers


def test_a_backlog_is_drained_while_workers_are_killed(backlog: Backlog) -> None:
    killer, stop = Killer(backlog.site.service), threading.Event()
    threads = [
        *(threading.Thread(target=p.work, args=([p.label], stop)) for p in backlog.labelers),
        # Reviewers also label documents, but must not be assigned their own tag sets for review.
        *(
            threading.Thread(target=p.work, args=([p.review, p.label], stop))
            for p in backlog.reviewers
        ),
    ]
    for thread in threads:
        thread.start()

    def is_finished() -> bool:
        done = backlog.count_done()
        killer.kill_if_due(done)
        return done == DOCUMENTS or stop.is_set()

    try:
        wait_until(is_finished, "all documents to be done", DEADLINE)
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert backlog.ledger.problems == []
    assert killer.kills == KILLS
    assert backlog.ledger.retries > 0
    _check_documents(backlog)
    _check_tag_sets(backlog)
    _check_revisions(backlog)


def _check_documents(backlog: Backlog) -> None:
    """Check that each document is done, has one accepted tag set, and is not claimed."""
    rows = backlog.site.sql(
        """
        SELECT status, label_counts ->> 'accepted' AS accepted, label_counts ->> 'draft' AS draft,
               label_counts ->> 'submitted' AS submitted, claim_user_id,
               (SELECT count(*) FROM tag_sets WHERE artifact_id = artifacts.id
                AND tag_sets.status = 'accepted') AS counted
        FROM artifacts WHERE organization_id = :org
        """
    )
    assert len(rows) == DOCUMENTS
    assert {tuple(row) for row in rows} == {("done", "1", "0", "0", None, 1)}


def _check_tag_sets(backlog: Backlog) -> None:
    """Check that nobody reviewed their own tag set, and that each acceptance has one event."""
    sets = {
        str(row.id): row
        for row in backlog.site.sql(
            "SELECT id, status, labeler_id, reviewer_id, claim_user_id FROM tag_sets"
            " WHERE organization_id = :org"
        )
    }
    assert {row.status for row in sets.values()} <= {"accepted", "rejected"}
    assert all(row.claim_user_id is None for row in sets.values())
    assert all(row.reviewer_id not in (None, row.labeler_id) for row in sets.values())
    events = backlog.site.sql(
        "SELECT data ->> 'tag_set_id' AS id FROM outbox_events"
        " WHERE organization_id = :org AND name = 'tag_set.accepted'"
    )
    accepted = sorted(set_id for set_id, row in sets.items() if row.status == "accepted")
    assert sorted(row.id for row in events) == accepted
    assert len(accepted) == DOCUMENTS
    reviewers = {
        set_id: reviewer
        for set_id, decision, reviewer in backlog.ledger.decisions
        if decision == "accept"
    }
    assert reviewers.keys() <= set(accepted)
    assert all(str(sets[set_id].reviewer_id) == user for set_id, user in reviewers.items())
    assert any(row.status == "rejected" for row in sets.values())


def _check_revisions(backlog: Backlog) -> None:
    """Check that revisions have no gaps, and that each acknowledged save has its revision."""
    gaps = backlog.site.sql(
        """
        SELECT t.id FROM tag_sets t JOIN tag_set_revisions r ON r.tag_set_id = t.id
        WHERE t.organization_id = :org GROUP BY t.id, t.revision
        HAVING count(*) <> t.revision OR min(r.number) <> 1 OR max(r.number) <> t.revision
        """
    )
    assert gaps == []
    rows = backlog.site.sql(
        "SELECT tag_set_id, number, kind, tags -> 0 ->> 'value' AS value FROM tag_set_revisions"
        " WHERE organization_id = :org"
    )
    saved = {(str(r.tag_set_id), r.number): r.value for r in rows if r.kind == "save"}
    saves = backlog.ledger.saves
    assert len(saves) == len({(set_id, number) for set_id, number, _ in saves}) >= 2 * DOCUMENTS
    for tag_set_id, number, value in saves:
        assert saved.pop((tag_set_id, number)) == value
    # Every stored save was acknowledged.
    assert saved == {}
    kinds = {(str(r.tag_set_id), r.kind) for r in rows}
    assert {(set_id, decision) for set_id, decision, _ in backlog.ledger.decisions} <= kinds
