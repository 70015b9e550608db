"""Check that routing is completed after interruptions in the middle of a batch.

In the end, each document has one assignee, the documents are distributed evenly, and each assignee
is notified of all of their documents.
"""

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import psutil
import pytest

from tests.factories.waiting import wait_until
from tests.faults.conftest import ROOT, get_base_environment
from tests.faults.sites import Site
from tests.faults.turnstile import Turnstile

pytestmark = pytest.mark.xdist_group("faults")

BATCH = 1000
FLASK = Path(sys.executable).with_name("flask")


def _create_rule(test_site: Site, people: list[UUID], *, apply: bool) -> None:
    """Create a rule that assigns all documents to users in rotation; `apply` applies it now."""
    team = test_site.call("POST", "/teams", json={"name": "Everybody"})
    members = {"user_ids": list(map(str, people))}
    test_site.call("POST", f"/teams/{team['id']}/members", json=members)
    text = {"attribute": "media_type", "operator": "equals", "value": "text/plain"}
    rule = {
        "name": "By turns",
        "conditions": {"all": [text]},
        "action": {"team_id": team["id"], "strategy": "round_robin"},
        "apply": apply,
    }
    test_site.call("POST", "/routing-rules", json=rule)


def _check_assignments(test_site: Site, people: list[UUID], number: int, batches: int) -> None:
    """Check that each document is assigned to one user, and that each user is notified once."""
    share = {str(user_id): number // len(people) for user_id in people}
    rows = test_site.sql("SELECT assignees FROM artifacts WHERE organization_id = :org")
    assert Counter(user["user_id"] for row in rows for user in row.assignees) == share
    assert test_site.count("artifact_routings") == number
    (matched,) = test_site.sql("SELECT match_count FROM routing_rules WHERE organization_id = :org")
    assert matched.match_count == number
    payloads = test_site.events("artifacts.assigned")
    ids = [artifact_id for payload in payloads for artifact_id in payload["artifact_ids"]]
    assert (len(payloads), len(ids), len(set(ids))) == (batches, number, number)
    assert sum((Counter(payload["counts"]) for payload in payloads), Counter()) == share
    expected = sorted((user_id, number // len(people)) for user_id in people)
    wait_until(
        lambda: sum(count for _, count in _list_notifications(test_site)) >= number,
        "the notifications",
    )
    assert _list_notifications(test_site) == expected


def _list_notifications(test_site: Site) -> list[tuple[UUID, int]]:
    rows = test_site.sql(
        "SELECT user_id, count AS n FROM notifications WHERE organization_id = :org"
    )
    return sorted((row.user_id, row.n) for row in rows)


def test_applying_a_rule_continues_after_kills_and_a_flush_of_valkey(test_site: Site) -> None:
    people = test_site.create_labelers(4)
    test_site.create_documents(5 * BATCH, age=1)
    with test_site.turnstile("artifact_routings") as gate:
        _create_rule(test_site, people, apply=True)
        for _ in range(2):
            worker = gate.step("worker.py")
        gate.kill(worker)
    job = test_site.find_job("routing_rules.apply").id
    assert test_site.count("artifact_routings") == 2 * BATCH
    with test_site.turnstile("artifact_routings") as gate:
        test_site.expire_lease(job)
        gate.step("worker.py")
        test_site.service.flush_valkey()
        test_site.service.kill("postgres", "-D")
    wait_until(test_site.is_database_ready, "PostgreSQL to accept connections again")
    # The worker was not killed, so it may already have continued.
    routed = test_site.count("artifact_routings")
    assert routed >= 3 * BATCH
    assert routed % BATCH == 0
    test_site.resume_job(job)
    test_site.check_no_attempts("routing_rules.apply")
    _check_assignments(test_site, people, 5 * BATCH, batches=5)


@contextmanager
def _run_command(test_site: Site, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run an operator's command during the block, and yield its process."""
    process = subprocess.Popen(
        [FLASK, *arguments],
        cwd=ROOT,
        env=get_base_environment() | test_site.service.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def test_a_command_continues_with_the_remaining_documents_after_a_kill(test_site: Site) -> None:
    people = test_site.create_labelers(4)
    test_site.create_documents(3 * BATCH, age=1)
    _create_rule(test_site, people, apply=False)
    arguments = ("routing", "apply", test_site.slug, "--json")
    with _run_command(test_site, *arguments) as command:
        own_process = psutil.Process(command.pid)
        with Turnstile(lambda *_: [own_process], test_site.engine, "artifact_routings") as gate:
            gate.step()
            gate.kill(own_process)
        assert command.wait() == -signal.SIGKILL
    assert test_site.count("artifact_routings") == BATCH
    with _run_command(test_site, *arguments) as command:
        output, log = command.communicate()
    assert (command.returncode, json.loads(output)) == (0, {"matched": 2 * BATCH})
    lines = [json.loads(line) for line in log.splitlines()]
    progress = [line for line in lines if line["event"] == "routing.progress"]
    assert [line["processed"] for line in progress] == [BATCH, 2 * BATCH]
    assert {line["total"] for line in progress} == {2 * BATCH}
    _check_assignments(test_site, people, 3 * BATCH, batches=3)
