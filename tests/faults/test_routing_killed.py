"""Routing of unassigned documents is interrupted in the middle of a batch.

In the end each document has one assignee, the documents are distributed evenly, and each assignee
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
import redis

from tests.factories.processes import send_signal
from tests.factories.waiting import wait_until
from tests.faults.conftest import ROOT, get_base_environment
from tests.faults.sites import Site
from tests.faults.turnstile import Turnstile

pytestmark = pytest.mark.xdist_group("faults")

BATCH = 1000
FLASK = Path(sys.executable).with_name("flask")


def _rule(place: Site, people: list[UUID], *, apply: bool) -> None:
    """Create a rule that assigns all documents to users in rotation; `apply` applies it now."""
    team = place.call("POST", "/teams", json={"name": "Everybody"})
    members = {"user_ids": [str(one) for one in people]}
    place.call("POST", f"/teams/{team['id']}/members", json=members)
    text = {"attribute": "media_type", "operator": "equals", "value": "text/plain"}
    rule = {
        "name": "By turns",
        "conditions": {"all": [text]},
        "action": {"team_id": team["id"], "strategy": "round_robin"},
        "apply": apply,
    }
    place.call("POST", "/routing-rules", json=rule)


def _routed(place: Site) -> int:
    return int(place.one("SELECT count(*) FROM artifact_routings WHERE organization_id = :org"))


def _check(place: Site, people: list[UUID], number: int, batches: int) -> None:
    """Check that each document is assigned to one of `people`, and each of them notified once."""
    share = {str(one): number // len(people) for one in people}
    rows = place.sql("SELECT assignees FROM artifacts WHERE organization_id = :org")
    assert Counter(one["user_id"] for row in rows for one in row.assignees) == share
    assert _routed(place) == number
    (matched,) = place.sql("SELECT match_count FROM routing_rules WHERE organization_id = :org")
    assert matched.match_count == number
    parts = place.events("artifacts.assigned")
    given = [one for part in parts for one in part["artifact_ids"]]
    assert (len(parts), len(given), len(set(given))) == (batches, number, number)
    assert sum((Counter(part["counts"]) for part in parts), Counter()) == share
    whole = sorted((one, number // len(people)) for one in people)
    wait_until(lambda: sum(count for _, count in _told(place)) >= number, "people to be told")
    assert _told(place) == whole


def _told(place: Site) -> list[tuple[UUID, int]]:
    rows = place.sql("SELECT user_id, count AS n FROM notifications WHERE organization_id = :org")
    return sorted((row.user_id, row.n) for row in rows)


def test_applying_a_rule_outlives_its_worker_postgresql_and_valkey(place: Site) -> None:
    people = place.labelers(4)
    place.documents(5 * BATCH, age=1)
    with place.turnstile("artifact_routings") as gate:
        _rule(place, people, apply=True)
        for _ in range(2):
            worker = gate.step("worker.py")
        gate.kill(worker)
    job = place.find_job("routing_rules.apply").id
    assert _routed(place) == 2 * BATCH
    with place.turnstile("artifact_routings") as gate:
        place.expire_lease(job)
        gate.step("worker.py")
        redis.Redis.from_url(place.service.environment()["REDIS_URL"]).flushall()
        for process in place.service.processes("postgres", "-D"):
            send_signal(process, signal.SIGKILL)
    wait_until(place.is_database_ready, "PostgreSQL to accept connections again")
    # The worker lives. It may be quick enough to have continued already.
    routed = _routed(place)
    assert routed >= 3 * BATCH
    assert routed % BATCH == 0
    place.expire_lease(job)
    place.wait_for_job(job)
    assert place.find_job("routing_rules.apply").attempts == 0, "kills are no errors of the job"
    _check(place, people, 5 * BATCH, batches=5)


@contextmanager
def _command(place: Site, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Return the command line of an operator's command."""
    process = subprocess.Popen(
        [FLASK, *arguments],
        cwd=ROOT,
        env=get_base_environment() | place.service.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def test_a_command_that_was_killed_goes_on_with_what_is_left(place: Site) -> None:
    people = place.labelers(4)
    place.documents(3 * BATCH, age=1)
    _rule(place, people, apply=False)
    arguments = ("routing", "apply", place.slug, "--json")
    with _command(place, *arguments) as command:
        ours = psutil.Process(command.pid)
        with Turnstile(lambda *_: [ours], place.engine, "artifact_routings") as gate:
            gate.step()
            gate.kill(ours)
        assert command.wait() == -signal.SIGKILL
    assert _routed(place) == BATCH
    with _command(place, *arguments) as command:
        answer, log = command.communicate()
    assert (command.returncode, json.loads(answer)) == (0, {"matched": 2 * BATCH})
    told = [json.loads(line) for line in log.splitlines()]
    looked_at = [one["looked_at"] for one in told if one["event"] == "routing.progress"]
    assert looked_at == [number * BATCH for number in range(1, 3)]
    assert {one["total"] for one in told if one["event"] == "routing.progress"} == {2 * BATCH}
    _check(place, people, 3 * BATCH, batches=3)
